"""Names from a file nobody knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from traceview.render.names import shortened, told_apart, visible


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("aten::mm", "aten::mm"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("two\nlines\tand\rmore", r"two\nlines\tand\rmore"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("half a pair \ud800", r"half a pair \ud800"),
        ("\u6838\u5fc3", "\u6838\u5fc3"),
    ],
)
def test_what_has_no_shape_is_escaped(name: str, shown: str) -> None:
    assert visible(name) == shown


def test_both_ends_of_a_long_name_stay() -> None:
    assert shortened("void kernel<float, 4>(int, float*)", 20) == "void kernel<...oat*)"


@given(st.text(), st.integers(1, 40))
def test_a_shortened_name_fits(name: str, width: int) -> None:
    name = visible(name)
    short = shortened(name, width)
    assert cell_len(short) <= width
    assert short == name or cell_len(name) > width


@given(st.text())
def test_a_visible_name_is_printable_and_stays_so(name: str) -> None:
    assert visible(name).isprintable()
    assert visible(visible(name)) == visible(name)


def test_names_that_differ_in_the_middle_show_where() -> None:
    names = [f"void elementwise<4, {kind}Functor<float>, array<char*, 3ul> >" for kind in "ab"]
    assert told_apart([*names, "gemm", names[0]], 32) == [
        "void eleme...aFunctor<float>,...",
        "void eleme...bFunctor<float>,...",
        "gemm",
        "void eleme...aFunctor<float>,...",
    ]


@given(st.lists(st.text("ab\u6838", min_size=15)), st.integers(12, 20))
def test_told_apart_names_fit(names: list[str], width: int) -> None:
    assert all(cell_len(short) <= width for short in told_apart(names, width))
