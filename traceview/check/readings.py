"""A claim's subject, read: its value, how well it is known, and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.check.grammar import Claim, Function, Term
from traceview.check.metrics import SELECTORS, Value
from traceview.diff import Comparability, TraceDiff
from traceview.diff.attribute import BUSY, IDLE
from traceview.diff.judge import ENOUGH, MARGINS, REASONS, SHARES
from traceview.diff.measure import Measured
from traceview.errors import UsageError
from traceview.kernel_names import short
from traceview.stats import Basis, Estimate, Verdict, mean, prior_half_width, welch
from traceview.units import Unit

_NAMED = 2
"""How many rows of an attribution an explanation names."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a claim's subject is: `value` within [low, high], in `unit`.

    `basis` is how that is known, `origin` where the value comes from. A missing value has its
    reason. For a word low and high are None.
    """

    unit: Unit
    value: Value = None
    low: float | None = None
    high: float | None = None
    basis: str = ""
    origin: str = ""
    reason: str = ""


def read(claim: Claim, subject: Sequence[Measured] | TraceDiff) -> Reading:
    """The reading of a claim's subject on one side, or on a diff.

    Raises UsageError where a claim about a diff meets one side, or the other way round.
    """
    if isinstance(subject, TraceDiff):
        return _of_diff(claim, subject)
    if claim.function is not None:
        raise UsageError(
            f"{claim.text!r}: {claim.function} compares two sides: name them with --before and "
            "--after"
        )
    return _of_side(claim.term, subject)


def _of_diff(claim: Claim, diff: TraceDiff) -> Reading:
    match claim.function:
        case None:
            raise UsageError(
                f"{claim.text!r}: of two sides, which is meant? Write ratio({claim.term.text}), or "
                "delta, before, after"
            )
        case Function.BEFORE:
            return _of_side(claim.term, diff.before)
        case Function.AFTER:
            return _of_side(claim.term, diff.after)
        case _:
            if diff.comparable is Comparability.NO:
                why = "; ".join(reason.text for reason in diff.reasons if reason.forbids)
                return Reading(claim.unit, reason=f"the sides are not comparable: {why}")
            if claim.term.text in MARGINS:
                return _of_quantity(claim, diff)
            return _between(claim, diff)


# --- one side


def _of_side(term: Term, side: Sequence[Measured]) -> Reading:
    metric = term.metric
    values = [metric.of(recording, term.argument) for recording in side]
    if any(value is None for value in values):
        absent = values.index(None)
        return Reading(metric.unit, reason=_lacking(term, side[absent]))
    origin = _place(side, metric.origin(side[0], term.argument))
    if metric.unit is Unit.TEXT:
        worst = min(map(str, values), key=("wrong", "unchecked", "correct").index)
        return Reading(metric.unit, worst, origin=origin)
    numbers = [float(value) for value in values if not isinstance(value, str) and value is not None]
    if metric.sd is None or len(numbers) == 1:
        low, high = min(numbers), max(numbers)
        value = values[0] if low == high else math.fsum(numbers) / len(numbers)
        return Reading(metric.unit, value, low, high, Basis.EXACT.value, origin)
    spread = mean(numbers)
    basis = f"95 % of {len(numbers)} recordings"
    return Reading(metric.unit, spread.difference, spread.low, spread.high, basis, origin)


def _place(side: Sequence[Measured], origin: str) -> str:
    """Where a figure comes from: the recording, then its parts."""
    path = side[0].trace.metadata.path
    name = PurePath(path).name if path else "the recording"
    where = name if len(side) == 1 else f"{name} and {len(side) - 1} more"
    return f"{where}: {origin}" if origin else where


def _lacking(term: Term, recording: Measured) -> str:
    """Why a recording has no such figure, with the name that was probably meant."""
    if term.selector is None or term.selector is SELECTORS["idle"] or not recording.has_device:
        return term.metric.lacking
    near = term.metric.origin(recording, term.argument)
    return f"{term.metric.lacking}: {near}"


# --- two sides


def _of_quantity(claim: Claim, diff: TraceDiff) -> Reading:
    """A quantity of the diff, with its own interval and verdict."""
    name = claim.term.text
    row = diff.quantities[diff.quantities[s.QUANTITY] == name].iloc[0]
    origin = _changes(diff, name)
    if claim.function is Function.VERDICT:
        return _verdict(row, origin)
    wanted = s.RATIO if claim.function is Function.RATIO else s.DELTA
    if pd.isna(row[wanted]):
        codes = str(row[s.REASONS]).split() or ["none_on_one_side"]
        return Reading(claim.unit, reason=_words(codes))
    before = int(row[s.BEFORE])
    ratio = _ratio_interval(row, diff)
    value = float(row[wanted])
    reading = Reading(claim.unit, value, value, value, str(row[s.BASIS]), origin)
    if ratio is None:
        return reading
    low, high = ratio
    if claim.function is Function.DELTA:
        low, high = before * (low - 1), before * (high - 1)
    return replace(reading, low=low, high=high)


def _verdict(row: pd.Series, origin: str) -> Reading:
    verdict = str(row[s.VERDICT])
    words = _words(str(row[s.REASONS]).split())
    if verdict == Verdict.CANNOT_TELL:
        return Reading(Unit.TEXT, reason=words)
    return Reading(Unit.TEXT, verdict, basis=str(row[s.BASIS]), origin=origin)


def _words(codes: Sequence[str]) -> str:
    return "; ".join(REASONS.get(code, code) for code in codes)


def _ratio_interval(row: pd.Series, diff: TraceDiff) -> tuple[float, float] | None:
    """The interval of after / before; None where the figures are exact."""
    low, high = row[s.INTERVAL_LOW], row[s.INTERVAL_HIGH]
    if pd.isna(low) or str(row[s.BASIS]) == Basis.EXACT.value:
        return None
    if str(row[s.QUANTITY]) not in SHARES:
        return float(low), float(high)
    if not row[s.BEFORE]:
        return None
    periods = diff.quantities[diff.quantities[s.QUANTITY] == "device_period"].iloc[0]
    scale = max(int(periods[s.BEFORE]), int(periods[s.AFTER])) / int(row[s.BEFORE])
    return max(0.0, 1 + float(low) * scale), 1 + float(high) * scale


def _changes(diff: TraceDiff, quantity: str) -> str:
    """The largest rows of where a difference comes from."""
    frame = diff.attribution
    if quantity in ("gpu_busy", "gpu_idle"):
        part = BUSY if quantity == "gpu_busy" else IDLE
        frame = frame[(frame[s.PART] == part).to_numpy()]
    elif quantity != "device_period":
        row = diff.quantities[diff.quantities[s.QUANTITY] == quantity].iloc[0]
        return _from_to(row[s.BEFORE], row[s.AFTER], Unit(str(row[s.UNIT])))
    order = frame[s.DELTA_NS].abs().sort_values(ascending=False, kind="stable").index
    top = frame.loc[order].head(_NAMED)
    shown = [
        f"{units.text(int(ns), Unit.NS, signed=True)} {short(str(path).rsplit(' > ', 1)[-1])}"
        for path, ns in zip(top[s.PATH], top[s.DELTA_NS], strict=True)
        if ns
    ]
    return "most of it " + ", ".join(shown) if shown else ""


def _from_to(before: Value, after: Value, unit: Unit) -> str:
    known = (None if pd.isna(value) else value for value in (before, after))
    return " -> ".join(units.text(value, unit) for value in known)


def _between(claim: Claim, diff: TraceDiff) -> Reading:
    """A metric that is no quantity of the diff: from the values of its recordings."""
    sides = [_numbers(claim.term, side) for side in (diff.before, diff.after)]
    if claim.term.selector is not None and any(sides):
        sides = [side or [0.0] for side in sides]  # what only one side has, the other has none of
    before, after = sides
    if not before or not after:
        lacking = diff.before[0] if not before else diff.after[0]
        return Reading(claim.unit, reason=_lacking(claim.term, lacking))
    means = [math.fsum(side) / len(side) for side in (before, after)]
    origin = _from_to(_integral(means[0]), _integral(means[1]), claim.term.metric.unit)
    as_ratio = claim.function is Function.RATIO
    if as_ratio and not all(before):
        where = "in a recording before" if any(before) else "before"
        return Reading(claim.unit, reason=f"there is none {where}")
    if claim.term.metric.sd is None or not all((*before, *after)):
        return _exact(claim, before, after, origin)
    basis, spread = _spread(before, after, claim.term.metric.sd)
    low, high = math.exp(spread.low), math.exp(spread.high)
    value = means[1] / means[0]
    if not as_ratio:
        low, high, value = means[0] * (low - 1), means[0] * (high - 1), means[1] - means[0]
    return Reading(claim.unit, value, low, high, basis, origin)


def _integral(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _numbers(term: Term, side: Sequence[Measured]) -> list[float]:
    """The values of a side; none where a recording lacks one."""
    values = [term.metric.of(recording, term.argument) for recording in side]
    numbers = [float(v) for v in values if v is not None and not isinstance(v, str)]
    return numbers if len(numbers) == len(values) else []


def _exact(claim: Claim, before: list[float], after: list[float], origin: str) -> Reading:
    """A difference of figures that runs do not change; a range where recordings differ."""
    means = [math.fsum(side) / len(side) for side in (before, after)]
    if claim.function is Function.RATIO:
        ends = min(after) / max(before), max(after) / min(before)
        return Reading(claim.unit, means[1] / means[0], *ends, Basis.EXACT.value, origin)
    ends = min(after) - max(before), max(after) - min(before)
    return Reading(claim.unit, _integral(means[1] - means[0]), *ends, Basis.EXACT.value, origin)


def _spread(before: list[float], after: list[float], sd: float) -> tuple[str, Estimate]:
    """What is known of the difference of the logarithms."""
    logs = [[math.log(value) for value in side] for side in (before, after)]
    if min(len(before), len(after)) >= ENOUGH:
        return Basis.MEASURED.value, welch(*logs)
    difference = math.fsum(logs[1]) / len(after) - math.fsum(logs[0]) / len(before)
    return Basis.PRIOR.value, Estimate(difference, prior_half_width(sd, len(before), len(after)))
