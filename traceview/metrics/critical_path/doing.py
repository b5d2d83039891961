"""What a host thread did at each instant: stretches of it, cut where that changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import calls, intervals
from traceview import schema as s
from traceview.context import thread_numbers
from traceview.intervals import Ints
from traceview.trace import ANNOTATION, FRAME, LAUNCHING, OP, Trace

HOST_KINDS = (
    "sync", "memcpy_blocking", "allocation", "overhead", "dataloader", "launch_call", "cpu_op",
    "python", "unobserved",
)  # fmt: skip
"""What a host thread may do; the first that applies counts, as for the causes of idle time."""
_DATALOADER = "enumerate(DataLoader)"
_NONE = -1


class Pieces(NamedTuple):
    """Parallel arrays: the stretch a piece is of, its time, its kind, its innermost host event."""

    stretch: NDArray[np.intp]
    start: Ints
    end: Ints
    kind: NDArray[np.object_]
    event: NDArray[np.intp]


def pieces_of(trace: Trace, thread: Ints, start: Ints, end: Ints) -> Pieces:
    """The stretches [start, end) of host threads, cut into pieces of one kind and one event.

    The kind is that of the innermost op or call, or of the DataLoader range or Python frame around
    it if that comes before it in HOST_KINDS. `event` is a position in the host frame, -1 outside op
    and call.
    """
    host = trace.host
    low = int(min(host[s.START_NS].min(), start.min())) if start.size else 0
    high = int(max((host[s.START_NS] + host[s.DURATION_NS]).max(), end.max())) if start.size else 0
    width = high - low + 2

    def ends(events: pd.DataFrame) -> tuple[Ints, Ints]:
        """One time axis after the other, so that one search serves all threads."""
        offset = thread_numbers(trace, events) * width - low
        begin = events[s.START_NS].to_numpy() + offset
        return begin, begin + events[s.DURATION_NS].to_numpy()

    inner = trace.host_of(OP, *LAUNCHING)
    begin, finish = ends(inner)
    loading, frames = (intervals.union(*ends(part)) for part in _outside(trace))
    edges = np.unique(np.concatenate((begin, finish, *loading, *frames)))
    edges = np.concatenate(([_LEAST], edges, [_MOST]))
    found = intervals.innermost(begin, finish, edges[:-1])
    event = np.append(inner.index.to_numpy(), _NONE)[found]
    until = np.minimum(edges[:-1] + 1, edges[1:])
    number = np.append(_kinds(trace), HOST_KINDS.index("unobserved"))[event]
    for spans, kind in ((loading, "dataloader"), (frames, "python")):
        inside = intervals.overlap(spans, edges[:-1], until) > 0
        number = np.where(inside, np.minimum(number, HOST_KINDS.index(kind)), number)
    offset = thread * width - low
    stretch, left, right, place = _cut(edges, start + offset, end + offset)
    back = offset[stretch]
    kinds = np.array(HOST_KINDS, dtype=object)[number[place]]
    return Pieces(stretch, left - back, right - back, kinds, event[place])


_LEAST, _MOST = np.iinfo(np.int64).min // 2, np.iinfo(np.int64).max // 2


def _outside(trace: Trace) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What a thread may be in besides ops and calls: DataLoader ranges, Python frames."""
    ranges = trace.host_of(ANNOTATION)
    loading = ranges[s.NAME].astype("str").str.startswith(_DATALOADER)
    return ranges[loading], trace.host_of(FRAME)


def _kinds(trace: Trace) -> Ints:
    """The number in HOST_KINDS of each host event that is an op or a call."""
    host = trace.host
    result = np.full(len(host), HOST_KINDS.index("launch_call"))
    result[(host[s.CATEGORY] == OP).to_numpy()] = HOST_KINDS.index("cpu_op")
    result[calls.allocating(trace).index] = HOST_KINDS.index("allocation")
    result[calls.loading(trace).index] = HOST_KINDS.index("overhead")
    blocking = calls.blocking(trace)
    synchronizes = (blocking == calls.SYNCHRONIZE).to_numpy(dtype=bool)
    result[blocking.index[synchronizes]] = HOST_KINDS.index("sync")
    result[blocking.index[~synchronizes]] = HOST_KINDS.index("memcpy_blocking")
    return result


def _cut(edges: Ints, start: Ints, end: Ints) -> tuple[NDArray[np.intp], Ints, Ints, Ints]:
    """Intervals cut at `edges`: (interval, start, end, number of the edge before) of each piece."""
    first = np.searchsorted(edges, start, "right") - 1
    pieces = np.searchsorted(edges, end, "left") - first
    owner = np.repeat(np.arange(start.size), pieces)
    place = np.arange(owner.size) - np.repeat(np.cumsum(pieces) - pieces, pieces) + first[owner]
    return (
        owner,
        np.maximum(edges[place], start[owner]),
        np.minimum(edges[place + 1], end[owner]),
        place,
    )
