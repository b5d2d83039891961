"""When a difference is real: intervals of a ratio, margins, verdicts. Knows nothing of traces.

An interval of the ratio after / before is held against a margin. Wholly beyond it the quantity has
improved or regressed, wholly inside it is the same, and in every other case nobody can tell. All is
symmetric in the logarithm, so that comparing the other way round mirrors every verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, variance


class Verdict(StrEnum):
    """What can be said of one quantity, for which less is better."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    SAME = "same"
    CANNOT_TELL = "cannot_tell"


class Basis(StrEnum):
    """Where the width of an interval comes from."""

    EXACT = "exact"
    MEASURED = "measured"
    PROFILE = "profile"
    PRIOR = "prior"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, with the codes of its reasons."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()


PRIOR_WIDTH = 3 * math.sqrt(2)
"""Half width of a prior interval in run-to-run standard deviations of the log ratio: sqrt(2) for a
difference of two runs, 3 so that each of the same-program pairs that were measured lies inside."""


def prior_half_width(sd: float, runs_before: int = 1, runs_after: int = 1) -> float:
    """Half width on the log ratio from a known run-to-run sd of the logarithm.

    With k recordings on a side its sd is divided by sqrt(k).
    """
    spread = math.sqrt((1 / runs_before + 1 / runs_after) / 2)
    return PRIOR_WIDTH * sd * spread


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference (of logarithms, or of shares) and how well it is known.

    `error` is its standard error with `freedom` degrees of freedom; without either, the half width
    stands for itself, as a prior does.
    """

    difference: float
    half_width: float
    error: float | None = None
    freedom: float | None = None

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.difference - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.difference + self.half_width

    def beyond(self, margin: float) -> float:
        """The p value of a measured estimate against "no change beyond the margin".

        Below 0.05 just when the interval is wholly beyond it.
        """
        from scipy.stats import t  # noqa: PLC0415 -- scipy takes longer to import than help may

        distance = abs(self.difference) - margin
        if not self.error or self.freedom is None:
            return 0.0 if distance > 0 else 1.0
        return min(1.0, 2 * float(t.sf(distance / self.error, self.freedom)))


BELOW_MARGIN, STRADDLES = "real_but_below_margin", "interval_straddles_margin"
"""Why a change is called none, and why nobody can tell: codes of a Judgement."""
ALPHA = 0.05
"""Of how many comparisons of a program with itself may call a change."""


def welch(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """The difference of two means with its 95 % interval, by Welch.

    Each value is one recording; two or more a side. Steps of one recording are no samples: runs
    differ by more than steps do.
    """
    parts = variance(before) / len(before), variance(after) / len(after)
    difference, squared = fmean(after) - fmean(before), sum(parts)
    if squared == 0:
        return Estimate(difference, 0.0, 0.0, math.inf)
    freedom = squared**2 / (parts[0] ** 2 / (len(before) - 1) + parts[1] ** 2 / (len(after) - 1))
    error = math.sqrt(squared)
    return Estimate(difference, _quantile(freedom) * error, error, freedom)


def mean(values: Sequence[float]) -> Estimate:
    """The mean of two or more recordings with its 95 % interval, by Student."""
    error = math.sqrt(variance(values) / len(values))
    freedom = float(len(values) - 1)
    return Estimate(fmean(values), _quantile(freedom) * error, error, freedom)


def profiled(difference: float, sd: float, freedom: float, runs: tuple[int, int]) -> Estimate:
    """A difference whose run-to-run sd comes from a noise profile of `freedom` degrees."""
    error = sd * math.sqrt(1 / runs[0] + 1 / runs[1])
    return Estimate(difference, _quantile(freedom) * error, error, freedom)


def _quantile(freedom: float) -> float:
    from scipy.stats import t  # noqa: PLC0415 -- scipy takes longer to import than help may

    return float(t.ppf(1 - ALPHA / 2, freedom))


def holm(values: Sequence[float]) -> list[bool]:
    """Which of a family of p values are significant together, by Holm's step-down."""
    result = [False] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[index] >= ALPHA / (len(values) - rank):
            break
        result[index] = True
    return result


def judge(estimate: Estimate, margin: float) -> Judgement:
    """The verdict on a difference whose smallest size that matters is `margin`."""
    if estimate.high < -margin:
        return Judgement(Verdict.IMPROVED)
    if estimate.low > margin:
        return Judgement(Verdict.REGRESSED)
    if -margin <= estimate.low and estimate.high <= margin:
        apart = estimate.low > 0 or estimate.high < 0
        return Judgement(Verdict.SAME, (BELOW_MARGIN,) if apart else ())
    return Judgement(Verdict.CANNOT_TELL, (STRADDLES,))
