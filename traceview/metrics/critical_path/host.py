"""What each host thread waited for: device work in blocking calls, and other threads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import calls, intervals
from traceview import schema as s
from traceview.context import thread_numbers
from traceview.intervals import Ints
from traceview.trace import LAUNCHING, OP, Trace, extent

_NONE = -1


@dataclass(frozen=True, slots=True)
class Leave:
    """A place where the path leaves a thread, backwards in time.

    At `at` the thread returned from waiting: for device work (`work`), or for another thread.
    """

    at: int
    work: int = _NONE
    thread: int = _NONE


@dataclass(frozen=True, slots=True)
class Thread:
    """Where the path may leave a thread (`leaves`, by time), and when the thread was at work.

    `spans` are the times in ops and calls; `others` the ends of those of other launching threads of
    the process, `owners` whose they are.
    """

    leaves: Sequence[Leave] = ()
    times: Sequence[int] = ()
    spans: intervals.Spans = field(default_factory=lambda: _spans([], []))
    others: Sequence[int] = ()
    owners: Sequence[int] = ()

    def leave_before(self, time: int) -> Leave | None:
        """The last place at or before `time` where the path leaves this thread."""
        index = bisect_right(self.times, time) - 1
        last = self.leaves[index] if index >= 0 else None
        stood = self._stood_since(time)
        other = bisect_right(self.others, time) - 1
        if stood is None or other < 0 or self.others[other] <= stood:
            return last
        return Leave(self.others[other], thread=self.owners[other])

    def _stood_since(self, time: int) -> int | None:
        """When the thread had left its last op, if it is in none at `time`."""
        starts, ends = self.spans
        index = int(np.searchsorted(starts, time, "left")) - 1
        if index < 0:
            return int(np.iinfo(np.int64).min)
        end = int(ends[index])
        return end if end < time else None


def threads(trace: Trace) -> Mapping[int, Thread]:
    """The threads that run ops or calls, by number (`context.thread_numbers`).

    A blocking call is a wait for the device work that ended last within it, on the stream that the
    recording names or else on any. A thread that stands outside any op waits for the launching
    thread of its process that finished one meanwhile: so a backward pass, which runs on a thread of
    its own, lies between the forward ops and the optimizer of the main thread.
    """
    events = trace.host_of(OP, *LAUNCHING)
    numbers = thread_numbers(trace, events)
    begin, end = extent(events)
    order = np.argsort(numbers, kind="stable")
    edges = np.flatnonzero(np.diff(numbers[order], prepend=-2, append=-2))
    spans = {
        int(numbers[order[a]]): intervals.union(begin[order[a:b]], end[order[a:b]])
        for a, b in pairwise(edges.tolist())
    }
    helpful = _helpful(trace, spans)
    synchronized = _synchronized(trace)
    return {
        number: _thread(number, mine, helpful.get(number, []), spans, synchronized)
        for number, mine in spans.items()
    }


def _thread(
    number: int,
    mine: intervals.Spans,
    helpers: Sequence[int],
    spans: Mapping[int, intervals.Spans],
    synchronized: Mapping[int, Sequence[Leave]],
) -> Thread:
    ends = np.concatenate([np.empty(0, np.int64), *(spans[other].ends for other in helpers)])
    owners = np.repeat(
        np.array(helpers, dtype=np.int64), [spans[other].ends.size for other in helpers]
    )
    order = np.argsort(ends, kind="stable")
    ends, owners = ends[order], owners[order]
    leaves = [*synchronized.get(number, ()), *_handed_over(mine, ends, owners)]
    leaves.sort(key=lambda leave: leave.at)
    return Thread(leaves, [leave.at for leave in leaves], mine, ends.tolist(), owners.tolist())


def _handed_over(mine: intervals.Spans, ends: Ints, owners: Ints) -> Iterator[Leave]:
    """Where this thread stood outside any op while another one finished, backwards seen."""
    if ends.size == 0:
        return
    since = np.append(np.iinfo(np.int64).min, mine.ends[:-1])
    last = np.searchsorted(ends, mine.starts, "right") - 1
    for index in last[(last >= 0) & (ends[last] > since)].tolist():
        yield Leave(int(ends[index]), thread=int(owners[index]))


def _helpful(trace: Trace, spans: Mapping[int, intervals.Spans]) -> dict[int, list[int]]:
    """For each thread the other threads of its process that launch device work (or run ops)."""
    host = trace.host
    number = thread_numbers(trace, host)
    launch = trace.work[s.LAUNCH].dropna().to_numpy(dtype=np.int64)
    launching = np.unique(number[launch]) if launch.size else np.array(list(spans))
    per_process = len(host[s.THREAD].cat.categories)
    return {
        one: [
            int(other)
            for other in launching
            if other != one and other in spans and other // per_process == one // per_process
        ]
        for one in spans
    }


def _synchronized(trace: Trace) -> dict[int, list[Leave]]:
    """For each thread its blocking calls that waited for device work, by the end of the call."""
    blocking = calls.blocking(trace)
    if blocking.empty or trace.work.empty:
        return {}
    called = trace.host.loc[blocking.index]
    begin, end = extent(called)
    awaited = _awaited(trace, called, begin, end)
    result: dict[int, list[Leave]] = {}
    number = thread_numbers(trace, called)
    for row in np.flatnonzero(awaited >= 0).tolist():
        leave = Leave(int(end[row]), work=int(awaited[row]))
        result.setdefault(int(number[row]), []).append(leave)
    return result


def _awaited(trace: Trace, called: pd.DataFrame, begin: Ints, end: Ints) -> NDArray[np.intp]:
    """The device work that ended last within each call, on its stream where that is known."""
    work = trace.work
    finish = work[s.START_NS].to_numpy() + work[s.DURATION_NS].to_numpy()
    stream = work[s.STREAM].to_numpy(dtype=np.int64, na_value=_NONE)
    known = _streams(trace, called)
    known = np.where(np.isin(known, stream), known, _NONE)
    result = np.full(begin.size, _NONE)
    for number in np.unique(known):
        rows = np.flatnonzero(known == number)
        mine = np.arange(len(work)) if number == _NONE else np.flatnonzero(stream == number)
        order = mine[np.argsort(finish[mine], kind="stable")]
        last = np.searchsorted(finish[order], end[rows], "right") - 1
        within = (last >= 0) & (finish[order[last]] > begin[rows])
        result[rows[within]] = order[last[within]]
    return result


def _streams(trace: Trace, called: pd.DataFrame) -> Ints:
    """The stream that each call waits for, by its cuda_sync record (format notes 4.3)."""
    records = calls.sync_records(trace)
    of_event = records[s.WAITS_ON_STREAM].where(records[s.NAME] == "Event Sync")
    streams = of_event.fillna(records[s.STREAM])
    return (
        called[s.CORRELATION]
        .map(streams)
        .to_numpy(dtype=np.float64, na_value=_NONE)
        .astype(np.int64)
    )


def _spans(starts: Sequence[int], ends: Sequence[int]) -> intervals.Spans:
    return intervals.Spans(np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))
