"""Whether a claim holds: its reading against its amount, interval and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from traceview import units
from traceview.check.grammar import Claim, Function
from traceview.check.readings import Reading, read
from traceview.diff import TraceDiff
from traceview.diff.measure import Measured
from traceview.stats import Basis

_PRIOR = Basis.PRIOR.value


class Answer(StrEnum):
    """What can be said of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    CANNOT_TELL = "cannot tell"

    @property
    def code(self) -> str:
        """The answer as JSON has it."""
        return self.value.replace(" ", "_")


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, the reading it was held against, and the answer."""

    claim: Claim
    reading: Reading
    answer: Answer
    reason: str = ""

    @property
    def value(self) -> str | None:
        """The value that was found, with its unit."""
        found = self.reading.value
        return found if found is None or isinstance(found, str) else self._text(found)

    @property
    def known(self) -> str | None:
        """How well the value is known: its interval, if it is not exact, and its basis."""
        low, high = self.reading.low, self.reading.high
        if self.reading.value is None or low is None or high is None:
            return None
        if low == high:
            return self.reading.basis
        return f"{self._text(low)} to {self._text(high)}, {self.reading.basis}"

    def _text(self, number: float) -> str:
        return units.text(number, self.reading.unit, signed=self.claim.function is Function.DELTA)


def find(claim: Claim, subject: Sequence[Measured] | TraceDiff) -> Finding:
    """Read the claim's subject on one side, or on a diff, and answer it."""
    reading = read(claim, subject)
    found = Finding(claim, reading, answered(claim, reading), reading.reason)
    if found.answer is Answer.CANNOT_TELL and reading.value is not None:
        found = replace(found, reason=_unsure(found))
    return found


def _unsure(found: Finding) -> str:
    """Why a value that was recorded does not settle a claim, and what would."""
    known = f"it is {found.value} ({found.known}), partly within the claim and partly not"
    return known if found.reading.basis != _PRIOR else f"{known}; record 3 or more runs a side"


def answered(claim: Claim, reading: Reading) -> Answer:
    """Holds where the whole interval fulfils the claim, fails where none of it does."""
    if reading.value is None:
        return Answer.CANNOT_TELL
    if isinstance(reading.value, str) or isinstance(claim.low, str) or isinstance(claim.high, str):
        equal = reading.value == claim.low
        return Answer.HOLDS if equal is (claim.operator == "==") else Answer.FAILS
    low = reading.value if reading.low is None else reading.low
    high = reading.value if reading.high is None else reading.high
    inside, outside = _fulfilled(claim.operator, (low, high), (claim.low, claim.high))
    if inside:
        return Answer.HOLDS
    return Answer.FAILS if outside else Answer.CANNOT_TELL


def _fulfilled(
    operator: str, interval: tuple[float, float], limits: tuple[float, float]
) -> tuple[bool, bool]:
    """Whether all of the interval fulfils the comparison, and whether none of it does."""
    (low, high), (least, most) = interval, limits
    match operator:
        case "<":
            return high < least, low >= least
        case "<=":
            return high <= least, low > least
        case ">":
            return low > least, high <= least
        case ">=":
            return low >= least, high < least
        case "!=":
            return not low <= least <= high, low == high == least
        case _:  # `==` is a range of one point
            return least <= low and high <= most, high < least or low > most
