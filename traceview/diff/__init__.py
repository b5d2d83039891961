"""Diff: the same metrics on two sides, and what can be said of the difference.

recordings  what a side is: repeated runs of one program
measure     what one recording contributes: totals over its steady windows
comparable  whether they are of the same work, recorded alike
reasons     what differs besides what is looked for
shapes      whether the same ops work on the same inputs
structure   exact facts: counts, calls, kernel sets
match       work of both sides by region, op and kernel, from the outside in
attribute   where the difference comes from; adds up to the ns
spread      how the steps of a recording scatter
judge       whether it is real: one verdict a quantity
noise       how far recordings of one program differ
gate        what a comparison must not show
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from traceview import schema as s
from traceview.diff.attribute import attribution, per_step
from traceview.diff.comparable import SAME_RECORDING, Comparability, comparability
from traceview.diff.judge import MARGINS, Sides, quantities
from traceview.diff.measure import Measured
from traceview.diff.noise import NoiseProfile
from traceview.diff.reasons import Reason
from traceview.diff.recordings import Side, measured
from traceview.diff.spread import spread
from traceview.diff.structure import structure


@dataclass(frozen=True, slots=True)
class TraceDiff:
    """What changed between two sides. delta = after - before, ratio = after / before.

    The frames follow the schemas QUANTITIES, ATTRIBUTION, REPLACED, STRUCTURE, MEMORY_DELTA and
    SPREAD, in order. Times are ns a step, of all devices together.
    """

    before: tuple[Measured, ...]
    after: tuple[Measured, ...]
    comparable: Comparability
    reasons: tuple[Reason, ...]
    quantities: pd.DataFrame
    attribution: pd.DataFrame
    replaced: pd.DataFrame
    structure: pd.DataFrame
    memory: pd.DataFrame
    spread: pd.DataFrame


def diff(
    before: Side,
    after: Side,
    *,
    margins: Mapping[str, float] | None = None,
    noise: NoiseProfile | None = None,
    factor: str = "",
) -> TraceDiff:
    """Compare recordings of two versions of a program: one a side, or several.

    `margins` replaces the smallest changes that matter (MARGINS) by quantity, as shares of one.
    `noise` says how far runs of such a program differ, where neither side has three recordings.
    `factor` names what differs on purpose: a part of the declared work such as `dtype`, a version.
    Raises UsageError for an unknown quantity, and for a side that is no set of repeated recordings.
    """
    left, right = measured(before, after)
    verdict, reasons = comparability(left, right, factor)
    before_step, after_step = per_step(left), per_step(right)
    judged = quantities(
        Sides(
            left,
            right,
            before_step,
            after_step,
            same=any(reason.code == SAME_RECORDING for reason in reasons),
            comparable=verdict is not Comparability.NO,
            noise=noise,
        ),
        margins,
    )
    return TraceDiff(
        left,
        right,
        verdict,
        reasons,
        judged,
        *attribution(before_step, after_step),
        structure(left, right),
        _memory(left, right),
        spread(left, right),
    )


def _memory(before: tuple[Measured, ...], after: tuple[Measured, ...]) -> pd.DataFrame:
    """Peaks of each memory device; columns as schema.MEMORY_DELTA."""
    left, right = (_peaks(side) for side in (before, after))
    keys = left.index.union(right.index).sort_values()
    first = left.reindex(keys).astype("Int64")
    second = right.reindex(keys).astype("Int64")
    return s.MEMORY_DELTA.frame(
        {
            s.DEVICE_TYPE: [key[0] for key in keys],
            s.MEMORY_DEVICE: [key[1] for key in keys],
            s.BEFORE_BYTES: first.array,
            s.AFTER_BYTES: second.array,
            s.DELTA_BYTES: (second - first).array,
        }
    )


def _peaks(side: tuple[Measured, ...]) -> pd.Series:
    peaks = pd.concat([recording.peaks for recording in side])
    return peaks.groupby([s.DEVICE_TYPE, s.MEMORY_DEVICE])[s.PEAK_ALLOCATED].max()


__all__ = ["MARGINS", "Comparability", "Reason", "TraceDiff", "diff"]
