"""The one place where a number becomes text.

Every figure of a frame is an integer of nanoseconds or bytes, a count, or a ratio. Reports keep
them so; a renderer asks here for the text. A table column is shown in one unit, chosen by its
largest value, so that figures below each other can be compared by eye.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from numbers import Integral, Real

MISSING = "-"


class Unit(StrEnum):
    """What a number means. The value is what `traceview columns` prints."""

    NS = "ns"
    BYTES = "bytes"
    COUNT = "count"
    FLOP = "flop"
    FLOP_RATE = "flop/s"
    BYTE_RATE = "bytes/s"
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

    def hides(self, value: float) -> bool:
        """Whether `value` is something, but would be rounded to nothing."""
        return value != 0 and round(abs(value) / self.divisor, self.decimals) == 0

    def number(self, value: float) -> str:
        """The figure alone, for a column whose heading carries the suffix."""
        return f"{value / self.divisor:,.{self.decimals}f}"

    def text(self, value: float) -> str:
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


def _decimal(suffix: str) -> tuple[Scale, ...]:
    """Powers of 1000, as vendors count operations and bandwidth."""
    steps = ((12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))
    return tuple(Scale(10**power, prefix + suffix, 2 if power else 0) for power, prefix in steps)


_LADDERS = {
    Unit.NS: _TIMES,
    Unit.BYTES: _BYTES,
    Unit.FLOP: _decimal("FLOP"),
    Unit.FLOP_RATE: _decimal("FLOP/s"),
    Unit.BYTE_RATE: _decimal("B/s"),
}


def scale(unit: Unit, values: Iterable[object]) -> Scale | None:
    """The unit in which all of `values` are best shown, or None where `unit` has no scale.

    Values that are no numbers have no say.
    """
    ladder = _LADDERS.get(unit)
    if ladder is None:
        return None
    numbers = (as_number(value) for value in values)
    largest = max((abs(number) for number in numbers if number is not None), default=0)
    for step in ladder:
        if largest >= step.divisor:
            return step
    return ladder[-1]


def as_number(value: object) -> int | float | None:
    """`value` as a plain number, also where it came from numpy; None where it is no number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else None


def text(value: object, unit: Unit, *, signed: bool = False, preferred: Scale | None = None) -> str:
    """One value with its unit: the `preferred` scale, else the one that suits its size.

    A value that the preferred scale would round to nothing gets the scale of its own size.
    """
    number = as_number(value)
    if number is None:
        return _word(value, unit)
    chosen = preferred
    if chosen is None or chosen.hides(number):
        chosen = scale(unit, (number,))
    shown = _bare(number, unit) if chosen is None else chosen.text(number)
    return f"+{shown}" if signed and number > 0 else shown


def in_column(value: object, unit: Unit, chosen: Scale | None, *, signed: bool = False) -> str:
    """One value of a table column, whose heading carries the suffix of the `chosen` scale.

    What is not zero never reads as zero: below the last decimal it is `<0.01`, or `+0.00` and
    `-0.00` where the sign is what matters.
    """
    number = as_number(value)
    if number is None or chosen is None:
        return text(value, unit, signed=signed)
    if chosen.hides(number) and number > 0 and not signed:
        return f"<{10**-chosen.decimals:.{chosen.decimals}f}"
    shown = chosen.number(number)
    return f"+{shown}" if signed and number > 0 else shown


def _word(value: object, unit: Unit) -> str:
    if value is None:
        return MISSING
    if unit is Unit.FLAG or isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _bare(number: float, unit: Unit) -> str:
    match unit:
        case Unit.COUNT:
            return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"
        case Unit.RATIO:
            return ratio(number)
        case Unit.SHARE:
            return percent(number)
        case Unit.FLAG:
            return _word(bool(number), unit)
        case _:
            return str(number)


def percent(share: float, decimals: int = 1) -> str:
    """A share of one as per cent."""
    return f"{100 * share:.{decimals}f} %"


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 call`, `2,000 calls`."""
    return f"{count:,} {plural(count, noun)}"


def plural(count: int, one: str, many: str = "") -> str:
    """A word as it goes with a count: `one` with an s unless `many` is given."""
    return one if count == 1 else many or f"{one}s"


def ratio(value: float) -> str:
    """A ratio after / before, as `x0.13`; finer near one and near zero, where it matters."""
    if value < _SMALL or _NEAR_ONE[0] <= value < _NEAR_ONE[1]:
        return f"x{value:.3f}"
    return f"x{value:.2f}" if value < _LARGE else f"x{value:,.0f}"


_SMALL = 0.1
_NEAR_ONE = (0.5, 2)
_LARGE = 100
