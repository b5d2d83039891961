"""How high memory peaks, and who holds it there."""

import pandas as pd
from builders import CUDA, TraceBuilder

import traceview
from traceview import schema as s


def peaks(t: TraceBuilder) -> dict[str, object]:
    frame = traceview.memory_peaks(t.trace())
    assert len(frame) == 1
    return dict(frame.iloc[0])


def held(t: TraceBuilder) -> dict[str, int]:
    frame = traceview.memory_at_peak(t.trace())
    return dict(zip(frame[s.GROUP], frame[s.HELD].tolist(), strict=True))


def test_baseline_peak_and_reserved() -> None:
    t = TraceBuilder()
    t.memory(10, 400, 1400, address=1, reserved=4096)
    t.memory(20, 600, 2000, address=2, reserved=4096)
    t.memory(30, -400, 1600, address=1, reserved=2048)
    row = peaks(t)
    assert (row[s.BASELINE], row[s.PEAK_ALLOCATED], row[s.PEAK_RESERVED]) == (1000, 2000, 4096)
    assert (row[s.PEAK_AT_NS], row[s.EVENTS]) == (10_000, 3)


def test_the_file_may_hold_the_threads_one_after_the_other() -> None:
    t = TraceBuilder()
    t.memory(20, 600, 2000, address=2)
    t.memory(30, -400, 1600, address=1)
    t.memory(10, 400, 1400, address=1)
    assert peaks(t)[s.BASELINE] == 1000


def test_what_is_alive_at_the_peak_by_op_and_annotation() -> None:
    t = TraceBuilder()
    t.annotation("attention", 0, 100)
    t.op("aten::matmul", 5, 20)
    t.op("aten::mm", 6, 15)
    t.op("aten::softmax", 30, 20)
    t.memory(10, 400, 1400, address=1)
    t.memory(35, 600, 2000, address=2)
    t.memory(120, 1, 2001, address=3)
    assert held(t) == {
        "allocated before recording": 1000,
        "aten::softmax in attention": 600,
        "aten::mm in attention": 400,
        "outside any op": 1,
    }


def test_an_address_that_is_used_again_is_counted_once() -> None:
    t = TraceBuilder()
    t.op("first", 0, 15)
    t.op("second", 25, 50)
    t.memory(10, 400, 400, address=1)
    t.memory(20, -400, 0, address=1)
    t.memory(30, 300, 300, address=1)
    t.memory(40, 200, 500, address=2)
    assert held(t) == {"second": 500}


def test_a_tensor_from_before_the_recording_that_is_freed() -> None:
    t = TraceBuilder()
    t.op("aten::mm", 0, 100)
    t.memory(10, -300, 700, address=1)
    t.memory(20, 800, 1500, address=2)
    t.memory(30, -800, 700, address=2)
    assert held(t) == {"aten::mm": 800, "allocated before recording": 700}


def test_devices_apart() -> None:
    t = TraceBuilder()
    t.memory(10, 8, 8, address=1, device=(0, -1))
    t.memory(20, 400, 400, address=1, device=(CUDA, 0))
    t.memory(30, 500, 500, address=1, device=(CUDA, 1))
    frame = traceview.memory_peaks(t.trace())
    assert frame[[s.DEVICE_TYPE, s.MEMORY_DEVICE, s.PEAK_ALLOCATED]].to_numpy().tolist() == [
        [0, -1, 8],
        [1, 0, 400],
        [1, 1, 500],
    ]


def test_recorders_of_2021_wrote_sizes_only() -> None:
    t = TraceBuilder()
    for time, size in ((10, 400), (20, 600), (30, -400)):
        t.memory(time, size)
        del t.events[-1]["cat"]
    row = peaks(t)
    assert row[s.PEAK_ALLOCATED] == 1000
    assert row[s.BASELINE] is pd.NA
    assert row[s.PEAK_RESERVED] is pd.NA
    assert held(t) == {"owner unknown: no addresses recorded": 1000}


def test_running_out_of_memory_is_no_allocation() -> None:
    t = TraceBuilder()
    t.memory(10, 400, 400, address=1)
    t.memory(20, 9_000, 400)
    t.events[-1]["name"] = "[OutOfMemory]"
    assert peaks(t)[s.EVENTS] == 1
