"""Exact facts: what was launched, how often, by which calls. No statistics on these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from traceview import schema as s
from traceview.diff.measure import Measured
from traceview.metrics.steps import step_of_work

EVENTS, LAUNCHES = "device events", "launch calls"
COUNT_OF = "count of "
_CALLS = "launched by "


def structure(before: Sequence[Measured], after: Sequence[Measured]) -> pd.DataFrame:
    """Counts a step on both sides; columns as schema.STRUCTURE.

    The device events and launch calls always, then each launch API and each name of device work
    whose count differs. A count that varies from step to step is given as a range.
    """
    left, right = _facts(before), _facts(after)
    always = (EVENTS, LAUNCHES)
    names = [*always, *sorted((left.keys() | right.keys()) - set(always))]
    rows = [(name, left.get(name, "0"), right.get(name, "0")) for name in names]
    rows = [row for row in rows if row[0] in always or row[1] != row[2]]
    return s.STRUCTURE.of_rows(rows)


def _facts(side: Sequence[Measured]) -> dict[str, str]:
    per_step: dict[str, list[int]] = {}
    steps = 0
    for recording in side:
        for name, counts in _counts(recording).items():
            per_step.setdefault(name, [0] * steps).extend(counts)
        steps += _step_count(recording)
        for counts in per_step.values():
            counts.extend([0] * (steps - len(counts)))
    return {name: _range(counts) for name, counts in per_step.items()}


def _counts(recording: Measured) -> dict[str, list[int]]:
    """How often each fact occurs in each step that counts."""
    work = recording.trace.work
    number = _step_numbers(recording)
    work, number = work[number >= 0], number[number >= 0]
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)
    names = work[s.NAME].astype("str").to_numpy()
    first = pd.DataFrame({"launch": launch, "step": number})[launch >= 0].drop_duplicates()
    calls = recording.trace.host[s.NAME].astype("str").to_numpy()[first["launch"]]
    facts = {
        EVENTS: number,
        LAUNCHES: first["step"].to_numpy(),
        **{COUNT_OF + name: number[names == name] for name in np.unique(names)},
        **{_CALLS + name: first["step"].to_numpy()[calls == name] for name in np.unique(calls)},
    }
    return {
        name: np.bincount(steps, minlength=_step_count(recording)).tolist()
        for name, steps in facts.items()
    }


def _step_numbers(recording: Measured) -> np.ndarray:
    """For each piece of work the number of its step among those that count; -1 for none."""
    if recording.used.empty:
        return np.zeros(len(recording.trace.work), dtype=np.int64)
    step = step_of_work(recording.trace)
    place = np.full(recording.all_steps + 1, -1)
    place[recording.used.index.to_numpy()] = np.arange(len(recording.used))
    return place[step]


def _step_count(recording: Measured) -> int:
    """The steps that count; the whole window is one where there are none."""
    return max(len(recording.used), 1)


def _range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low}..{high}"
