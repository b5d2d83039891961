"""Where the difference comes from: rows that add up to the change of the device period, to the ns.

A period consists of busy and idle time. Busy time is divided over the names of the device work,
idle time over its causes. Each side is brought to a figure a step by largest remainder, so that
its rows add up; so do then their differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from traceview import schema as s
from traceview.diff.measure import Measured
from traceview.intervals import apportion

BUSY, IDLE = "busy", "idle"
BOTH, ONLY_BEFORE, ONLY_AFTER = "both", "only_before", "only_after"


@dataclass(frozen=True, slots=True)
class PerStep:
    """One side a step, ns: period = busy + idle = the sum of the parts."""

    period_ns: int
    busy_ns: int
    idle_ns: int
    parts: Mapping[tuple[str, str], int]


def per_step(side: Sequence[Measured]) -> PerStep:
    """The mean step of one or more recordings of a program."""
    count = sum(recording.count for recording in side)
    busy = pd.concat([_by_name(recording.work) for recording in side]).groupby(level=0).sum()
    idle = pd.concat([recording.idle for recording in side]).groupby(level=0).sum()
    total_busy, total_idle = int(busy.sum()), int(idle.sum())
    busy_ns, idle_ns = apportion([total_busy, total_idle], count).tolist()
    parts = {
        (kind, str(name)): value
        for kind, series, total in ((BUSY, busy, busy_ns), (IDLE, idle, idle_ns))
        for name, value in zip(
            series.index, apportion(series.to_numpy(), count, total).tolist(), strict=True
        )
    }
    return PerStep(busy_ns + idle_ns, busy_ns, idle_ns, parts)


def attribution(before: PerStep, after: PerStep) -> pd.DataFrame:
    """One row a part, largest change first; columns as schema.ATTRIBUTION."""
    keys = sorted({**before.parts, **after.parts})
    left = np.array([before.parts.get(key, 0) for key in keys], dtype=np.int64)
    right = np.array([after.parts.get(key, 0) for key in keys], dtype=np.int64)
    change = [
        BOTH if key in before.parts and key in after.parts
        else ONLY_BEFORE if key in before.parts
        else ONLY_AFTER
        for key in keys
    ]  # fmt: skip
    order = np.argsort(-np.abs(right - left), kind="stable")
    frame = s.ATTRIBUTION.frame(
        {
            s.PART: [key[0] for key in keys],
            s.PATH: [key[1] for key in keys],
            s.BEFORE_NS: left,
            s.AFTER_NS: right,
            s.DELTA_NS: right - left,
            s.CHANGE: change,
        }
    )
    return frame.iloc[order].reset_index(drop=True)


def _by_name(work: pd.DataFrame) -> pd.Series:
    return work.groupby(work[s.NAME].astype("str"))[s.BUSY_NS].sum()
