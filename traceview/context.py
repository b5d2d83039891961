"""What ran on a host thread at a given time: its innermost op, annotation and Python frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from traceview import schema as s
from traceview.intervals import Ints, innermost
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
    events = trace.host_of(category, called=lambda name: not name.startswith(STEP_PREFIX))
    numbers = thread_numbers(trace, events)
    starts, ends = extent(events)
    at = np.asarray(times, dtype=np.int64)
    if starts.size == 0 or at.size == 0:
        return np.full(at.size, -1)
    # One time axis after the other, so that one search serves all threads.
    low = min(int(starts.min()), int(at.min()))
    width = max(int(ends.max()), int(at.max())) - low + 1
    found = innermost(
        starts + numbers * width - low, ends + numbers * width - low, at + threads * width - low
    )
    positions = np.append(events.index.to_numpy(), -1)[found]
    return np.where(threads < 0, -1, positions)


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
