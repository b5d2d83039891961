"""A Trace holds what was recorded, in order, and cannot be changed."""

import pandas as pd
import pytest
from builders import CUDA, H200, TraceBuilder

from traceview import schema as s


def recorded() -> TraceBuilder:
    t = TraceBuilder(deviceProperties=[H200], record_shapes=1, distributedInfo={"rank": 3})
    t.launch(50, "late", 60, 5)
    t.launch(10, "early", 20, 5)
    t.work("forward", 20, 5, category="gpu_user_annotation")
    t.memory(12, 512, 1024, address=2**63 + 1)
    return t


def test_frames_are_sorted_by_time_and_begin_at_zero() -> None:
    trace = recorded().trace()
    assert trace.host[s.START_NS].tolist() == [0, 40_000]
    assert trace.work[s.NAME].tolist() == ["early", "late"]
    assert trace.work[s.START_NS].tolist() == [10_000, 50_000]
    assert trace.memory[s.TIME_NS].tolist() == [2_000]
    assert trace.metadata.origin_ns == 10_000


def test_annotation_rows_of_a_device_are_no_work() -> None:
    trace = recorded().trace()
    assert len(trace.device) == 3
    assert len(trace.work) == 2


def test_a_launch_is_a_position_in_the_host_frame() -> None:
    trace = recorded().trace()
    called = trace.host.iloc[trace.work[s.LAUNCH].to_numpy(dtype=int)]
    assert called[s.START_NS].tolist() == [0, 40_000]


def test_an_address_above_the_signed_range_is_kept() -> None:
    memory = recorded().trace().memory
    assert memory[s.ADDRESS].tolist() == [2**63 + 1]
    assert memory[s.DEVICE_TYPE].tolist() == [CUDA]


def test_nobody_can_change_a_trace_from_outside() -> None:
    trace = recorded().trace()
    for frame in (trace.host, trace.device, trace.memory, trace.work):
        frame["new"] = 1
        for column in frame.columns[frame.dtypes == "int64"]:
            frame.loc[0, column] = 999
        frame[s.NAME] = "changed"
    untouched = recorded().trace()
    for name in ("host", "device", "memory", "work"):
        pd.testing.assert_frame_equal(getattr(trace, name), getattr(untouched, name))


def test_what_the_file_says_of_itself() -> None:
    metadata = recorded().trace().metadata
    assert metadata.device_names == ("NVIDIA H200",)
    assert metadata.options == {"record_shapes": True}
    assert metadata.rank == 3
    assert metadata.events == {"X": 5, "i": 1}


@pytest.mark.parametrize("listed", [None, [], ["H200"], [{"id": 0}], {"name": "H200"}])
def test_odd_device_properties_are_no_devices(listed: object) -> None:
    assert TraceBuilder(deviceProperties=listed).trace().metadata.device_names == ()


def test_leaked_work_has_a_correlation_below_every_call() -> None:
    t = TraceBuilder()
    t.work("queued in warm-up", 0, 5, correlation=7)
    t.launch(10, "own", 20, 5)
    t.work("lost its record", 30, 5, correlation=5_000)
    t.work("no key", 40, 5, correlation=0)
    t.work("no correlation", 50, 5)
    assert t.trace().leaked.tolist() == [True, False, False, False, False]


@pytest.mark.parametrize(("start", "length"), [(0, 5), (1_700_000_000 * 10**6, 10**15)])
def test_host_events_with_an_impossible_time_are_left_out_and_counted(
    start: int, length: int
) -> None:
    epoch = 1_700_000_000 * 10**6
    t = TraceBuilder()
    t.launch(epoch, "a", epoch + 10, 5)
    t.op("broken", start, length)
    trace = t.trace()
    assert trace.host[s.NAME].tolist() == ["cudaLaunchKernel"]
    assert [(note.code, note.count) for note in trace.metadata.notes] == [
        ("corrupt_host_events", 1)
    ]
