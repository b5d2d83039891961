"""The one place where a number becomes text.

Every figure of a frame is an integer of nanoseconds or bytes, a count, or a ratio. Reports keep
them so; a renderer asks here for the text. A table column is shown in one unit, chosen by its
largest value, so that figures below each other can be compared by eye.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MISSING = "-"


class Unit(StrEnum):
    """What a number means. The value is what `traceview columns` prints."""

    NS = "ns"
    BYTES = "bytes"
    COUNT = "count"
    RATIO = "ratio"
    SHARE = "share"
    ID = "id"
    TEXT = "text"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit to print in: `value / divisor`, with `decimals`, followed by `suffix`."""

    divisor: int
    suffix: str
    decimals: int

    def number(self, value: int | float) -> str:
        """The figure alone, for a column whose heading carries the suffix."""
        return f"{value / self.divisor:,.{self.decimals}f}"

    def text(self, value: int | float) -> str:
        """The figure with its suffix."""
        return f"{self.number(value)} {self.suffix}"


_TIMES = (Scale(10**9, "s", 2), Scale(10**6, "ms", 2), Scale(10**3, "us", 2), Scale(1, "ns", 0))
_BYTES = (
    Scale(2**40, "TiB", 2),
    Scale(2**30, "GiB", 2),
    Scale(2**20, "MiB", 2),
    Scale(2**10, "KiB", 2),
    Scale(1, "bytes", 0),
)


def scale(unit: Unit, values: Iterable[int | float | None]) -> Scale | None:
    """The unit in which all of `values` are best shown, or None where the unit has no scale."""
    ladder = {Unit.NS: _TIMES, Unit.BYTES: _BYTES}.get(unit)
    if ladder is None:
        return None
    largest = max((abs(value) for value in values if value is not None), default=0)
    for step in ladder:
        if largest >= step.divisor:
            return step
    return ladder[-1]


def text(value: object, unit: Unit) -> str:
    """One value on its own, in the unit that suits its size."""
    if value is None:
        return MISSING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    chosen = scale(unit, (value,))
    if chosen is not None:
        return chosen.text(value)
    match unit:
        case Unit.COUNT:
            return f"{value:,}"
        case Unit.RATIO:
            return ratio(value)
        case Unit.SHARE:
            return percent(value)
        case _:
            return str(value)


def percent(share: float, decimals: int = 1) -> str:
    """A share of one as per cent."""
    return f"{100 * share:.{decimals}f} %"


def ratio(value: float) -> str:
    """A ratio after / before, as `x0.13`; three figures near one, where they matter."""
    if 0.5 <= value < 2:
        return f"x{value:.3f}"
    return f"x{value:.2f}" if value < 100 else f"x{value:,.0f}"
