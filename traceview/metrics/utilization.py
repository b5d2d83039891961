"""Does the device do useful work: busy and idle time, per device and per stream."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import intervals
from traceview import schema as s
from traceview.kernel_names import is_communication
from traceview.trace import KERNEL, MEMCPY, MEMSET, Trace, extent, named


def devices(trace: Trace) -> pd.DataFrame:
    """Busy, idle and what the busy time consists of, ns; columns as schema.DEVICES.

    All times but the window are unions, so that kernel_ns + memcpy_ns may exceed busy_ns where they
    overlap; busy_ns + idle_ns is window_ns exactly.
    """
    rows = [_device(device, work) for device, work in _by_device(trace.work)]
    return s.DEVICES.frame({c: [row[c] for row in rows] for c in s.DEVICES.columns})


def streams(trace: Trace) -> pd.DataFrame:
    """Busy time and pieces of work of each stream; columns as schema.STREAMS."""
    work = trace.work
    groups = work.groupby([s.DEVICE_ID, s.STREAM], dropna=False, sort=True, observed=True)
    label = groups.ngroup().to_numpy()
    keys = work[[s.DEVICE_ID, s.STREAM]].groupby(label).first()
    start = work[s.START_NS].to_numpy()
    busy = intervals.union_lengths(
        label, start, start + work[s.DURATION_NS].to_numpy(), groups.ngroups
    )
    return s.STREAMS.frame(
        {
            s.DEVICE_ID: keys[s.DEVICE_ID].to_numpy(dtype=np.int64),
            s.STREAM: keys[s.STREAM],
            s.BUSY_NS: busy,
            s.EVENTS: np.bincount(label, minlength=groups.ngroups),
        }
    )


def _by_device(work: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame]]:
    number = work[s.DEVICE_ID].to_numpy()
    for device in np.unique(number).tolist():
        yield device, work[number == device]


def _device(device: int, work: pd.DataFrame) -> dict[s.Column, int]:
    start, end = extent(work)
    category = work[s.CATEGORY].to_numpy()
    communicates = (category == KERNEL) & named(work, is_communication)
    unlinked = work[s.LAUNCH].isna().to_numpy()

    def span(mask: NDArray[np.bool_]) -> intervals.Spans:
        return intervals.union(start[mask], end[mask])

    window = int(end.max() - start.min())
    busy = intervals.union(start, end).total
    communication = span(communicates)
    computing = span((category == KERNEL) & ~communicates)
    return {
        s.DEVICE_ID: device,
        s.WINDOW_NS: window,
        s.BUSY_NS: busy,
        s.IDLE_NS: window - busy,
        s.KERNEL_NS: span(category == KERNEL).total,
        s.MEMCPY_NS: span(category == MEMCPY).total,
        s.MEMSET_NS: span(category == MEMSET).total,
        s.COMMUNICATION_NS: communication.total,
        s.EXPOSED_COMMUNICATION_NS: communication.total
        - intervals.intersection(communication, computing).total,
        s.EVENTS: len(work),
        s.UNLINKED_EVENTS: int(unlinked.sum()),
        s.UNLINKED_NS: span(unlinked).total,
    }
