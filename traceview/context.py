"""What ran on a host thread at a given time: its innermost op, annotation and Python frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from traceview import schema as s
from traceview.intervals import Innermost, Ints
from traceview.trace import ANNOTATION, FRAME, OP, STEP_PREFIX, Trace, extent


def thread_numbers(trace: Trace, frame: pd.DataFrame) -> Ints:
    """A number for the (process, thread) of each row of `frame`, the same as in the host frame.

    -1 for a thread that has no host event.
    """
    host = trace.host
    processes, threads = host[s.PROCESS].cat.categories, host[s.THREAD].cat.categories
    process = _recode(frame[s.PROCESS], processes)
    thread = _recode(frame[s.THREAD], threads)
    return np.where((process < 0) | (thread < 0), -1, process * len(threads) + thread)


def covering(trace: Trace, category: str, threads: Ints, times: ArrayLike) -> NDArray[np.intp]:
    """For each (thread number, time) the innermost host event of `category` there.

    Positions in the host frame; -1 where there is none. The profiler's own step ranges are no
    annotation here: a step is a dimension of its own.
    """
    return trace.derived(_Layer.of, category).at(threads, np.asarray(times, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class _Layer:
    """The host events of one category, on one time axis after the other, a thread each.

    So one search serves all threads. `positions` are those in the host frame.
    """

    positions: NDArray[np.intp]
    low: int
    width: int
    events: Innermost

    @classmethod
    def of(cls, trace: Trace, category: str) -> _Layer:
        events = trace.host_of(category, called=lambda name: not name.startswith(STEP_PREFIX))
        starts, ends = extent(events)
        low, high = int(starts.min(initial=0)), int(ends.max(initial=0))
        offset = thread_numbers(trace, events) * (high - low + 1) - low
        inner = Innermost(starts + offset, ends + offset)
        return cls(events.index.to_numpy(), low, high - low + 1, inner)

    def at(self, threads: Ints, times: Ints) -> NDArray[np.intp]:
        """For each (thread number, time) the position of the innermost event, or -1."""
        result = np.full(times.size, -1)
        reached = (threads >= 0) & (times >= self.low) & (times < self.low + self.width)
        found = self.events.at(times[reached] - self.low + threads[reached] * self.width)
        result[reached] = np.append(self.positions, -1)[found]
        return result


def site(trace: Trace, threads: Ints, times: ArrayLike) -> dict[s.Column, pd.Series]:
    """The columns OP, ANNOTATION and FRAME: names around each (thread number, time)."""
    return {
        column: names_at(trace, covering(trace, category, threads, times))
        for column, category in ((s.OP, OP), (s.ANNOTATION, ANNOTATION), (s.FRAME, FRAME))
    }


def names_at(trace: Trace, positions: NDArray[np.intp]) -> pd.Series:
    """The names of host events at these positions, missing for -1."""
    names = trace.host[s.NAME]
    codes = np.append(names.cat.codes.to_numpy(), -1)[positions]
    values = np.array([*names.cat.categories, None], dtype=object)
    return pd.Series(values[codes], dtype="string")


def _recode(column: pd.Series, categories: pd.Index) -> Ints:
    table = np.append(categories.get_indexer(column.cat.categories), -1)
    return np.asarray(table[column.cat.codes], dtype=np.int64)
