"""Numbers as text."""

from collections.abc import Sequence

import numpy as np
import pytest

from traceview.units import Unit, counted, in_column, plural, ratio, scale, text


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, Unit.NS, "-"),
        (0, Unit.NS, "0 ns"),
        (999, Unit.NS, "999 ns"),
        (4_870_000, Unit.NS, "4.87 ms"),
        (-4_240_000, Unit.NS, "-4.24 ms"),
        (np.int64(1_500), Unit.NS, "1.50 us"),
        (81_352_720_384, Unit.BYTES, "75.77 GiB"),
        (12_000, Unit.COUNT, "12,000"),
        (20.5, Unit.COUNT, "20.5"),
        (12_000, Unit.ID, "12000"),
        (0.129, Unit.RATIO, "x0.13"),
        (0.125, Unit.SHARE, "12.5 %"),
        (True, Unit.FLAG, "yes"),
        (np.bool_(False), Unit.FLAG, "no"),
        ("aten::mm", Unit.TEXT, "aten::mm"),
    ],
)
def test_one_value(value: object, unit: Unit, shown: str) -> None:
    assert text(value, unit) == shown


def column(values: Sequence[int | None], unit: Unit, *, signed: bool = False) -> list[str]:
    """The values below each other, in the unit that suits them all."""
    chosen = scale(unit, values)
    return [in_column(value, unit, chosen, signed=signed) for value in values]


def test_a_column_has_one_unit_which_its_largest_value_picks() -> None:
    assert column((4_870_000, 630_000, None, 0), Unit.NS) == ["4.87", "0.63", "-", "0.00"]
    assert column((2**30, 2**40), Unit.BYTES) == ["<0.01", "1.00"]
    assert column((12_000, 1), Unit.COUNT) == ["12,000", "1"]


def test_signs_are_shown_where_they_are_asked_for() -> None:
    assert column((5_000_000, -1, 1, 0), Unit.NS, signed=True) == [
        "+5.00",
        "-0.00",
        "+0.00",
        "0.00",
    ]
    assert column((3, -2, 0), Unit.COUNT, signed=True) == ["+3", "-2", "0"]
    assert text(0.05, Unit.SHARE, signed=True) == "+5.0 %"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "x0.000"), (0.0604, "x0.060"), (0.129, "x0.13"), (0.9956, "x0.996"), (2.5, "x2.50"),
     (1234.5, "x1,234")],
)  # fmt: skip
def test_a_ratio_is_fine_where_it_matters(value: float, shown: str) -> None:
    assert ratio(value) == shown


def test_words_go_with_their_count() -> None:
    assert counted(1, "call") == "1 call"
    assert counted(2000, "call") == "2,000 calls"
    assert plural(1, "takes", "take") == "takes"
    assert plural(0, "takes", "take") == plural(2, "takes", "take") == "take"
