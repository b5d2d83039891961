"""Numbers as text."""

import numpy as np
import pytest

from traceview.units import Unit, column, text


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


def test_a_column_has_one_unit_which_its_largest_value_picks() -> None:
    assert column((4_870_000, 630_000, None, 0), Unit.NS) == ("ms", ("4.87", "0.63", "-", "0.00"))
    assert column((2**30, 2**40), Unit.BYTES) == ("TiB", ("<0.01", "1.00"))
    assert column((), Unit.NS) == ("ns", ())


def test_signs_are_shown_where_they_are_asked_for() -> None:
    values = (5_000_000, -1, 1, 0)
    assert column(values, Unit.NS, signed=True) == ("ms", ("+5.00", "-0.00", "+0.00", "0.00"))
    assert column((3, -2, 0), Unit.COUNT, signed=True) == ("", ("+3", "-2", "0"))
    assert text(0.05, Unit.SHARE, signed=True) == "+5.0 %"
