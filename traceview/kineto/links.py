"""Which call launched which device work (format notes, 3).

The key is (process, correlation): correlations count per process, so that a file merged from
several ranks repeats them. One call may launch many pieces of work (graphs), a correlation may
occur twice, and 0 is no key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview.intervals import Ints


@dataclass(frozen=True, slots=True)
class Keyed:
    """Parallel arrays of what joins calls and work: correlation (0 for none), External id, start.

    An External id that was not recorded is UNKNOWN.
    """

    correlation: Ints
    external: Ints
    start: Ints

    def take(self, index: NDArray[np.bool_]) -> Keyed:
        """Those of this mask."""
        return Keyed(self.correlation[index], self.external[index], self.start[index])


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
    order = np.lexsort((call_start, call_key))
    keys = call_key[order]
    chosen = np.minimum(np.searchsorted(keys, work_key), keys.size - 1)
    repeated = np.searchsorted(keys, work_key, side="right") - chosen > 1
    several = np.flatnonzero(repeated & (work_correlation != 0))
    if several.size:
        before = _last_before(keys, call_start[order], work_key[several], work_start[several])
        chosen[several] = np.where(before == UNKNOWN, chosen[several], before)
    linked = (keys[chosen] == work_key) & (work_correlation != 0) & (work_process != UNKNOWN)
    return np.where(linked, order[chosen], UNKNOWN)


def _last_before(keys: Ints, starts: Ints, work_key: Ints, work_start: Ints) -> Ints:
    """For each piece of work the last call of its key that began before it, or UNKNOWN.

    `keys` and `starts` are those of the calls, sorted by both.
    """
    among = np.flatnonzero(np.isin(keys, work_key))
    keys, starts = keys[among], starts[among]
    moments = np.unique(np.concatenate((work_start, starts)))
    ranked_calls = keys * moments.size + np.searchsorted(moments, starts)
    ranked_work = work_key * moments.size + np.searchsorted(moments, work_start)
    before = np.searchsorted(ranked_calls, ranked_work, side="right") - 1
    found = (before >= 0) & (keys[before] == work_key)
    return np.where(found, among[before], UNKNOWN)


def owners(work_row: Ints, work: Keyed, calls: Keyed, call_process: Ints) -> dict[int, int]:
    """The process that drives each row (device pid) of work; UNKNOWN where the file cannot tell.

    A recording of one process answers at once. In a merged file a row belongs to the process whose
    calls agree with most of its work, on correlation and, where recorded, External id. Processes
    that agree equally, as ranks of one program do, get a row each, those first whose calls come
    closest before the work.
    """
    rows, processes = distinct(work_row), distinct(call_process)
    if len(processes) <= 1:
        return dict.fromkeys(rows, processes[0] if processes else UNKNOWN)
    result = dict.fromkeys(rows, UNKNOWN)
    open_pairs: list[tuple[int, int, int, int]] = []
    for row in rows:
        mine = work.take(work_row == row)
        votes = {p: _agreement(mine, calls.take(call_process == p)) for p in processes}
        most = max(votes.values())
        best = [p for p in processes if votes[p] == most and most > (0, 0)]
        if len(best) == 1:
            result[row] = best[0]
        open_pairs += [
            (*_lateness(mine, calls.take(call_process == p)), row, p) for p in best[1:] and best
        ]
    if len(rows) >= len(processes):
        taken = set(result.values())
        for _, _, row, process in sorted(open_pairs):
            if result[row] == UNKNOWN and process not in taken:
                result[row] = process
                taken.add(process)
    return result


def among_processes(work: Keyed, calls: Keyed, call_process: Ints, owner: Ints) -> Ints:
    """For each piece of work the call that launched it, in a file of several processes.

    Of the calls with its correlation: one with its External id, one of its row's process, the last
    that began before the work. UNKNOWN where there is none.
    """
    left = pd.DataFrame(
        {"work": np.arange(work.start.size), "c": work.correlation, "e": work.external,
         "t": work.start, "p": owner}
    )  # fmt: skip
    right = pd.DataFrame(
        {"call": np.arange(calls.start.size), "c": calls.correlation, "ce": calls.external,
         "ct": calls.start, "cp": call_process}
    )  # fmt: skip
    pairs = left[left["c"] != 0].merge(right, on="c")
    pairs = pairs.assign(
        same_id=(pairs["e"] == pairs["ce"]) & (pairs["e"] != UNKNOWN),
        own=pairs["cp"] == pairs["p"],
        before=pairs["ct"] <= pairs["t"],
        late=np.where(pairs["ct"] <= pairs["t"], pairs["ct"], -pairs["ct"]),
    )
    order = ["work", "same_id", "own", "before", "late"]
    chosen = pairs.sort_values(order, kind="stable").drop_duplicates("work", keep="last")
    result = np.full(work.start.size, UNKNOWN)
    result[chosen["work"].to_numpy()] = chosen["call"].to_numpy()
    return result


def distinct(codes: NDArray[np.integer[Any]]) -> list[int]:
    """The codes that occur, ascending; UNKNOWN is one. Codes are small, so they are counted."""
    found: list[int] = (np.flatnonzero(np.bincount(codes - UNKNOWN)) + UNKNOWN).tolist()
    return found


def _agreement(work: Keyed, calls: Keyed) -> tuple[int, int]:
    """How much work agrees on correlation and External id, and on correlation alone."""
    known = work.take(work.correlation != 0)
    keys = pd.MultiIndex.from_arrays([known.correlation, known.external])
    both = keys.isin(pd.MultiIndex.from_arrays([calls.correlation, calls.external]))
    both &= known.external != UNKNOWN
    return int(both.sum()), int(np.isin(known.correlation, calls.correlation).sum())


def _lateness(work: Keyed, calls: Keyed) -> tuple[int, int]:
    """How much work begins before its call would have, and the summed time between them."""
    first = pd.Series(calls.start, index=calls.correlation)
    first = first[~first.index.duplicated()]
    begun = first.reindex(work.correlation).to_numpy(dtype=np.float64)
    waits = work.start - begun
    waits = waits[~np.isnan(waits)]
    return int((waits < 0).sum()), int(np.abs(waits).sum())


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
