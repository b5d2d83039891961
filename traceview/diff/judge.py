"""Is it real? One verdict a quantity, never one for the trace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import pandas as pd

from traceview import schema as s
from traceview.diff.attribute import PerStep
from traceview.diff.measure import Measured, total, typical
from traceview.diff.noise import NoiseProfile
from traceview.errors import UsageError
from traceview.intervals import apportion
from traceview.stats import (
    BELOW_MARGIN,
    STRADDLES,
    Basis,
    Estimate,
    Judgement,
    Verdict,
    holm,
    judge,
    prior_half_width,
    profiled,
    welch,
)
from traceview.units import Unit

MARGINS: Mapping[str, float] = {
    "gpu_busy": 0.015,
    "device_period": 0.05,
    "gpu_idle": 0.05,
    "host_step": 0.05,
    "launch_overhead": 0.05,
    "sync_stall": 0.05,
    "peak_allocated": 0.0,
}
"""The smallest change of each quantity that matters, as a share of one."""
BUSY_SD, PERIOD_SD, HOST_SD, LAUNCH_SD = 0.0015, 0.20, 0.30, 0.25
"""Run-to-run sd of the logarithm, measured on an H200 under the profiler, torch 2.11: programs of
attention and of training, separate processes, interleaved. Each same-program pair lies within the
interval that they make. Where the device is busy at least BOUND of its period on both sides, the
period is as steady as the busy time."""
BOUND = 0.95
ENOUGH = 3
"""Recordings a side from which their own spread is the measure."""
SHARES = ("gpu_idle", "sync_stall")
"""Judged by their difference as a share of the device period: as ratios they explode near zero."""
BY_CHANCE = "several_quantities"
"""The reason of a change that one quantity of several may show by chance."""
_PEAK = "peak_allocated"
REASONS = {
    "single_recording": "one recording a side does not show how much runs differ",
    STRADDLES: "the interval reaches over the margin",
    BELOW_MARGIN: "real, but smaller than the margin",
    "not_recorded": "not recorded on either side",
    "recorded_on_one_side": "recorded on one side only",
    "none_on_one_side": "there is none on one side",
    "none_on_either_side": "there is none on either side",
    "baseline_unknown": "what was allocated before recording is unknown",
    "not_comparable": "the sides are not comparable",
    "no_device_work": "no device work",
    "same_recording": "the same recording twice",
    BY_CHANCE: "one of several quantities may look changed by chance",
}
"""The reasons of verdicts in words."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides as the verdicts need them."""

    before: Sequence[Measured]
    after: Sequence[Measured]
    before_step: PerStep
    after_step: PerStep
    same: bool
    comparable: bool
    noise: NoiseProfile | None = None

    @property
    def runs(self) -> tuple[int, int]:
        """Recordings before and after."""
        return len(self.before), len(self.after)

    @property
    def longer_period_ns(self) -> int:
        """What shares are of: the longer period, so that swapping the sides mirrors the verdict."""
        return max(self.before_step.period_ns, self.after_step.period_ns)

    @property
    def peaks_known(self) -> bool:
        """Whether the peaks of memory are exact, and no lower bounds."""
        return all(recording.peak_known for recording in (*self.before, *self.after))

    @property
    def device_bound(self) -> bool:
        """Whether the device is busy nearly throughout on both sides."""
        steps = (self.before_step, self.after_step)
        return all(step.busy_ns >= BOUND * step.period_ns for step in steps)


@dataclass(frozen=True, slots=True)
class _Row:
    """One quantity: its values, what is known of their difference, and the verdict."""

    name: str
    margin: float
    before: int | None
    after: int | None
    basis: Basis
    judgement: Judgement
    estimate: Estimate | None = None

    @property
    def limit(self) -> float:
        """The margin as a difference like the estimate's: of logarithms, or of shares."""
        return self.margin if self.name in SHARES else math.log1p(self.margin)

    def cells(self) -> tuple[object, ...]:
        """The row as schema.QUANTITIES has it."""
        delta, ratio = None, None
        if self.before is not None and self.after is not None:
            delta = self.after - self.before
            ratio = self.after / self.before if self.before else None
        low, high, detectable = None, None, None
        if self.estimate:
            low, high = self._as_shown(self.estimate.low), self._as_shown(self.estimate.high)
            if self.judgement.verdict is Verdict.CANNOT_TELL:
                seen = self._as_shown(self.estimate.half_width + self.limit)
                detectable = seen if self.name in SHARES else seen - 1
        return (
            self.name,
            (Unit.BYTES if self.name == _PEAK else Unit.NS).value,
            self.before,
            self.after,
            delta,
            ratio,
            low,
            high,
            self.margin,
            self.basis.value,
            self.judgement.verdict.value,
            " ".join(self.judgement.reasons),
            detectable,
        )

    def _as_shown(self, difference: float) -> float:
        """A difference as the frame has it: a ratio, or a share."""
        return difference if self.name in SHARES else math.exp(difference)


def quantities(sides: Sides, margins: Mapping[str, float] | None = None) -> pd.DataFrame:
    """One row a quantity with its verdict; columns as schema.QUANTITIES.

    Raises UsageError when `margins` names an unknown quantity.
    """
    chosen = {**MARGINS, **(margins or {})}
    if unknown := chosen.keys() - MARGINS.keys():
        names = ", ".join(sorted(unknown))
        raise UsageError(f"no quantity {names}; there are {', '.join(MARGINS)}")
    rows = _together([_row(sides, name, chosen[name]) for name in MARGINS])
    return s.QUANTITIES.of_rows([row.cells() for row in rows])


def values(side: Sequence[Measured], name: str) -> list[float | None]:
    """One quantity of each recording of a side: ns a step, or bytes."""
    return [typical(recording, name) for recording in side]


def _row(sides: Sides, name: str, margin: float) -> _Row:
    before = _of_side(sides.before, sides.before_step, name)
    after = _of_side(sides.after, sides.after_step, name)
    row = _Row(name, margin, before, after, Basis.EXACT, Judgement(Verdict.SAME))
    settled = _settled(sides, row)
    if settled is not None:
        certain = settled.verdict is Verdict.SAME
        return replace(row, judgement=settled, basis=Basis.EXACT if certain else Basis.PRIOR)
    if before is None or after is None or name == _PEAK:
        return _exact(row, before or 0, after or 0)
    basis, estimate = _estimate(sides, name, before, after)
    judgement = judge(estimate, row.limit)
    if judgement.verdict is Verdict.CANNOT_TELL and min(sides.runs) == 1:
        judgement = replace(judgement, reasons=(*judgement.reasons, "single_recording"))
    return replace(row, basis=basis, estimate=estimate, judgement=judgement)


def _settled(sides: Sides, row: _Row) -> Judgement | None:
    """The verdict where it needs no interval, or none can be had: the first that applies."""
    before, after = row.before, row.after
    share, exact = row.name in SHARES, row.name == _PEAK
    cases = (
        (sides.same, Verdict.SAME, "same_recording"),
        (before is None and after is None, Verdict.CANNOT_TELL, "not_recorded"),
        (before is None or after is None, Verdict.CANNOT_TELL, "recorded_on_one_side"),
        (not exact and not sides.comparable, Verdict.CANNOT_TELL, "not_comparable"),
        (before == after == 0, Verdict.SAME, "none_on_either_side"),
        (exact and before != after and not sides.peaks_known, Verdict.CANNOT_TELL,
         "baseline_unknown"),
        (not exact and not share and not (before and after), Verdict.CANNOT_TELL,
         "none_on_one_side"),
        (share and not sides.longer_period_ns, Verdict.CANNOT_TELL, "no_device_work"),
    )  # fmt: skip
    found = (Judgement(verdict, (reason,)) for applies, verdict, reason in cases if applies)
    return next(found, None)


def _exact(row: _Row, before: int, after: int) -> _Row:
    """Any difference of an exact figure is one, unless a margin is asked for."""
    if before and after:
        estimate = Estimate(math.log(after / before), 0.0)
        return replace(row, estimate=estimate, judgement=judge(estimate, row.limit))
    verdict = Verdict.IMPROVED if after < before else Verdict.REGRESSED
    return replace(row, judgement=Judgement(verdict))


def _together(rows: list[_Row]) -> list[_Row]:
    """Verdicts of one measured family: Holm keeps its false alarms at ALPHA."""
    family = [row for row in rows if row.basis is Basis.MEASURED and row.estimate is not None]
    p_values = [row.estimate.beyond(row.limit) for row in family if row.estimate]
    kept = {row.name for row, holds in zip(family, holm(p_values), strict=True) if holds}
    return [
        replace(row, judgement=Judgement(Verdict.CANNOT_TELL, (BY_CHANCE,)))
        if row in family and row.name not in kept and _claims(row)
        else row
        for row in rows
    ]


def _claims(row: _Row) -> bool:
    return row.judgement.verdict in (Verdict.IMPROVED, Verdict.REGRESSED)


def _estimate(sides: Sides, name: str, before: int, after: int) -> tuple[Basis, Estimate]:
    """What is known of the difference, from the best basis there is."""
    if min(sides.runs) >= ENOUGH and (measured := _measured(sides, name)):
        return Basis.MEASURED, measured
    if name in SHARES:
        difference = (after - before) / sides.longer_period_ns
    else:
        difference = math.log(after / before)
    source = _period_like(sides) if name in SHARES else name
    profile = sides.noise and sides.noise.sd(source)
    if profile:
        return Basis.PROFILE, profiled(difference, *profile, sides.runs)
    return Basis.PRIOR, Estimate(difference, prior_half_width(_prior_sd(sides, name), *sides.runs))


def _measured(sides: Sides, name: str) -> Estimate | None:
    """Welch over the recordings; None where one has no such figure, or none to divide by."""
    before, after = values(sides.before, name), values(sides.after, name)
    if name in SHARES:
        scale = sides.longer_period_ns
        shares = [[v / scale for v in side if v is not None] for side in (before, after)]
        complete = len(shares[0]) == len(before) and len(shares[1]) == len(after)
        return welch(*shares) if complete else None
    if not all(before) or not all(after):
        return None
    return welch([math.log(v) for v in before if v], [math.log(v) for v in after if v])


def _prior_sd(sides: Sides, name: str) -> float:
    own = {"gpu_busy": BUSY_SD, "host_step": HOST_SD, "launch_overhead": LAUNCH_SD}
    return own.get(name, BUSY_SD if sides.device_bound else PERIOD_SD)


def _period_like(sides: Sides) -> str:
    return "gpu_busy" if sides.device_bound else "device_period"


def _of_side(side: Sequence[Measured], step: PerStep, name: str) -> int | None:
    """A quantity of the mean step of a side, in whole ns or bytes."""
    if name in ("gpu_busy", "device_period", "gpu_idle"):
        figures = {
            "gpu_busy": step.busy_ns,
            "device_period": step.period_ns,
            "gpu_idle": step.idle_ns,
        }
        return figures[name] if any(recording.has_device for recording in side) else None
    if name == _PEAK:
        return max((r.peak_bytes for r in side if r.peak_bytes is not None), default=None)
    if name == "host_step":
        medians = [r.typical[name] for r in side if name in r.typical]
        return int(fmean(medians)) if len(medians) == len(side) else None
    totals = [total(r, name) for r in side]
    known = [figure for figure in totals if figure is not None]
    if len(known) < len(totals):
        return None
    return int(apportion([sum(known)], sum(r.count for r in side))[0])
