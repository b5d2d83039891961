"""Where the host stands still: blocking calls, and what the devices did meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import intervals
from traceview import schema as s
from traceview.calls import blocking
from traceview.context import site, thread_numbers
from traceview.intervals import Ints
from traceview.trace import Trace, extent

_SITE = [s.CALL, s.KIND, s.OP, s.ANNOTATION, s.FRAME]


def syncs(trace: Trace) -> pd.DataFrame:
    """One row a call that blocks the host, in order of time; columns as schema.SYNC_LIST.

    `kind` tells synchronizing calls from blocking copies and from asynchronous copies of pageable
    memory, which stage and may stall as long. The synchronize with which the profiler itself closes
    a recording is left out (`calls.closing_synchronize`).
    """
    kinds = blocking(trace)
    calls = trace.host.loc[kinds.index]
    begin, end = extent(calls)
    working = _worked(trace, calls[s.PROCESS].astype("str").to_numpy(), begin, end)
    return s.SYNC_LIST.frame(
        {
            s.CALL: calls[s.NAME].astype("string"),
            s.KIND: kinds,
            s.PROCESS: calls[s.PROCESS],
            s.THREAD: calls[s.THREAD],
            s.START_NS: begin,
            s.BLOCKED_NS: end - begin,
            s.DEVICE_BUSY_NS: working,
            s.DEVICE_IDLE_NS: end - begin - working,
            **site(trace, thread_numbers(trace, calls), begin),
        }
    )


def _worked(trace: Trace, process: NDArray[Any], begin: Ints, end: Ints) -> Ints:
    """How long a device of the process worked in each [begin, end)."""
    work = trace.work
    owner = work[s.PROCESS].astype("str").to_numpy()
    start, finish = extent(work)
    result = np.zeros(begin.size, dtype=np.int64)
    for name in np.unique(process):
        its, mine = owner == name, process == name
        busy = intervals.union(start[its], finish[its])
        result[mine] = intervals.overlap(busy, begin[mine], end[mine])
    return result


def sync_sites(trace: Trace) -> pd.DataFrame:
    """Blocking calls by place, most blocked time first; columns as schema.SYNC_SITES."""
    calls = syncs(trace)
    places = calls.groupby(_SITE, dropna=False, sort=True)
    sums = places[[s.BLOCKED_NS, s.DEVICE_IDLE_NS]].sum()
    keys = sums.index.to_frame(index=False)
    frame = s.SYNC_SITES.frame(
        {
            **{column: keys[column] for column in _SITE},
            s.COUNT: places.size().to_numpy(),
            s.BLOCKED_NS: sums[s.BLOCKED_NS],
            s.DEVICE_IDLE_NS: sums[s.DEVICE_IDLE_NS],
        }
    )
    return frame.sort_values(s.BLOCKED_NS, ascending=False, kind="stable", ignore_index=True)
