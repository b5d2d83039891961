"""The curve of allocated bytes, its peak, and what the ring buffer cannot tell."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot.memory import FRAMES, MODEL, alloc, document, event, free, segment, write

from traceview import schema as s
from traceview.snapshot import (
    load,
    snapshot_alive,
    snapshot_at_peak,
    snapshot_notes,
    snapshot_peaks,
    snapshot_timeline,
)
from traceview.snapshot.history import BEFORE_HISTORY
from traceview.snapshot.read import Snapshot, snapshot

OLD: tuple[int, int, Any] = (4096, 4000, [])
"""A live block from before the recording."""


def small() -> Snapshot:
    """4096 bytes before, then 1024 and 1024, the first freed, then 512."""
    history = [
        event("segment_alloc", 1 << 21, 1 << 21, 1, []),
        alloc(0x5000, 1000, 2),
        alloc(0x6000, 1024, 3, [{"name": "at::_ops::mm::call", "filename": "??", "line": 0}]),
        free(0x5000, 1000, 4),
        event("free_completed", 0x5000, 1000, 4, []),
        alloc(1 << 21, 1, 6),
    ]
    live = [
        segment(0x4000, OLD, (0x1000, 0, FRAMES)),
        segment(1 << 21, (512, 1, FRAMES)),
    ]
    live[0]["blocks"][1] |= {"state": "inactive"}  # the block that was freed
    live[0]["blocks"][2] |= {"state": "active_allocated", "size": 1024, "address": 0x6000}
    live[0]["allocated_size"] = 4096 + 1024
    return snapshot(document(live, history))


def test_the_peak_is_found_from_the_end_backwards() -> None:
    peak = snapshot_peaks(small()).iloc[0]
    assert peak[s.PEAK_ALLOCATED] == 4096 + 1024 + 1024
    assert peak[s.BASELINE] == 4096
    assert peak[s.PEAK_AT_NS] == 2_000
    assert peak[s.ALLOCATED_NOW] == 4096 + 1024 + 512
    assert peak[s.PEAK_RESERVED] == peak[s.RESERVED_NOW] == 1 << 22


def test_the_timeline_holds_the_totals_after_each_event() -> None:
    timeline = snapshot_timeline(small())
    assert timeline[s.ALLOCATED].tolist() == [4096, 5120, 6144, 5120, 5120, 5632]
    fragmentation = timeline[s.RESERVED] - timeline[s.ALLOCATED]
    assert (timeline[s.FRAGMENTATION] == fragmentation).all()


def test_who_holds_the_peak_is_named_by_a_frame_outside_torch() -> None:
    held = snapshot_at_peak(small()).set_index(s.SITE)[s.HELD].to_dict()
    assert held == {BEFORE_HISTORY: 4096, MODEL: 1024, "aten::mm": 1024}


def test_who_is_alive_now_is_exact() -> None:
    assert snapshot_alive(small())[s.HELD].sum() == 4096 + 1024 + 512


def test_a_live_block_keeps_its_true_size() -> None:
    history = [alloc(0x4000, 3 << 20, 1)]
    kept = snapshot(document([segment(0x4000, (4 << 20, 3 << 20, FRAMES), total=4 << 20)], history))
    peak = snapshot_peaks(kept).iloc[0]
    assert (peak[s.PEAK_ALLOCATED], peak[s.BASELINE]) == (4 << 20, 0)
    assert snapshot_notes(kept).empty


def test_an_overflowed_ring_buffer_is_told_by_live_blocks_without_their_event() -> None:
    history = [alloc(0x9000, 512, 5), free(0x9000, 512, 6)]
    lost = snapshot(document([segment(0x4000, (1024, 1024, FRAMES))], history, max_entries=2))
    notes = snapshot_notes(lost).set_index(s.CODE)
    assert notes.loc["ring_buffer_overflowed", s.NOTE_COUNT] == 1
    assert "may have been higher" in str(notes.loc["ring_buffer_overflowed", s.NOTE])
    assert snapshot_peaks(lost)[s.PEAK_ALLOCATED].tolist() == [1024 + 512]
    assert lost.max_entries == 2


def test_an_overflow_that_the_file_states_is_believed() -> None:
    stated = snapshot(
        document([], [alloc(1, 512, 1), free(1, 512, 2)], trace_alloc_overflowed=True)
    )
    assert snapshot_notes(stated)[s.CODE].tolist() == ["ring_buffer_overflowed"]


@pytest.mark.parametrize(("most", "codes"), [(2, ["ring_buffer_overflowed"]), (3, [])])
def test_a_full_ring_buffer_may_have_lost_events(most: int, codes: list[str]) -> None:
    full = snapshot(document([], [alloc(1, 512, 1), free(1, 512, 2)], max_entries=most))
    assert snapshot_notes(full)[s.CODE].tolist() == codes


def test_frees_of_unknown_blocks_are_counted_and_raise_the_baseline() -> None:
    unknown = snapshot(document([], [free(0x7000, 2048, 1), alloc(1, 512, 2), free(1, 512, 3)]))
    peak = snapshot_peaks(unknown).iloc[0]
    assert (peak[s.PEAK_ALLOCATED], peak[s.BASELINE], peak[s.UNKNOWN_FREES]) == (2048, 2048, 1)
    assert snapshot_at_peak(unknown)[s.HELD].tolist() == [2048]
    assert snapshot_notes(unknown)[s.CODE].tolist() == ["frees_of_unknown_blocks"]


def test_out_of_memory_is_counted_and_has_no_address() -> None:
    oom = {"action": "oom", "size": 1 << 40, "device_free": 5, "time_us": 9, "frames": []}
    failed = snapshot(document([segment(0x4000, OLD)], [oom]))
    assert snapshot_peaks(failed)[s.OUT_OF_MEMORY].tolist() == [1]
    assert failed.events[s.ADDRESS].isna().all()


def test_without_a_history_there_is_no_peak_but_there_are_blocks() -> None:
    state = snapshot(document([segment(0x4000, OLD)], []))
    peak = snapshot_peaks(state)
    assert peak[s.PEAK_ALLOCATED].isna().all()
    assert peak[s.ALLOCATED_NOW].tolist() == [4096]
    assert snapshot_notes(state)[s.CODE].tolist() == ["no_history"]


def test_an_empty_snapshot_has_empty_frames() -> None:
    nothing = snapshot({"segments": []})
    for metric in (snapshot_peaks, snapshot_at_peak, snapshot_alive, snapshot_timeline):
        assert metric(nothing).empty


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["segments", "blocks", "frames", "size", "addr", "action", "device"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JUNK, JUNK)
def test_whatever_a_snapshot_holds_it_is_read(segments: object, traces: object) -> None:
    read = snapshot({"segments": segments, "device_traces": traces})
    for metric in (snapshot_peaks, snapshot_at_peak, snapshot_alive, snapshot_notes):
        metric(read)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5000)), max_size=30))
def test_the_parts_add_up_to_the_peak(steps: list[tuple[int, int]]) -> None:
    history, total, peak = [], 0, 0
    live: dict[int, int] = {}
    for time, (address, size) in enumerate(steps):
        if address in live:
            freed = live.pop(address)
            history.append(free(0x1000 + address, freed, time))
            total -= -(-freed // 512) * 512
        else:
            live[address] = size
            history.append(alloc(0x1000 + address, size, time))
            total += -(-size // 512) * 512
        peak = max(peak, total)
    blocks = [
        segment(0x1000 + address, (-(-size // 512) * 512, size, FRAMES))
        for address, size in live.items()
    ]
    read = snapshot(document(blocks, history))
    if history:
        assert snapshot_peaks(read)[s.PEAK_ALLOCATED].tolist() == [peak]
        assert snapshot_at_peak(read)[s.HELD].sum() == peak
        assert snapshot_notes(read).empty


@pytest.fixture
def recorded(shared: Path) -> Path:
    return shared / "h200" / "snapshot.pickle"


def test_a_real_snapshot_has_the_peak_that_torch_measured(recorded: Path) -> None:
    truth = json.loads(recorded.with_suffix(".truth.json").read_text())
    read = load(str(recorded))
    assert snapshot_peaks(read)[s.PEAK_ALLOCATED].tolist() == [truth["max_memory_allocated"]]
    assert snapshot_at_peak(read)[s.HELD].sum() == truth["max_memory_allocated"]
    assert "ring_buffer_overflowed" not in set(snapshot_notes(read)[s.CODE])


def test_a_snapshot_is_read_from_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "snapshot.pickle", document([segment(0x4000, OLD)], []))
    assert load(file).blocks[s.BLOCK_BYTES].tolist() == [4096, (1 << 21) - 4096]
