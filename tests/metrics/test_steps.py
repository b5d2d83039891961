"""Steps, and which of them count."""

import pandas as pd
import pytest
from builders import BACKWARD, TraceBuilder
from metrics.everything import noted

import traceview
from traceview import schema as s
from traceview.metrics.steps import steady_windows, step_of_work

US = 1000


def three_steps() -> TraceBuilder:
    """Steps 0..100, 100..200, 200..300; each launches one kernel that ends 20 into the next."""
    t = TraceBuilder()
    for number in range(3):
        t.step(number, 100 * number, 100)
        t.launch(100 * number + 10, "gemm", 100 * number + 60, 60)
    return t


def steps(t: TraceBuilder) -> pd.DataFrame:
    return traceview.steps(t.trace())


def test_work_belongs_to_the_step_that_launched_it() -> None:
    t = three_steps()
    frame = steps(t)
    assert frame[s.STEP].tolist() == [f"ProfilerStep#{number}" for number in range(3)]
    assert frame[s.HOST_NS].tolist() == [100 * US] * 3
    assert frame[s.DEVICE_EVENTS].tolist() == [1, 1, 1]
    assert frame[s.LAUNCHES].tolist() == [1, 1, 1]
    assert frame[s.BUSY_NS].tolist() == [60 * US] * 3
    # The first period begins with the first work: 50..110 from the first launch call on.
    assert frame[s.DEVICE_PERIOD_NS].tolist() == [60 * US, 100 * US, 100 * US]
    assert frame[s.EXCLUDED].isna().all()


def test_the_backward_thread_launches_in_the_step_too() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.launch(10, "a", 20, 5, thread=BACKWARD)
    assert steps(t)[s.DEVICE_EVENTS].tolist() == [1]


def test_a_launch_at_the_end_of_a_step_is_in_the_next() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.step(2, 100, 100)
    t.launch(10, "a", 20, 5)
    t.launch(100, "b", 110, 5)
    assert steps(t)[s.DEVICE_EVENTS].tolist() == [1, 1]


def test_busy_time_of_overlapping_streams_and_of_two_devices() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.launch(10, "a", 20, 20, stream=7)
    t.launch(11, "b", 30, 20, stream=8)
    t.launch(12, "c", 30, 20, device=1)
    assert steps(t)[s.BUSY_NS].tolist() == [(30 + 20) * US]


def test_one_graph_launch_is_many_events_and_one_launch() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.graph(10, [(20, 5), (30, 5), (40, 5)])
    frame = steps(t)
    assert frame[[s.DEVICE_EVENTS, s.LAUNCHES]].to_numpy().tolist() == [[3, 1]]


def test_leaked_warm_up_work_is_in_no_step_and_spoils_the_first() -> None:
    t = three_steps()
    t.work("warm-up", 0, 30, correlation=1)
    frame = steps(t)
    assert frame[s.DEVICE_EVENTS].tolist() == [1, 1, 1]
    assert frame[s.EXCLUDED].tolist() == ["leaked_warmup", pd.NA, pd.NA]
    assert frame[s.DEVICE_PERIOD_NS].tolist() == [pd.NA, 100 * US, 100 * US]
    assert step_of_work(t.trace()).tolist() == [-1, 0, 1, 2]
    assert noted(t.trace(), "leaked_warmup") == (1, 30 * US)
    windows, used = steady_windows(t.trace())
    assert used[s.STEP].tolist() == ["ProfilerStep#1", "ProfilerStep#2"]
    # from the device end before step 1 to that of step 2
    assert windows[[s.START_NS, s.END_NS]].to_numpy().tolist() == [[120 * US, 320 * US]]


def test_a_lost_launch_record_spoils_no_step() -> None:
    t = three_steps()
    t.work("lost", 130, 5, correlation=99_999)
    assert steps(t)[s.EXCLUDED].isna().all()
    assert "lost_launch_records" in traceview.coverage(t.trace())[s.CODE].tolist()


def test_a_buffer_request_spoils_its_step_and_splits_the_window() -> None:
    t = three_steps()
    t.overhead("Activity Buffer Request", 150, 5)
    assert steps(t)[s.EXCLUDED].tolist() == [pd.NA, "buffer_request", pd.NA]
    windows, used = steady_windows(t.trace())
    assert len(used) == 2
    assert (windows[s.END_NS] - windows[s.START_NS]).tolist() == [60 * US, 100 * US]


def test_a_step_without_device_work_does_not_count() -> None:
    t = three_steps()
    t.step(3, 300, 100)
    frame = steps(t)
    assert frame[s.EXCLUDED].tolist()[3] == "no_device_work"
    assert frame[[s.DEVICE_END_NS, s.DEVICE_PERIOD_NS]].iloc[3].isna().all()


def test_where_every_step_is_excluded_all_of_them_are_used() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.launch(10, "a", 60, 60)
    t.work("warm-up", 0, 30, correlation=1)
    assert steps(t)[s.EXCLUDED].isna().all()


@pytest.mark.parametrize("names", [["train"] * 3, ["batch 1", "batch 2", "batch 3"]])
def test_without_steps_the_annotation_that_repeats_stands_in(names: list[str]) -> None:
    t = TraceBuilder()
    for number, name in enumerate(names):
        t.annotation(name, 100 * number, 90)
        t.annotation("inner", 100 * number + 5, 10)
        t.launch(100 * number + 10, "gemm", 100 * number + 20, 50)
    frame = steps(t)
    assert frame[s.STEP].tolist() == names
    assert set(frame[s.SOURCE]) == {"annotation"}
    assert frame[s.DEVICE_EVENTS].tolist() == [1, 1, 1]


def test_an_annotation_that_holds_a_few_launches_is_no_step() -> None:
    t = TraceBuilder()
    for number in range(4):
        t.launch(100 * number + 10, "gemm", 100 * number + 20, 50)
    t.annotation("log", 0, 50)
    t.annotation("log", 100, 50)
    assert steps(t).empty
    windows, used = steady_windows(t.trace())
    assert used.empty
    assert windows[[s.START_NS, s.END_NS]].to_numpy().tolist() == [[20 * US, 370 * US]]


def test_steps_of_old_recorders_are_ops() -> None:
    t = TraceBuilder()
    t.op("ProfilerStep#1", 0, 100)
    t.launch(10, "a", 20, 5)
    assert steps(t)[s.SOURCE].tolist() == ["profiler_step"]


def test_merged_processes_have_steps_of_their_own() -> None:
    t = TraceBuilder(process=1000)
    t.step(1, 0, 100)
    first = t.launch(10, "a", 20, 30, device=0)
    t.process = 2000
    t.step(1, 0, 100)
    number = t.call("cudaLaunchKernel", 10, 1, correlation=first)
    t.work("b", 20, 10, correlation=number, device=1)
    # The correlations collide; more of each device's work agrees with its own process.
    t.launch(30, "b", 40, 10, device=1)
    t.process = 1000
    t.launch(30, "a", 50, 10, device=0)
    frame = steps(t)
    assert frame[s.PROCESS].tolist() == ["1000", "2000"]
    assert frame[s.BUSY_NS].tolist() == [40 * US, 20 * US]
