"""When a difference is real: intervals of a ratio, margins, verdicts. Knows nothing of traces.

An interval of the ratio after / before is held against a margin. Wholly beyond it the quantity has
improved or regressed, wholly inside it is the same, and in every other case nobody can tell. All is
symmetric in the logarithm, so that comparing the other way round mirrors every verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What can be said of one quantity, for which less is better."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    SAME = "same"
    CANNOT_TELL = "cannot_tell"

    @property
    def mirrored(self) -> Verdict:
        """The verdict on the same two sides, the other way round."""
        swapped = {Verdict.IMPROVED: Verdict.REGRESSED, Verdict.REGRESSED: Verdict.IMPROVED}
        return swapped.get(self, self)


class Basis(StrEnum):
    """Where the width of an interval comes from."""

    EXACT = "exact"
    MEASURED = "measured"
    PROFILE = "profile"
    PRIOR = "prior"


@dataclass(frozen=True, slots=True)
class Interval:
    """Ends of an interval of the ratio after / before."""

    low: float
    high: float


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


def ratio_interval(ratio: float, half_width: float) -> Interval:
    """The interval around a ratio whose logarithm is known to +-half_width."""
    return Interval(ratio * math.exp(-half_width), ratio * math.exp(half_width))


def judge(interval: Interval, margin: float) -> Judgement:
    """The verdict on a ratio; `margin` is a share of one (0.05: five per cent)."""
    low, high, limit = math.log(interval.low), math.log(interval.high), math.log1p(margin)
    return _judge(low, high, limit)


def judge_share(difference: float, half_width: float, margin: float) -> Judgement:
    """The verdict on a difference that is a share of something else, known to +-half_width."""
    return _judge(difference - half_width, difference + half_width, margin)


def _judge(low: float, high: float, limit: float) -> Judgement:
    if high < -limit:
        return Judgement(Verdict.IMPROVED)
    if low > limit:
        return Judgement(Verdict.REGRESSED)
    if -limit <= low and high <= limit:
        apart = low > 0 or high < 0
        return Judgement(Verdict.SAME, ("real_but_below_margin",) if apart else ())
    return Judgement(Verdict.CANNOT_TELL, ("interval_straddles_margin",))
