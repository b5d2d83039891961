"""Is it real? One verdict a quantity, never one for the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from traceview import schema as s
from traceview.diff.attribute import PerStep
from traceview.diff.measure import Measured
from traceview.errors import UsageError
from traceview.intervals import apportion
from traceview.stats import (
    Basis,
    Interval,
    Judgement,
    Verdict,
    judge,
    judge_share,
    prior_half_width,
    ratio_interval,
)

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
_SHARES = ("gpu_idle", "sync_stall")
"""Judged by their difference as a share of the device period: as ratios they explode near zero."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides as the verdicts need them."""

    before: Sequence[Measured]
    after: Sequence[Measured]
    before_step: PerStep
    after_step: PerStep
    same: bool
    comparable: bool


def quantities(sides: Sides, margins: Mapping[str, float] | None = None) -> pd.DataFrame:
    """One row a quantity with its verdict; columns as schema.QUANTITIES.

    Raises UsageError when `margins` names an unknown quantity.
    """
    chosen = {**MARGINS, **(margins or {})}
    unknown = chosen.keys() - MARGINS.keys()
    if unknown:
        raise UsageError(
            f"no quantity {', '.join(sorted(unknown))}; there are {', '.join(MARGINS)}"
        )
    rows = [_row(sides, name, chosen[name]) for name in MARGINS]
    columns = s.QUANTITIES.columns
    return s.QUANTITIES.frame({c: [row[i] for row in rows] for i, c in enumerate(columns)})


def _row(sides: Sides, name: str, margin: float) -> tuple[object, ...]:
    before, after = _value(sides, name, after=False), _value(sides, name, after=True)
    known = before is not None and after is not None
    ratio = after / before if known and before else None
    interval, basis, judgement = _judgement(sides, name, before, after, margin)
    return (
        name,
        "bytes" if name == "peak_allocated" else "ns",
        before,
        after,
        after - before if known else None,
        ratio,
        interval.low if interval else None,
        interval.high if interval else None,
        margin,
        basis.value,
        judgement.verdict.value,
        " ".join(judgement.reasons),
    )


def _value(sides: Sides, name: str, *, after: bool) -> int | None:
    side = sides.after if after else sides.before
    step = sides.after_step if after else sides.before_step
    has_device = any(recording.has_device for recording in side)
    match name:
        case "gpu_busy":
            return step.busy_ns if has_device else None
        case "device_period":
            return step.period_ns if has_device else None
        case "gpu_idle":
            return step.idle_ns if has_device else None
        case "host_step":
            return _mean([r.host_step_ns for r in side], len(side))
        case "launch_overhead":
            return _mean([r.launch_overhead_ns for r in side], sum(r.count for r in side))
        case "sync_stall":
            return _mean([r.sync_stall_ns for r in side], sum(r.count for r in side))
        case _:
            peaks = [r.peak_bytes for r in side]
            return max((p for p in peaks if p is not None), default=None)


def _mean(totals: Sequence[int | None], count: int) -> int | None:
    known = [total for total in totals if total is not None]
    if len(known) < len(totals):
        return None
    return int(apportion([sum(known)], count)[0])


def _judgement(
    sides: Sides, name: str, before: int | None, after: int | None, margin: float
) -> tuple[Interval | None, Basis, Judgement]:
    if sides.same:
        reasons = ("same_recording",)
        return Interval(1.0, 1.0), Basis.EXACT, Judgement(Verdict.SAME, reasons)
    if before is None or after is None:
        reason = "not_recorded" if before is None and after is None else "recorded_on_one_side"
        return None, Basis.PRIOR, Judgement(Verdict.CANNOT_TELL, (reason,))
    if name == "peak_allocated":
        return _exact(before, after, margin)
    if not sides.comparable:
        return None, Basis.PRIOR, Judgement(Verdict.CANNOT_TELL, ("not_comparable",))
    if before == after == 0:
        return None, Basis.EXACT, Judgement(Verdict.SAME, ("none_on_either_side",))
    half_width = _half_width(sides, name)
    if name in _SHARES:
        return _share(sides, after - before, half_width, margin)
    if before == 0 or after == 0:
        return None, Basis.PRIOR, Judgement(Verdict.CANNOT_TELL, ("none_on_one_side",))
    interval = ratio_interval(after / before, half_width)
    return interval, Basis.PRIOR, _explained(sides, judge(interval, margin))


def _exact(before: int, after: int, margin: float) -> tuple[Interval | None, Basis, Judgement]:
    """Any difference of an exact figure is one."""
    if before == after:
        return Interval(1.0, 1.0), Basis.EXACT, Judgement(Verdict.SAME)
    if before and after:
        interval = ratio_interval(after / before, 0.0)
        return interval, Basis.EXACT, judge(interval, margin)
    verdict = Verdict.IMPROVED if after < before else Verdict.REGRESSED
    return None, Basis.EXACT, Judgement(verdict)


def _share(
    sides: Sides, delta: int, half_width: float, margin: float
) -> tuple[Interval | None, Basis, Judgement]:
    """The longer period is the measure, so that comparing the other way round mirrors the verdict."""
    period = max(sides.before_step.period_ns, sides.after_step.period_ns)
    if period == 0:
        return None, Basis.PRIOR, Judgement(Verdict.CANNOT_TELL, ("no_device_work",))
    share = delta / period
    interval = Interval(share - half_width, share + half_width)
    return interval, Basis.PRIOR, _explained(sides, judge_share(share, half_width, margin))


def _explained(sides: Sides, judgement: Judgement) -> Judgement:
    """What would settle a `cannot_tell` is part of its reasons."""
    single = min(len(sides.before), len(sides.after)) == 1
    if judgement.verdict is Verdict.CANNOT_TELL and single:
        return Judgement(judgement.verdict, (*judgement.reasons, "single_recording"))
    return judgement


def _half_width(sides: Sides, name: str) -> float:
    runs = len(sides.before), len(sides.after)
    sd = {"gpu_busy": BUSY_SD, "host_step": HOST_SD, "launch_overhead": LAUNCH_SD}.get(name)
    if sd is None:
        sd = BUSY_SD if _device_bound(sides) else PERIOD_SD
    return prior_half_width(sd, *runs)


def _device_bound(sides: Sides) -> bool:
    steps = (sides.before_step, sides.after_step)
    return all(step.busy_ns >= BOUND * step.period_ns for step in steps)
