"""What fills the memory: how full it is over time, how high it gets, who holds it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.blocks import NONE, partners
from traceview.context import site, thread_numbers
from traceview.errors import UsageError
from traceview.intervals import Ints
from traceview.owners import Dimension, Ownership
from traceview.trace import ALLOCATOR, OUT_OF_MEMORY, Trace

BEFORE_RECORDING = "allocated before recording"
NO_ADDRESSES = "owner unknown: no addresses recorded"
NO_OP = "outside any op"
OUTSIDE = {"annotation": "outside any annotation", "module": "outside any module"}
GROUPINGS = ("site", "op", "annotation", "module", "size")
"""How `memory_at_peak` may group: by op and annotation, by one of these, by size."""
_DEVICE = [s.DEVICE_TYPE, s.MEMORY_DEVICE]
_MIB = 1 << 20
_SIZES = (
    (0, "under 1 MiB"),
    (_MIB, "1 to 10 MiB"),
    (10 * _MIB, "10 to 100 MiB"),
    (100 * _MIB, "100 MiB to 1 GiB"),
    (1024 * _MIB, "1 GiB and more"),
)
"""Classes of size; 1 and 10 MiB are where the allocator of torch changes its segments
(c10/cuda/CUDACachingAllocator.cpp, kSmallSize and kMinLargeAlloc)."""


@dataclass(frozen=True, slots=True)
class _Device:
    """The allocator's events of one device, in order of time, as parallel arrays.

    `total` is what is allocated after each event, `partner` the free of an allocation and the
    allocation of a free (-1 for none), `reported` whether the allocator told any total itself.
    """

    type: int
    number: int
    events: pd.DataFrame
    time: Ints
    size: Ints
    total: Ints
    partner: NDArray[np.intp]
    reported: bool

    @property
    def baseline(self) -> int:
        """What was allocated before the first event; at least that, where no total is reported."""
        return int(self.total[0] - self.size[0])

    @property
    def top(self) -> int:
        """The event after which most was allocated."""
        return int(self.total.argmax())

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which events free a block that none allocates."""
        located = self.events[s.ADDRESS].notna().to_numpy()
        return np.asarray((self.size < 0) & located & (self.partner == NONE))

    @property
    def alive(self) -> NDArray[np.intp]:
        """The allocations that are alive at the peak."""
        located = self.events[s.ADDRESS].notna().to_numpy()
        made = (self.size > 0) & located & (np.arange(self.size.size) <= self.top)
        return np.flatnonzero(made & ((self.partner == NONE) | (self.partner > self.top)))


def memory_peaks(trace: Trace) -> pd.DataFrame:
    """Peak, baseline and reserved bytes of each memory device; columns as schema.MEMORY_PEAKS.

    The peak is the largest `Total Allocated` that the allocator reported, which equals
    torch.cuda.max_memory_allocated() over the recording; the baseline is what was allocated before
    the first event. An event without a total has the total of its neighbour and the bytes between.
    Recorders of 2021 wrote sizes only: there the curve begins at the least that must have been
    allocated, so that the peak is a lower bound, and baseline and reserved are missing.
    """
    rows = [
        (
            device.type,
            device.number,
            int(device.total[device.top]),
            device.baseline if device.reported else pd.NA,
            device.events[s.RESERVED].max(),
            int(device.time[device.top]),
            len(device.events),
            int(device.unknown.sum()),
            int(-device.size[device.unknown].sum()),
        )
        for device in _devices(trace)
    ]
    return s.MEMORY_PEAKS.of_rows(rows)


def memory_at_peak(
    trace: Trace, by: str = "site", *, owned: Ownership | None = None
) -> pd.DataFrame:
    """Who holds the bytes at each device's peak; columns as schema.AT_PEAK, largest first.

    `by` is one of GROUPINGS. An allocation belongs to the innermost op and annotation on its
    thread (site), to its op, to its path of annotations or modules, where a backward op lies where
    its forward op does, or to its class of size. What the recorded allocations do not explain was
    allocated before recording, so that the rows add up to the peak. `owned` is the op tree of the
    trace, for a caller who has it already.
    """
    group = _grouping(trace, by, owned)
    parts = [_held(device, group) for device in _devices(trace)]
    return pd.concat(parts, ignore_index=True) if parts else s.AT_PEAK.empty()


def memory_timeline(trace: Trace) -> pd.DataFrame:
    """How full the memory is after each event; columns as schema.MEMORY_TIMELINE.

    What is reserved and not allocated is fragmentation: it lies between blocks, or waits to be used
    again.
    """
    parts = [
        s.MEMORY_TIMELINE.frame(
            {
                **{column: device.events[column] for column in (*_DEVICE, s.TIME_NS, s.BYTES)},
                s.ALLOCATED: device.total,
                s.RESERVED: device.events[s.RESERVED],
                s.FRAGMENTATION: device.events[s.RESERVED] - device.total,
            }
        )
        for device in _devices(trace)
    ]
    return pd.concat(parts, ignore_index=True) if parts else s.MEMORY_TIMELINE.empty()


def memory_steps(trace: Trace, steps: pd.DataFrame) -> pd.DataFrame:
    """Peak and churn of each of `steps` (columns as schema.STEPS); columns as schema.MEMORY_STEPS.

    Memory is allocated by the host, so that the host range of a step counts. Its peak is not below
    what it begins with. Blocks that live no longer than the step are `temporary_bytes`.
    """
    rows = [row for device in _devices(trace) for row in _steps(device, steps)]
    return s.MEMORY_STEPS.of_rows(rows)


def memory_failures(trace: Trace) -> pd.DataFrame:
    """The allocations that failed, and where; columns as schema.MEMORY_FAILURES."""
    memory = trace.memory
    failed = memory[memory[s.NAME] == OUT_OF_MEMORY]
    around = _around(trace, failed)
    own = (*_DEVICE, s.TIME_NS, s.BYTES, s.ALLOCATED, s.RESERVED)
    return s.MEMORY_FAILURES.frame({**{column: failed[column] for column in own}, **around})


def _devices(trace: Trace) -> Iterator[_Device]:
    memory = trace.memory
    events = memory[memory[s.NAME] == ALLOCATOR]
    for (kind, number), mine in events.groupby(_DEVICE, sort=True):
        size = mine[s.BYTES].to_numpy()
        located = mine[s.ADDRESS].notna().to_numpy()
        address = mine[s.ADDRESS].to_numpy(dtype=np.uint64, na_value=0)
        partner = partners(address, (size > 0) & located, (size < 0) & located)
        unknown = int(-size[(size < 0) & located & (partner == NONE)].sum())
        yield _Device(
            int(str(kind)),
            int(str(number)),
            mine,
            mine[s.TIME_NS].to_numpy(),
            size,
            _totals(mine[s.ALLOCATED], size, unknown),
            partner,
            bool(mine[s.ALLOCATED].notna().any()),
        )


def _totals(reported: pd.Series, size: Ints, unknown: int) -> Ints:
    """What is allocated after each event: the nearest total before it, and the bytes since.

    Before the first total it is that one, less the bytes between. Where none is reported, the curve
    begins at the least that its frees need, of which `unknown` bytes are of no recorded allocation.
    """
    running = size.cumsum()
    told = np.flatnonzero(reported.notna().to_numpy())
    if not told.size:
        return running + max(-int(running.min()), unknown, 0)
    place = np.searchsorted(told, np.arange(size.size), "right") - 1
    source = told[np.maximum(place, 0)]
    totals = reported.to_numpy(dtype=np.int64, na_value=0)
    return np.asarray(totals[source] + running - running[source], dtype=np.int64)


_Grouping = Callable[[pd.DataFrame], pd.Series]
"""The group of each of some allocations."""


def _grouping(trace: Trace, by: str, owned: Ownership | None) -> _Grouping:
    if by == "site":
        return lambda made: _op_and_annotation(trace, made)
    if by == "op":
        return lambda made: _around(trace, made)[s.OP].fillna(NO_OP)
    if by == "size":
        return _size_class
    if by not in OUTSIDE:
        raise UsageError(f"memory cannot be grouped by {by!r}, but by {', '.join(GROUPINGS)}")
    tree = owned or Ownership.of(trace)
    dimension = tree.annotations if by == "annotation" else tree.modules
    return lambda made: _path(trace, tree, dimension, made).fillna(OUTSIDE[by])


def _around(trace: Trace, made: pd.DataFrame) -> dict[s.Column, pd.Series]:
    return site(trace, thread_numbers(trace, made), made[s.TIME_NS])


def _op_and_annotation(trace: Trace, made: pd.DataFrame) -> pd.Series:
    around = _around(trace, made)
    annotation = (" in " + around[s.ANNOTATION]).fillna("")
    return around[s.OP].fillna(NO_OP) + annotation


def _path(trace: Trace, owned: Ownership, dimension: Dimension, made: pd.DataFrame) -> pd.Series:
    moments = owned.at(thread_numbers(trace, made), made[s.TIME_NS].to_numpy())
    texts = np.array([*dimension.texts, None], dtype=object)
    return pd.Series(texts[dimension.of(moments)], dtype="string")


def _size_class(made: pd.DataFrame) -> pd.Series:
    least = [size for size, _ in _SIZES]
    number = np.searchsorted(least, made[s.BYTES].to_numpy(), "right") - 1
    return pd.Series(np.array([name for _, name in _SIZES], dtype=object)[number], dtype="string")


def _held(device: _Device, group: _Grouping) -> pd.DataFrame:
    made = device.events.iloc[device.alive]
    sizes = made[s.BYTES].groupby(group(made).to_numpy()).sum()
    before = int(device.total[device.top]) - int(sizes.sum())
    if before:
        located = device.events[s.ADDRESS].notna().any()
        sizes[BEFORE_RECORDING if located else NO_ADDRESSES] = before
    sizes = sizes.sort_index().sort_values(ascending=False, kind="stable")
    return s.AT_PEAK.frame(
        {
            s.DEVICE_TYPE: np.full(len(sizes), device.type),
            s.MEMORY_DEVICE: np.full(len(sizes), device.number),
            s.GROUP: sizes.index.to_numpy(dtype=object),
            s.HELD: sizes.to_numpy(dtype=np.int64),
        }
    )


def _steps(device: _Device, steps: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    process = device.events[s.PROCESS].astype("str").to_numpy()
    begin = steps[s.START_NS].to_numpy()
    end = begin + steps[s.HOST_NS].to_numpy()
    located = bool(device.events[s.ADDRESS].notna().any())
    names = zip(steps[s.STEP], steps[s.PROCESS].astype("str"), strict=True)
    for row, (name, owner) in enumerate(names):
        low, high = np.searchsorted(device.time, (begin[row], end[row]), "left")
        rows = np.arange(low, high)[process[low:high] == owner]
        entry = int(device.total[low - 1]) if low else device.baseline
        size, partner = device.size[rows], device.partner[rows]
        top = rows[device.total[rows].argmax()] if rows.size else low
        peak = max(entry, int(device.total[top]) if rows.size else entry)
        yield (
            name,
            device.type,
            device.number,
            peak,
            int(device.time[top]) if rows.size and peak > entry else int(begin[row]),
            entry,
            int(device.total[high - 1]) if high else device.baseline,
            int((size > 0).sum()),
            int((size < 0).sum()),
            int(size[size > 0].sum()),
            int(-size[size < 0].sum()),
            int(size[(size > 0) & (partner >= 0) & (partner < high)].sum()) if located else pd.NA,
        )
