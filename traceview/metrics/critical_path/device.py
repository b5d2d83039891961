"""What each piece of device work waited for last: its stream, an event, a graph, its launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import calls
from traceview import schema as s
from traceview.intervals import Ints
from traceview.trace import Trace, extent

QUEUED, GRAPH, STREAM_WAIT, LAUNCH_LATENCY, UNLINKED = (
    "queued", "graph", "stream_wait", "launch_latency", "unlinked",
)  # fmt: skip
_WAITS: tuple[str, ...] = (QUEUED, GRAPH, STREAM_WAIT, LAUNCH_LATENCY)
"""Of two things that were done at the same instant the first counts."""
_NEVER = np.iinfo(np.int64).min
_NONE = -1


@dataclass(frozen=True, slots=True)
class Waits:
    """Sequences with an entry for each piece of `trace.work`, for a walk that reads them singly.

    `wait` names the last thing that had to be done before the work could start, `ready` the instant
    when it was, `before` the piece of work it was (-1 for the launch call).
    """

    start: Sequence[int]
    end: Sequence[int]
    wait: Sequence[str]
    ready: Sequence[int]
    before: Sequence[int]


def waits(trace: Trace) -> Waits:
    """What each piece of `trace.work` waited for last.

    The candidates are the work before it on its stream, work of the same graph launch, the event
    that its stream was told to wait for, and its launch call; the one that was done last is what
    held it up. Work that starts before its launch call (clocks disagree) has no launch here.
    """
    work = trace.work
    start, end = extent(work)
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=_NONE)
    stream = _stream_numbers(work)
    before = np.stack(
        (
            _on_stream(stream),
            _in_graph(launch, start, end),
            _by_event(trace, stream, launch, start, end),
            np.full(start.size, _NONE),
        )
    )
    done = np.where(before >= 0, np.minimum(np.append(end, 0)[before], start), _NEVER)
    done[_WAITS.index(LAUNCH_LATENCY)] = _launched(trace, launch, start)
    last = done.argmax(axis=0)
    row = np.arange(start.size)
    same_graph = (last == 0) & (launch >= 0) & (np.append(launch, _NONE)[before[0]] == launch)
    names = np.array(_WAITS, dtype=object)[np.where(same_graph, _WAITS.index(GRAPH), last)]
    names[done[last, row] == _NEVER] = UNLINKED
    return Waits(
        start.tolist(),
        end.tolist(),
        names.tolist(),
        done[last, row].tolist(),
        before[last, row].tolist(),
    )


def _stream_numbers(work: pd.DataFrame) -> Ints:
    """A number for the (device, stream) of each piece of work."""
    groups = work.groupby([s.DEVICE_ID, s.STREAM], dropna=False, sort=False, observed=True)
    return np.asarray(groups.ngroup(), dtype=np.int64)


def _on_stream(stream: Ints) -> NDArray[np.intp]:
    """The piece of work that started before on the same stream."""
    order = np.argsort(stream, kind="stable")
    same = np.zeros(stream.size, dtype=bool)
    same[1:] = stream[order][1:] == stream[order][:-1]
    before = np.full(stream.size, _NONE)
    before[order[same]] = order[np.flatnonzero(same) - 1]
    return before


def _in_graph(launch: Ints, start: Ints, end: Ints) -> NDArray[np.intp]:
    """The piece of work of the same launch that ended last before this one started."""
    if start.size == 0:
        return np.full(0, _NONE)
    low = int(start.min())
    width = int(end.max()) - low + 1
    linked = np.flatnonzero((launch >= 0) & (end > start))
    key = launch[linked] * width + (end[linked] - low)
    order = linked[np.argsort(key, kind="stable")]
    place = np.searchsorted(np.sort(key), launch * width + (start - low), "right") - 1
    found = np.append(order, _NONE)[place]
    return np.where((launch >= 0) & (np.append(launch, _NONE)[found] == launch), found, _NONE)


def _launched(trace: Trace, launch: Ints, start: Ints) -> Ints:
    """When the launch call of each piece of work had returned, or the work started within it."""
    host = trace.host
    called = np.append(host[s.START_NS].to_numpy(), 0)[launch]
    returned = called + np.append(host[s.DURATION_NS].to_numpy(), 0)[launch]
    known = (launch >= 0) & (called <= start)
    return np.where(known, np.minimum(returned, start), _NEVER)


def _by_event(trace: Trace, stream: Ints, launch: Ints, start: Ints, end: Ints) -> NDArray[np.intp]:
    """The work whose event this work's stream had been told to wait for, if that ended in time.

    The record of a wait (`cuda_sync`, format notes 4.3) names the streams; without one the next
    launch is taken to be what waits, for whatever other stream was done last.
    """
    result = np.full(start.size, _NONE)
    told = calls.event_waits(trace)
    linked = np.flatnonzero(launch >= 0)
    if told.empty or linked.size == 0:
        return result
    order = linked[np.argsort(launch[linked], kind="stable")]
    position = told.index.to_numpy()
    for held, source, recorded, rows in _told(trace, told, stream):
        mine = order if held == _NONE else order[stream[order] == held]
        place = np.searchsorted(launch[mine], position[rows], "right")
        waiting = np.append(mine, _NONE)[np.minimum(place, mine.size)]
        until = np.where(recorded >= 0, recorded, position[rows])
        last = _last_launched(order, stream, launch, end, until, (source, waiting), start)
        usable = (waiting >= 0) & (last >= 0)
        result[waiting[usable]] = last[usable]
    return result


def _told(
    trace: Trace, told: pd.DataFrame, stream: Ints
) -> list[tuple[int, int, Ints, NDArray[np.intp]]]:
    """Wait calls by (stream that waits, stream waited for), with the call that recorded the event.

    Streams are numbers as of `_stream_numbers`; -1 where the recording does not say.
    """
    by_correlation = calls.sync_records(trace)
    work = trace.work
    number = dict(zip(work[s.STREAM].astype("object"), stream.tolist(), strict=True))

    def numbers(column: s.Column) -> Ints:
        streams = told[s.CORRELATION].map(by_correlation[column]).astype("object")
        return np.array([number.get(value, _NONE) for value in streams], dtype=np.int64)

    event = told[s.CORRELATION].map(by_correlation[s.WAITS_ON_EVENT])
    host = trace.host
    keyed = host[host[s.CORRELATION].notna()].drop_duplicates(s.CORRELATION)
    calling = pd.Series(keyed.index, index=keyed[s.CORRELATION])
    recorded = event.map(calling).to_numpy(dtype=np.float64, na_value=_NONE).astype(np.int64)
    held, source = numbers(s.STREAM), numbers(s.WAITS_ON_STREAM)
    pairs, group = np.unique(np.stack((held, source)), axis=1, return_inverse=True)
    rows = [np.flatnonzero(group.ravel() == n) for n in range(pairs.shape[1])]
    return [(int(a), int(b), recorded[r], r) for (a, b), r in zip(pairs.T, rows, strict=True)]


def _last_launched(
    order: NDArray[np.intp],
    stream: Ints,
    launch: Ints,
    end: Ints,
    until: Ints,
    pair: tuple[int, NDArray[np.intp]],
    start: Ints,
) -> NDArray[np.intp]:
    """The work launched last before each `until` on the source stream, if it ended in time.

    Without a known source the one that ended last, of those of all other streams.
    """
    source, waiting = pair
    best = np.full(until.size, _NONE)
    ended = np.append(end, _NEVER)
    begin = np.append(start, _NEVER)[waiting]
    own = np.append(stream, _NONE)[waiting]
    for number in np.unique(stream[order]) if source == _NONE else (source,):
        mine = order[stream[order] == number]
        place = np.searchsorted(launch[mine], until, "left") - 1
        found = np.where(place >= 0, np.append(mine, _NONE)[place], _NONE)
        better = (found >= 0) & (ended[found] <= begin) & (ended[found] > ended[best])
        best = np.where(better & (own != number), found, best)
    return best
