"""Peak, owners, churn and fragmentation of recordings that can be added up in the head."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import BACKWARD, CUDA, HOST, MAIN, TraceBuilder
from hypothesis import given
from strategies import recordings

from traceview import schema as s
from traceview.errors import UsageError
from traceview.metrics.memory import (
    BEFORE_RECORDING,
    GROUPINGS,
    NO_ADDRESSES,
    NO_OP,
    memory_at_peak,
    memory_failures,
    memory_peaks,
    memory_steps,
    memory_timeline,
)
from traceview.metrics.steps import steps
from traceview.trace import Trace

MIB = 1 << 20


def training() -> TraceBuilder:
    """100 MiB before; a step that holds 30, then 50, and ends with 20 of them; one that frees."""
    t = TraceBuilder()
    t.step(1, 0, 50)
    t.annotation("forward", 5, 20)
    t.op("aten::mm", 10, 10)
    t.memory(12, 20 * MIB, 120 * MIB, address=1, reserved=200 * MIB)
    t.memory(14, 10 * MIB, 130 * MIB, address=2, reserved=200 * MIB)
    t.memory(30, 20 * MIB, 150 * MIB, address=3, reserved=260 * MIB)
    t.memory(35, -10 * MIB, 140 * MIB, address=2, reserved=260 * MIB)
    t.memory(40, -20 * MIB, 120 * MIB, address=3, reserved=260 * MIB)
    t.step(2, 50, 50)
    t.memory(60, -40 * MIB, 80 * MIB, address=9, reserved=260 * MIB)
    t.memory(70, -20 * MIB, 60 * MIB, address=1, reserved=260 * MIB)
    return t


def held(trace: Trace, by: str) -> dict[str, int]:
    frame = memory_at_peak(trace, by)
    return {str(group): int(size) // MIB for group, size in zip(frame[s.GROUP], frame[s.HELD],
                                                              strict=True)}  # fmt: skip


def test_the_peak_is_what_the_allocator_reported() -> None:
    peak = memory_peaks(training().trace()).iloc[0]
    assert (peak[s.PEAK_ALLOCATED], peak[s.BASELINE]) == (150 * MIB, 100 * MIB)
    assert (peak[s.PEAK_RESERVED], peak[s.PEAK_AT_NS]) == (260 * MIB, 30_000)


def test_frees_of_what_was_allocated_before_are_counted() -> None:
    peak = memory_peaks(training().trace()).iloc[0]
    assert (peak[s.UNKNOWN_FREES], peak[s.UNKNOWN_FREED]) == (1, 40 * MIB)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("site", {BEFORE_RECORDING: 100, "aten::mm in forward": 30, NO_OP: 20}),
        ("op", {BEFORE_RECORDING: 100, "aten::mm": 30, NO_OP: 20}),
        ("annotation", {BEFORE_RECORDING: 100, "forward": 30, "outside any annotation": 20}),
        ("module", {BEFORE_RECORDING: 100, "outside any module": 50}),
        ("size", {BEFORE_RECORDING: 100, "10 to 100 MiB": 50}),
    ],
)
def test_who_holds_the_peak(by: str, expected: dict[str, int]) -> None:
    assert held(training().trace(), by) == expected


def test_a_module_owns_what_its_frames_allocate() -> None:
    t = TraceBuilder()
    t.python("nn.Module: Net_0", 0, 50)
    t.python("nn.Module: Linear_0", 5, 20)
    t.op("aten::mm", 10, 10)
    t.memory(12, 20 * MIB, 20 * MIB, address=1)
    assert held(t.trace(), "module") == {"Net_0/Linear_0": 20}


def test_a_grouping_that_does_not_exist_is_said() -> None:
    with pytest.raises(UsageError, match="by 'shape', but by site, op"):
        memory_at_peak(training().trace(), "shape")


def test_fragmentation_is_reserved_less_allocated() -> None:
    timeline = memory_timeline(training().trace())
    assert (timeline[s.FRAGMENTATION] // MIB).tolist() == [80, 70, 110, 120, 140, 180, 200]


def test_each_step_has_its_peak_and_churn() -> None:
    trace = training().trace()
    first, second = memory_steps(trace, steps(trace)).to_dict("records")
    assert first[s.PEAK_ALLOCATED] == 150 * MIB
    assert (first[s.AT_BEGIN], first[s.AT_END]) == (100 * MIB, 120 * MIB)
    assert (first[s.ALLOCATIONS], first[s.FREES]) == (3, 2)
    assert (first[s.CHURN_ALLOCATED], first[s.CHURN_FREED]) == (50 * MIB, 30 * MIB)
    assert first[s.TEMPORARY] == 30 * MIB
    assert second[s.PEAK_ALLOCATED] == second[s.AT_BEGIN] == 120 * MIB
    assert (second[s.CHURN_ALLOCATED], second[s.CHURN_FREED]) == (0, 60 * MIB)


def test_an_allocation_that_failed_is_told_with_its_op() -> None:
    t = TraceBuilder()
    t.op("aten::bmm", 0, 10)
    arguments = {"Device Type": CUDA, "Device Id": 0, "Bytes": 1 << 40, "Total Allocated": 7,
                 "Total Reserved": 9}  # fmt: skip
    t.add(ph="i", cat="cpu_instant_event", name="[OutOfMemory]", s="t", pid=HOST, tid=MAIN, ts=5,
          args=arguments)  # fmt: skip
    failed = memory_failures(t.trace()).iloc[0]
    assert (failed[s.BYTES], failed[s.ALLOCATED], failed[s.OP]) == (1 << 40, 7, "aten::bmm")
    assert memory_peaks(t.trace()).empty


def test_without_totals_and_addresses_the_curve_is_relative_and_unowned() -> None:
    t = TraceBuilder()
    t.memory(1, 8 * MIB)
    t.memory(2, -8 * MIB, thread=BACKWARD)
    t.memory(3, 3 * MIB)
    peak = memory_peaks(t.trace()).iloc[0]
    assert peak[s.PEAK_ALLOCATED] == 8 * MIB
    assert memory_peaks(t.trace())[[s.BASELINE, s.PEAK_RESERVED]].isna().all(axis=None)
    assert held(t.trace(), "op") == {NO_ADDRESSES: 8}


def test_an_address_that_is_used_again_is_another_block() -> None:
    t = TraceBuilder()
    t.op("first", 0, 5)
    t.memory(1, 8 * MIB, 8 * MIB, address=1)
    t.memory(6, -8 * MIB, 0, address=1)
    t.op("second", 10, 5)
    t.memory(11, 9 * MIB, 9 * MIB, address=1)
    assert held(t.trace(), "op") == {"second": 9}


@given(recordings(steps=True))
def test_the_owners_add_up_to_the_peak_however_grouped(built: TraceBuilder) -> None:
    trace = built.trace()
    key = [s.DEVICE_TYPE, s.MEMORY_DEVICE]
    peaks = memory_peaks(trace).set_index(key)[s.PEAK_ALLOCATED]
    for by in GROUPINGS:
        sums = memory_at_peak(trace, by).groupby(key)[s.HELD].sum()
        assert sums.reindex(peaks.index, fill_value=0).tolist() == peaks.tolist()


@given(recordings(steps=True))
def test_no_step_is_higher_than_the_peak(built: TraceBuilder) -> None:
    trace = built.trace()
    key = [s.DEVICE_TYPE, s.MEMORY_DEVICE]
    peaks = memory_peaks(trace).set_index(key)
    most = peaks[[s.PEAK_ALLOCATED, s.BASELINE]].max(axis=1)
    table = memory_steps(trace, steps(trace))
    by_step = table.groupby(key)[s.PEAK_ALLOCATED].max()
    assert (by_step <= most.reindex(by_step.index)).all()
    assert (table[s.TEMPORARY].fillna(0) <= table[s.CHURN_ALLOCATED]).all()


@pytest.mark.parametrize("name", ["attn_naive", "train_sdpa", "overlap", "cudagraph"])
def test_real_recordings_agree_with_torch(
    shared: Path, load: Callable[[Path], Trace], name: str
) -> None:
    truth = json.loads((shared / "h200" / f"{name}.truth.json").read_text())
    peaks = memory_peaks(load(shared / "h200" / f"{name}.pt.trace.json.gz"))
    device = peaks[peaks[s.DEVICE_TYPE] == CUDA].iloc[0]
    assert device[s.PEAK_ALLOCATED] == truth["profiled_max_memory_allocated"]
