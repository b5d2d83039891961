"""How full the memory was at each event of a snapshot's history, and how high it got.

The history is a ring buffer: its newest event is the moment of the snapshot, where the segments
tell exactly what is allocated. So the curve is anchored at its end and followed back.

The history names the sizes that were asked for. The allocator rounds them up to 512 bytes
(c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize); of blocks that are still alive the true size is
in the segments. A block of the large pool that was freed since may have been up to 1 MiB larger
than rounded, where the rest of its segment was not worth splitting off (kSmallSize).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.blocks import partners
from traceview.intervals import Ints
from traceview.snapshot.read import NO_FRAMES, Snapshot
from traceview.trace import Note

BEFORE_HISTORY = "allocated before the history begins"
_ROUNDING = 512
_LARGE = 1 << 20
_ALLOC, _FREES, _OOM = "alloc", ("free_requested", "free"), "oom"
_GROWS, _SHRINKS = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
_ALIVE = "active_allocated"


@dataclass(frozen=True, slots=True)
class _Device:
    """The history of one device: parallel arrays by event.

    `size` is what an event allocates or frees (0 for others), `allocated` and `reserved` the totals
    after it. `freed_at` is the event that frees what an allocation made, the number of events if
    none does; `unknown` marks the frees of what no event allocated.
    """

    number: int
    events: pd.DataFrame
    size: Ints
    allocated: Ints
    reserved: Ints
    freed_at: Ints
    unknown: NDArray[np.bool_]

    @property
    def baseline(self) -> int:
        """What was allocated before the first event."""
        return int(self.allocated[0] - self.size[0])

    @property
    def top(self) -> int:
        """The event after which most was allocated; -1 where that was before the first."""
        top = int(self.allocated.argmax())
        return top if self.allocated[top] >= self.baseline else -1

    @property
    def peak(self) -> int:
        """The most that was allocated."""
        return int(self.allocated[self.top]) if self.top >= 0 else self.baseline

    @property
    def at_peak(self) -> NDArray[np.intp]:
        """The allocations of the history that are alive at the peak."""
        made = (self.size > 0) & (np.arange(self.size.size) <= self.top)
        return np.flatnonzero(made & (self.freed_at > self.top))


def snapshot_timeline(snapshot: Snapshot) -> pd.DataFrame:
    """The history with the totals after each event; columns as schema.SNAPSHOT_TIMELINE."""
    parts = [
        s.SNAPSHOT_TIMELINE.frame(
            {
                s.DEVICE_ID: device.events[s.DEVICE_ID],
                s.TIME_NS: device.events[s.TIME_NS],
                s.ACTION: device.events[s.ACTION],
                s.ALLOCATED: device.allocated,
                s.RESERVED: device.reserved,
                s.FRAGMENTATION: device.reserved - device.allocated,
            }
        )
        for device in _devices(snapshot)
    ]
    return pd.concat(parts, ignore_index=True) if parts else s.SNAPSHOT_TIMELINE.empty()


def snapshot_peaks(snapshot: Snapshot) -> pd.DataFrame:
    """One row a device: the peak of the history kept; columns as schema.SNAPSHOT_PEAKS.

    Without a history there is no peak, only what is allocated now. `snapshot_notes` says whether an
    earlier and higher one may have been lost.
    """
    segments = snapshot.segments
    rows = []
    for device in _devices(snapshot):
        mine = segments[segments[s.DEVICE_ID] == device.number]
        known = len(device.events) > 0
        rows.append(
            (
                device.number,
                device.peak if known else pd.NA,
                device.baseline if known else pd.NA,
                int(device.reserved.max()) if known else pd.NA,
                int(device.events[s.TIME_NS].iloc[max(device.top, 0)]) if known else pd.NA,
                int(mine[s.ALLOCATED].sum()),
                int(mine[s.SEGMENT_BYTES].sum()),
                len(device.events),
                int(device.unknown.sum()),
                int((device.events[s.ACTION] == _OOM).sum()),
            )
        )
    return s.SNAPSHOT_PEAKS.of_rows(rows)


def snapshot_at_peak(snapshot: Snapshot) -> pd.DataFrame:
    """Who holds the bytes at the peak, by place in the program; columns as schema.SNAPSHOT_HELD.

    What the history does not explain was allocated before it begins, so that the rows of a device
    add up to its peak.
    """
    parts = []
    for device in _devices(snapshot):
        if device.events.empty:
            continue
        alive = device.at_peak
        sites = device.events[s.SITE].to_numpy()[alive]
        sizes = pd.Series(device.size[alive]).groupby(sites).sum()
        rest = device.peak - int(sizes.sum())
        if rest:
            sizes[BEFORE_HISTORY] = rest
        parts.append(_held(device.number, sizes))
    return pd.concat(parts, ignore_index=True) if parts else s.SNAPSHOT_HELD.empty()


def snapshot_alive(snapshot: Snapshot) -> pd.DataFrame:
    """Who holds the bytes at the moment of the snapshot; columns as schema.SNAPSHOT_HELD."""
    blocks = snapshot.blocks[snapshot.blocks[s.STATE] == _ALIVE]
    parts = [
        _held(int(str(number)), mine[s.BLOCK_BYTES].groupby(mine[s.SITE].to_numpy()).sum())
        for number, mine in blocks.groupby(s.DEVICE_ID)
    ]
    return pd.concat(parts, ignore_index=True) if parts else s.SNAPSHOT_HELD.empty()


def snapshot_notes(snapshot: Snapshot) -> pd.DataFrame:
    """What the figures cannot know, and why; columns as schema.COVERAGE."""
    notes = _notes(snapshot)
    return s.COVERAGE.of_rows([(note.code, note.text, note.count, note.ns) for note in notes])


def _notes(snapshot: Snapshot) -> Iterator[Note]:
    if snapshot.events.empty:
        yield Note(
            "no_history",
            "no history, so no peak: call torch.cuda.memory._record_memory_history() first",
        )
        return
    devices = list(_devices(snapshot))
    if lost := sum(_lost(snapshot, device) for device in devices):
        yield Note(
            "ring_buffer_overflowed",
            "live blocks whose allocation the ring buffer no longer holds: an earlier peak may have"
            " been higher; record with a larger max_entries",
            lost,
        )
    elif snapshot.overflowed or any(_full(snapshot, device) for device in devices):
        yield Note(
            "ring_buffer_overflowed",
            "the ring buffer is full or overflowed: an earlier peak may have been higher; record"
            " with a larger max_entries",
        )
    if unknown := sum(int(device.unknown.sum()) for device in devices):
        yield Note(
            "frees_of_unknown_blocks",
            "frees of blocks that no event allocates: made before the recording, or lost by the"
            " ring buffer; the peak is that of the history kept",
            unknown,
        )
    if large := sum(_unsplit(device) for device in devices):
        yield Note(
            "rounded_blocks",
            "blocks of 1 MiB and more at the peak were freed since: each may have been up to 1 MiB"
            " larger than the size it was asked for",
            large,
        )
    if any(_divisions(snapshot)):
        yield Note(
            "rounded_to_divisions",
            "roundup_power2_divisions is set: freed blocks were larger than they are counted here",
        )


def _lost(snapshot: Snapshot, device: _Device) -> int:
    """Live blocks that were recorded, since they have frames, but whose event is gone."""
    blocks = snapshot.blocks
    mine = blocks[(blocks[s.DEVICE_ID] == device.number) & (blocks[s.STATE] == _ALIVE)]
    recorded = mine[mine[s.SITE] != NO_FRAMES]
    alive = (device.size > 0) & (device.freed_at == device.size.size)
    kept = device.events[s.ADDRESS].to_numpy(dtype=np.uint64, na_value=0)[alive]
    return int((~np.isin(recorded[s.ADDRESS].to_numpy(dtype=np.uint64), kept)).sum())


def _full(snapshot: Snapshot, device: _Device) -> bool:
    """Whether the buffer holds as many events as it can, so that older ones may be gone."""
    return snapshot.max_entries is not None and len(device.events) >= snapshot.max_entries


def _unsplit(device: _Device) -> int:
    """Blocks of the large pool at the peak whose true size is not known."""
    if device.events.empty:
        return 0
    alive = device.at_peak
    freed = device.freed_at[alive] < device.size.size
    return int((freed & (device.size[alive] > _LARGE)).sum())


def _divisions(snapshot: Snapshot) -> list[int]:
    said = snapshot.settings.get("roundup_power2_divisions")
    return [n for n in said.values() if isinstance(n, int)] if isinstance(said, dict) else []


def _devices(snapshot: Snapshot) -> Iterator[_Device]:
    segments, events = snapshot.segments, snapshot.events
    for number in np.union1d(segments[s.DEVICE_ID].unique(), events[s.DEVICE_ID].unique()):
        mine = events[events[s.DEVICE_ID] == number].reset_index(drop=True)
        held = segments[segments[s.DEVICE_ID] == number]
        yield _device(int(number), mine, held, snapshot.blocks)


def _device(
    number: int, events: pd.DataFrame, segments: pd.DataFrame, blocks: pd.DataFrame
) -> _Device:
    action, asked = events[s.ACTION].to_numpy(), events[s.BLOCK_BYTES].to_numpy()
    made = action == _ALLOC
    freed = np.isin(action, _FREES)
    address = events[s.ADDRESS].to_numpy(dtype=np.uint64, na_value=0)
    partner = partners(address, made, freed)
    rounded = np.maximum(-(-asked // _ROUNDING) * _ROUNDING, _ROUNDING)
    size = np.where(made, rounded, np.where(freed, -rounded, 0))
    alive = np.flatnonzero(made & (partner < 0))
    size[alive] = _true_sizes(blocks[blocks[s.DEVICE_ID] == number], address[alive], size[alive])
    growth = np.where(
        np.isin(action, _GROWS), asked, np.where(np.isin(action, _SHRINKS), -asked, 0)
    )
    return _Device(
        number,
        events,
        size,
        _before_end(size, int(segments[s.ALLOCATED].sum())),
        _before_end(growth, int(segments[s.SEGMENT_BYTES].sum())),
        np.where(made & (partner >= 0), partner, size.size),
        freed & (partner < 0),
    )


def _true_sizes(blocks: pd.DataFrame, address: NDArray[np.uint64], size: Ints) -> Ints:
    """The sizes of the live blocks at these addresses; `size` where there is none."""
    alive = blocks[blocks[s.STATE] == _ALIVE].sort_values(s.ADDRESS)
    known = np.append(alive[s.ADDRESS].to_numpy(dtype=np.uint64), np.uint64(0))
    place = np.searchsorted(known[:-1], address)
    sizes = np.append(alive[s.BLOCK_BYTES].to_numpy(), 0)
    return np.where(known[place] == address, sizes[place], size)


def _before_end(change: Ints, end: int) -> Ints:
    """The total after each change, where the last one leaves `end`."""
    return np.asarray(end - (change.sum() - np.cumsum(change)), dtype=np.int64)


def _held(number: int, sizes: pd.Series) -> pd.DataFrame:
    sizes = sizes.sort_index().sort_values(ascending=False, kind="stable")
    return s.SNAPSHOT_HELD.frame(
        {
            s.DEVICE_ID: np.full(len(sizes), number),
            s.SITE: sizes.index.to_numpy(dtype=object),
            s.HELD: sizes.to_numpy(dtype=np.int64),
        }
    )
