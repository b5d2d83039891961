"""What fills the memory: peak, baseline, and what was alive at the peak."""

from __future__ import annotations

import numpy as np
import pandas as pd

from traceview import schema as s
from traceview.context import site, thread_numbers
from traceview.trace import Trace

BEFORE_RECORDING = "allocated before recording"
NO_ADDRESSES = "owner unknown: no addresses recorded"
NO_OP = "outside any op"
_ALLOCATOR = "[memory]"
_DEVICE = [s.DEVICE_TYPE, s.MEMORY_DEVICE]


def memory_peaks(trace: Trace) -> pd.DataFrame:
    """Peak, baseline and reserved bytes of each memory device; columns as schema.MEMORY_PEAKS.

    The peak is the largest `Total Allocated` that the allocator reported, which equals
    torch.cuda.max_memory_allocated() over the recording; the baseline is what was allocated before
    the first event. Recorders of 2021 wrote sizes only: there the running sum from an unknown
    baseline is all there is, and baseline and reserved are missing.
    """
    events = _allocations(trace)
    rows = [_peak(group) for _, group in events.groupby(_DEVICE, sort=True)]
    return s.MEMORY_PEAKS.frame({c: [row[c] for row in rows] for c in s.MEMORY_PEAKS.columns})


def memory_at_peak(trace: Trace) -> pd.DataFrame:
    """Who holds the bytes at each device's peak; columns as schema.AT_PEAK, largest first.

    An allocation belongs to the innermost op and annotation on its thread. What the recorded
    allocations do not explain was allocated before recording, so that the rows add up to the peak.
    """
    events = _allocations(trace)
    parts = [_held(trace, group) for _, group in events.groupby(_DEVICE, sort=True)]
    return pd.concat(parts, ignore_index=True) if parts else s.AT_PEAK.empty()


def _allocations(trace: Trace) -> pd.DataFrame:
    """Allocations and frees with the allocator's total after each, by device and time."""
    memory = trace.memory
    events = memory[memory[s.NAME] == _ALLOCATOR]
    running = events.groupby(_DEVICE)[s.BYTES].cumsum()
    return events.assign(total=events[s.ALLOCATED].astype("Int64").fillna(running))


def _peak(events: pd.DataFrame) -> dict[s.Column, object]:
    total = events["total"].to_numpy(dtype=np.int64)
    reported = bool(events[s.ALLOCATED].notna().all())
    top = int(total.argmax())
    return {
        s.DEVICE_TYPE: events[s.DEVICE_TYPE].iloc[0],
        s.MEMORY_DEVICE: events[s.MEMORY_DEVICE].iloc[0],
        s.PEAK_ALLOCATED: int(total[top]),
        s.BASELINE: int(total[0] - events[s.BYTES].iloc[0]) if reported else pd.NA,
        s.PEAK_RESERVED: events[s.RESERVED].max(),
        s.PEAK_AT_NS: int(events[s.TIME_NS].iloc[top]),
        s.EVENTS: len(events),
    }


def _held(trace: Trace, events: pd.DataFrame) -> pd.DataFrame:
    total = events["total"].to_numpy(dtype=np.int64)
    top = int(total.argmax())
    alive = _alive(events.iloc[: top + 1])
    around = site(trace, thread_numbers(trace, alive), alive[s.TIME_NS])
    op = around[s.OP].fillna(NO_OP)
    annotation = (" in " + around[s.ANNOTATION]).fillna("")
    sizes = alive[s.BYTES].groupby((op + annotation).to_numpy()).sum()
    before = int(total[top]) - int(sizes.sum())
    if before:
        sizes[BEFORE_RECORDING if events[s.ADDRESS].notna().any() else NO_ADDRESSES] = before
    sizes = sizes.sort_index().sort_values(ascending=False, kind="stable")
    return s.AT_PEAK.frame(
        {
            s.DEVICE_TYPE: np.full(len(sizes), events[s.DEVICE_TYPE].iloc[0]),
            s.MEMORY_DEVICE: np.full(len(sizes), events[s.MEMORY_DEVICE].iloc[0]),
            s.GROUP: sizes.index.to_numpy(dtype=object),
            s.HELD: sizes.to_numpy(dtype=np.int64),
        }
    )


def _alive(events: pd.DataFrame) -> pd.DataFrame:
    """The allocations that no later event of the same address frees."""
    located = events[events[s.ADDRESS].notna()]
    last = located.drop_duplicates(s.ADDRESS, keep="last")
    return last[last[s.BYTES] > 0]
