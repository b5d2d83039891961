"""CSV: raw integers, all rows, and nothing that a spreadsheet would run."""

import csv
from io import StringIO

import pytest
from render.documents import KERNELS, LONG_NAME, QUANTITIES, REPORT, of_tables

from traceview.document import Field, Table
from traceview.render import render
from traceview.units import Unit


def lines(text: str) -> list[list[str]]:
    """What another program reads."""
    return list(csv.reader(StringIO(text)))


def test_one_table_keeps_its_shape() -> None:
    assert lines(render(of_tables(KERNELS), "csv")) == [
        ["kernel", "count", "busy_ns", "share", "delta_ns"],
        [LONG_NAME, "12000", "4870000", "0.75", "-4240000"],
        ["gemm", "3", "1230500", "0.2", "1000000"],
        ["tiny", "1", "900", "0.05", "0"],
        ["unseen", "1", "800", "0.0", ""],
    ]


def test_rows_of_different_units_name_them() -> None:
    read = lines(render(of_tables(QUANTITIES), "csv"))
    assert read[0] == ["a_step", "before", "after", "delta", "ratio", "verdict", "unit"]
    assert [line[-1] for line in read[1:]] == ["ns", "count", "bytes", "ns"]


def test_several_tables_become_one_long_table() -> None:
    read = lines(render(REPORT, "csv"))
    assert read[0] == ["table", "row", "column", "unit", "value"]
    assert ["quantities", "2", "before", "count", "21"] in read
    assert ["quantities", "3", "ratio", "ratio", "1.0000002"] in read
    assert ["quantities", "1", "verdict", "text", "faster"] in read
    assert ["kernels", "4", "busy", "ns", "800"] in read
    assert len(read) == 1 + 4 * 6 + 4 * 5


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@sum", "'@sum"),
        ("\tx", r"'\tx"),
        ("\rx", r"'\rx"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        ('say "x", y', 'say "x", y'),
        ("a\nb", r"a\nb"),
    ],
)
def test_text_is_never_a_formula(name: str, written: str) -> None:
    table = Table("t", (Field("name"), Field("delta", Unit.NS)), ((name, -1),))
    assert lines(render(of_tables(table), "csv"))[1] == [written, "-1"]
