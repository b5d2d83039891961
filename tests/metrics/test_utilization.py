"""Busy and idle time, on traces small enough to count."""

import pandas as pd
import pytest
from builders import TraceBuilder

import traceview
from traceview import schema as s

US = 1000


def devices(t: TraceBuilder) -> pd.DataFrame:
    """The frame of devices in microseconds."""
    frame = traceview.devices(t.trace()).set_index(s.DEVICE_ID)
    for column in frame.columns[frame.columns.str.endswith("_ns")]:
        frame[column] //= US
    return frame


def test_three_kernels() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 10, 20)  # 10..30
    t.launch(1, "b", 50, 10)  # 50..60
    t.launch(2, "c", 60, 40)  # 60..100
    only = devices(t).loc[0]
    assert (only.window_ns, only.busy_ns, only.idle_ns, only.events) == (90, 70, 20, 3)


def test_overlapping_streams_count_once() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 10, 20, stream=7)  # 10..30
    t.launch(1, "b", 20, 20, stream=8)  # 20..40
    only = devices(t).loc[0]
    assert (only.busy_ns, only.idle_ns) == (30, 0)
    assert traceview.streams(t.trace())[s.BUSY_NS].tolist() == [20 * US, 20 * US]
    shared = traceview.kernels(t.trace()).set_index(s.NAME)
    assert shared[s.BUSY_NS].to_dict() == {"a": 15 * US, "b": 15 * US}
    assert shared[s.TOTAL_NS].to_dict() == {"a": 20 * US, "b": 20 * US}


def test_overlap_on_one_stream_counts_once() -> None:
    """Programmatic dependent launch: a kernel begins before the one before it ends."""
    t = TraceBuilder()
    t.launch(0, "a", 10, 20)
    t.launch(1, "b", 25, 10)
    assert devices(t).loc[0].busy_ns == 25
    assert traceview.streams(t.trace())[s.BUSY_NS].tolist() == [25 * US]


def test_kernel_and_copy_times_are_unions_of_their_own() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 30)
    t.launch(1, "Memcpy HtoD (Pinned -> Device)", 10, 30, api="cudaMemcpyAsync", stream=8)
    t.launch(2, "Memset (Device)", 60, 5, api="cudaMemsetAsync")
    only = devices(t).loc[0]
    assert (only.kernel_ns, only.memcpy_ns, only.memset_ns) == (30, 30, 5)
    assert (only.busy_ns, only.window_ns) == (45, 65)


def test_communication_is_exposed_where_nothing_else_computes() -> None:
    t = TraceBuilder()
    t.launch(0, "gemm", 0, 30)
    t.launch(1, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 30, stream=20)
    only = devices(t).loc[0]
    assert (only.communication_ns, only.exposed_communication_ns) == (30, 20)
    assert only.kernel_ns == 50


def test_two_devices_have_windows_of_their_own() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10, device=0)
    t.launch(1, "b", 20, 10, device=0)
    t.launch(2, "c", 100, 10, device=1)
    table = devices(t)
    assert table.window_ns.to_dict() == {0: 30, 1: 10}
    assert table.idle_ns.to_dict() == {0: 10, 1: 0}


def test_annotation_rows_and_sync_records_keep_nothing_busy() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 10, 10)
    for category in ("gpu_user_annotation", "cuda_sync", "cuda_event"):
        t.work("row", 0, 500, category=category)
    only = devices(t).loc[0]
    assert (only.window_ns, only.events) == (10, 1)


def test_unlinked_work_is_busy_and_listed() -> None:
    t = TraceBuilder()
    t.work("left over", 0, 10, correlation=1)
    t.launch(20, "own", 30, 10)
    only = devices(t).loc[0]
    assert (only.busy_ns, only.unlinked_events, only.unlinked_ns) == (20, 1, 10)


@pytest.mark.parametrize(
    ("start", "length"),
    [(10, -5), (10, 10**12), (10**9, 5)],
    ids=["negative", "two weeks long", "long after the recording"],
)
def test_corrupt_records_are_in_no_figure_and_are_counted(start: int, length: int) -> None:
    t = TraceBuilder()
    t.launch(0, "a", 10, 10)
    t.launch(30, "b", 40, 10)
    t.launch(31, "broken", start, length)
    trace = t.trace()
    only = devices(t).loc[0]
    assert (only.window_ns, only.busy_ns, only.events) == (40, 20, 2)
    assert trace.device[s.CORRUPT].sum() == 1
    notes = traceview.coverage(trace).set_index(s.CODE)
    assert notes.loc["corrupt_records", s.NOTE_COUNT] == 1


def test_a_zero_record_in_absolute_time_is_corrupt() -> None:
    t = TraceBuilder()
    epoch = 1_700_000_000 * 10**6
    t.launch(epoch, "a", epoch + 10, 10)
    t.launch(epoch + 1, "broken", 0, 0)
    assert devices(t).loc[0].window_ns == 10


def test_a_whole_microsecond_trace_may_have_work_of_no_length_at_the_edge() -> None:
    t = TraceBuilder()
    t.launch(0, "short", 10, 0)
    t.launch(20, "a", 30, 10)
    t.launch(45, "short", 50, 0)
    only = devices(t).loc[0]
    assert (only.window_ns, only.busy_ns, only.idle_ns) == (40, 10, 30)
    assert traceview.gaps(t.trace())[s.DURATION_NS].tolist() == [20 * US, 10 * US]


def test_work_without_a_name_is_not_lost() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.launch(20, "b", 30, 10)
    del t.events[-1]["name"], t.events[-2]["name"]
    trace = t.trace()
    assert devices(t).loc[0].busy_ns == 20
    assert traceview.kernels(trace)[s.BUSY_NS].sum() == 20 * US
    assert traceview.launch_apis(trace)[s.COUNT].sum() == 2


def test_counts_and_medians_of_a_kernel() -> None:
    t = TraceBuilder()
    for at, length in ((0, 1), (10, 2), (20, 6)):
        t.launch(at, "a", at + 1, length)
    row = traceview.kernels(t.trace()).iloc[0]
    assert (row[s.COUNT], row[s.BUSY_NS], row[s.TOTAL_NS], row[s.MEDIAN_NS]) == (
        3,
        9 * US,
        9 * US,
        2 * US,
    )


@pytest.mark.parametrize("host", [True, False], ids=["with a host", "of the device alone"])
@pytest.mark.parametrize("stray", [1, -9_200_000_000_000_000, 9_200_000_000_000_000])
def test_a_time_of_another_century_changes_no_figure(stray: int, host: bool) -> None:
    epoch = 1_700_000_000_000_000
    t = TraceBuilder()
    for number in range(20):
        at = epoch + 100 * number
        if host:
            t.launch(at, f"kernel {number}", at + 5, 10, thread=number, stream=number)
        else:
            t.work(f"kernel {number}", at + 5, 10, stream=number)
    t.work("stray", stray, 10)
    if host:
        t.op("stray", stray, 10)
    trace = t.trace()
    (device,) = traceview.devices(trace).to_dict("records")
    assert device["window_ns"] == 1_910_000
    assert device["busy_ns"] == 200_000
    assert traceview.idle(trace)["ns"].sum() == device["idle_ns"] == 1_710_000
    codes = {note.code: note.count for note in trace.metadata.notes}
    assert codes["corrupt_records"] == 1
    assert codes.get("corrupt_host_events", 0) == host
