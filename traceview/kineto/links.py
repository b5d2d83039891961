"""Which call launched which device work (format notes, 3).

The key is (process, correlation): correlations count per process, so that a file merged from
several ranks repeats them. One call may launch many pieces of work (graphs), a correlation may
occur twice, and 0 is no key.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview.intervals import Ints

UNKNOWN = -1
"""Within this module and its caller only: no such row."""


def launches_of(
    work_process: Ints,
    work_correlation: Ints,
    work_start: Ints,
    call_process: Ints,
    call_correlation: Ints,
    call_start: Ints,
) -> Ints:
    """For each piece of work the index of the call that launched it, or UNKNOWN.

    Of several calls with the same key the last one that began before the work is taken; where
    clocks disagree and none did, the first.
    """
    if call_start.size == 0 or work_start.size == 0:
        return np.full(work_start.size, UNKNOWN)
    work_key, call_key = _joint_keys(work_process, work_correlation, call_process, call_correlation)
    moments = np.unique(np.concatenate((work_start, call_start)))
    order = np.lexsort((call_start, call_key))
    keys = call_key[order]
    ranked_calls = keys * moments.size + np.searchsorted(moments, call_start[order])
    ranked_work = work_key * moments.size + np.searchsorted(moments, work_start)
    before = np.searchsorted(ranked_calls, ranked_work, side="right") - 1
    first = np.minimum(np.searchsorted(keys, work_key), keys.size - 1)
    chosen = np.where((before >= 0) & (keys[before] == work_key), before, first)
    linked = (keys[chosen] == work_key) & (work_correlation != 0) & (work_process != UNKNOWN)
    return np.where(linked, order[chosen], UNKNOWN)


def owners(
    work_row: Ints,
    work_correlation: Ints,
    work_external: Ints,
    call_process: Ints,
    call_correlation: Ints,
    call_external: Ints,
) -> dict[int, int]:
    """The process that drives each row (device pid) of work, where the file can tell.

    A recording of one process answers at once. In a merged file a row belongs to the process whose
    calls agree with most of its work on correlation and, where recorded, External id.
    """
    rows = np.unique(work_row)
    processes = np.unique(call_process)
    if processes.size <= 1:
        only = int(processes[0]) if processes.size else UNKNOWN
        return dict.fromkeys(rows.tolist(), only)
    result: dict[int, int] = {}
    for row in rows.tolist():
        mine = work_row == row
        work = pd.DataFrame({"c": work_correlation[mine], "e": work_external[mine]})
        votes = {
            process: _agreement(work, call_correlation[its], call_external[its])
            for process in processes.tolist()
            if (its := call_process == process).any()
        }
        best = max(votes, key=lambda process: (votes[process], -process))
        result[row] = best if any(votes[best]) else UNKNOWN
    return result


def _agreement(work: pd.DataFrame, correlations: Ints, externals: Ints) -> tuple[int, int]:
    """How much work agrees on correlation and External id, and on correlation alone."""
    calls = pd.MultiIndex.from_arrays([correlations, externals])
    known = work[work["c"] != 0]
    both = pd.MultiIndex.from_frame(known).isin(calls) & (known["e"] != UNKNOWN)
    return int(both.sum()), int(known["c"].isin(correlations).sum())


def _joint_keys(
    work_process: Ints, work_correlation: Ints, call_process: Ints, call_correlation: Ints
) -> tuple[Ints, Ints]:
    """(process, correlation) as one integer each, equal where both are equal."""
    _, correlation = np.unique(
        np.concatenate((work_correlation, call_correlation)), return_inverse=True
    )
    process = np.concatenate((work_process, call_process)) - UNKNOWN
    key: NDArray[np.int64] = process * (int(correlation.max()) + 1) + correlation
    return key[: work_correlation.size], key[work_correlation.size :]
