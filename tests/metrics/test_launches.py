"""What launching costs, and how long launched work waits."""

import pandas as pd
from builders import TraceBuilder

import traceview
from traceview import schema as s
from traceview.metrics.launches import launch_owners, queue, shorter_than_their_launch

US = 1000


def launches(t: TraceBuilder) -> pd.DataFrame:
    return traceview.launches(t.trace())


def test_a_launch_is_a_call_that_has_device_work() -> None:
    t = TraceBuilder()
    t.call("cudaEventQuery", 0, 5)
    t.launch(10, "a", 25, 5, call=3)
    t.launch(20, "Memset (Device)", 40, 5, call=4, api="cudaMemsetAsync")
    t.call("cudaLaunchKernel", 30, 2)  # its kernel is not in the file
    frame = launches(t)
    assert frame[s.NAME].tolist() == ["cudaLaunchKernel", "cudaMemsetAsync"]
    assert frame[s.DURATION_NS].tolist() == [3 * US, 4 * US]
    assert frame[s.LATENCY_NS].tolist() == [15 * US, 20 * US]
    notes = traceview.coverage(t.trace()).set_index(s.CODE)
    assert notes.loc["launches_without_work", s.NOTE_COUNT] == 1


def test_apis_by_host_time() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 5, 5, call=2)
    t.launch(10, "a", 14, 5, call=2)
    t.launch(20, "b", 30, 5, call=9, api="cuLaunchKernelEx")
    frame = traceview.launch_apis(t.trace())
    assert frame[[s.CALL, s.COUNT, s.HOST_NS, s.MEDIAN_LATENCY_NS]].to_numpy().tolist() == [
        ["cuLaunchKernelEx", 1, 9 * US, 10 * US],
        ["cudaLaunchKernel", 2, 4 * US, 4500],
    ]


def test_a_graph_is_one_call_and_waits_for_its_first_kernel() -> None:
    t = TraceBuilder()
    t.graph(0, [(20, 5), (10, 5), (30, 5)])
    row = launches(t).iloc[0]
    assert (row[s.DEVICE_EVENTS], row[s.LATENCY_NS]) == (3, 10 * US)


def test_latency_is_never_negative() -> None:
    t = TraceBuilder()
    t.launch(100, "early", 90, 5)
    t.launch(200, "late", 210, 5)
    trace = t.trace()
    assert traceview.launches(trace)[s.LATENCY_NS].tolist() == [pd.NA, 10 * US]
    notes = traceview.coverage(trace).set_index(s.CODE)
    assert notes.loc["negative_latency", s.NOTE_COUNT] == 1


def test_zero_is_no_correlation() -> None:
    t = TraceBuilder()
    t.call("cudaGetLastError", 0, 1, correlation=0)
    t.work("a", 10, 5, correlation=0)
    assert launches(t).empty
    assert traceview.devices(t.trace())[s.UNLINKED_EVENTS].tolist() == [1]


def test_depth_of_the_queue() -> None:
    t = TraceBuilder()
    for number in range(4):
        t.launch(number * 10, "a", 1000 + 10 * number, 10)
    assert launches(t)[s.QUEUE_DEPTH].tolist() == [0, 1, 2, 3]


def test_a_long_call_on_a_saturated_device_is_back_pressure() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 5, 500)
    t.launch(10, "b", 505, 500)
    t.launch(20, "c", 1005, 500, call=900)  # returns only when `a` has made room
    assert launches(t)[s.BACK_PRESSURE_NS].tolist() == [0, 0, 900 * US]


def test_a_long_call_on_an_idle_device_is_the_launch_itself() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 5, 10)
    t.launch(20, "b", 950, 10, call=900)
    assert launches(t)[s.BACK_PRESSURE_NS].tolist() == [0, 0]


def test_a_call_that_meets_a_full_queue_is_back_pressure_however_short() -> None:
    t = TraceBuilder(unit=1)
    for number in range(1005):
        t.launch(number, "a", 10_000 + 10 * number, 10, call=1)
    t.work("long", 0, 10_000, correlation=1)
    pressed = launches(t)[s.BACK_PRESSURE_NS]
    assert pressed.iloc[:1000].sum() == 0
    assert pressed.iloc[1000:].tolist() == [1] * 5


def test_correlations_of_merged_processes_collide() -> None:
    t = TraceBuilder(process=1000)
    for process, device, base in ((1000, 0, 0), (2000, 1, 1000)):
        t.process = process
        for number in (1, 2, 3):
            t.call("cudaLaunchKernel", base + 10 * number, 1, correlation=number)
            t.work("a", base + 10 * number + 4, 2, correlation=number, device=device)
            for event in t.events[-2:]:
                event["args"]["External id"] = base + number
    trace = t.trace()
    assert traceview.launches(trace)[s.LATENCY_NS].tolist() == [4 * US] * 6
    assert "merged_processes" in traceview.coverage(trace)[s.CODE].tolist()


def test_launches_by_op_and_annotation() -> None:
    t = TraceBuilder()
    t.annotation("forward", 0, 50)
    t.op("aten::mul", 1, 8)
    t.launch(2, "short", 20, 3, call=5)
    t.op("aten::mm", 10, 8)
    t.launch(12, "long", 30, 30, call=2)
    t.launch(60, "alone", 70, 5, call=1)
    frame = launch_owners(t.trace())
    columns = [s.OP, s.LAUNCH_ANNOTATIONS, s.COUNT, s.HOST_NS, s.WORK_NS, s.SHORTER]
    rows = frame[columns].astype(object)
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        ["aten::mul", "forward", 1, 5 * US, 3 * US, 1],
        ["aten::mm", "forward", 1, 2 * US, 30 * US, 0],
        [None, None, 1, 1 * US, 5 * US, 0],
    ]


def test_a_graph_launch_is_measured_against_all_of_its_work() -> None:
    t = TraceBuilder()
    t.graph(0, [(20, 2), (30, 2), (40, 2)], call=5)
    row = launches(t).iloc[0]
    assert (row[s.WORK_NS], row[s.DURATION_NS]) == (6 * US, 5 * US)
    assert not shorter_than_their_launch(launches(t)).any()


def test_the_queue_over_time() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 10, 5)
    t.launch(2, "b", 15, 5)
    t.launch(10, "c", 20, 5)
    t.launch(30, "early", 29, 5)  # clocks disagree: it never waited
    t.work("lost", 40, 5)
    frame = queue(t.trace())
    assert frame[[s.TIME_NS, s.DEPTH]].to_numpy().tolist() == [
        [0, 1], [2 * US, 2], [10 * US, 2], [15 * US, 1], [20 * US, 0],
    ]  # fmt: skip
