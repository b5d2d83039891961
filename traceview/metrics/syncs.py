"""Where the host stands still: blocking calls, and what the devices did meanwhile."""

from __future__ import annotations

import pandas as pd

from traceview import intervals
from traceview import schema as s
from traceview.calls import blocking
from traceview.context import site, thread_numbers
from traceview.trace import Trace

_SITE = [s.CALL, s.KIND, s.OP, s.ANNOTATION, s.FRAME]


def syncs(trace: Trace) -> pd.DataFrame:
    """One row a call that blocks the host, in order of time; columns as schema.SYNC_LIST.

    `kind` tells synchronizing calls from blocking copies and from asynchronous copies of pageable
    memory, which stage and may stall as long. The synchronize with which the profiler itself closes
    a recording is left out (`calls.closing_synchronize`).
    """
    kinds = blocking(trace)
    calls = trace.host.loc[kinds.index]
    begin = calls[s.START_NS].to_numpy()
    end = begin + calls[s.DURATION_NS].to_numpy()
    work = trace.work
    start = work[s.START_NS].to_numpy()
    busy = intervals.union(start, start + work[s.DURATION_NS].to_numpy())
    working = intervals.overlap(busy, begin, end)
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
