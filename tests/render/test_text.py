"""Text: the same bytes every time, within the width, numbers whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render.documents import KERNELS, LONG_NAME, QUANTITIES, REPORT, of_tables
from rich.cells import cell_len

from traceview.document import Document, Field, Section, Table
from traceview.render import render
from traceview.units import Unit

GOLDEN_80 = """\
before -> after
FASTER ON THE GPU: busy time a step 4.87 ms -> 0.63 ms (x0.13).
A sentence that is long enough to be broken into two lines at a width of eighty
  cells.

a step
a step            before     after       delta   ratio  verdict
GPU busy         4.87 ms   0.63 ms    -4.24 ms   x0.13  faster
launches              21         6         -15   x0.29  fewer
peak allocated  2.16 GiB  2.16 GiB  +512 bytes  x1.000  more memory
sync stall             -         -           -       -  cannot tell

Kernels
Each instant is shared equally.
kernel                                      count  busy (ms)   share  delta (ms)
void at::native::vectorize...char*, 3ul>)  12,000       4.87  75.0 %       -4.24
gemm                                            3       1.23  20.0 %       +1.00
tiny                                            1      <0.01   5.0 %        0.00
... and 1 more
"""


def test_the_whole_report_at_80() -> None:
    assert render(REPORT, "text", width=80) == GOLDEN_80


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_stay_within_the_width_and_have_no_trailing_blanks(width: int) -> None:
    lines = render(of_tables(KERNELS), "text", width=width).split("\n")
    assert [line for line in lines if cell_len(line) > width or line != line.rstrip()] == []


def test_a_wide_terminal_shows_the_whole_name() -> None:
    assert LONG_NAME in render(of_tables(KERNELS), "text", width=300)


@pytest.mark.parametrize("width", [20, 60, 80])
def test_numbers_are_never_cut(width: int) -> None:
    text = render(of_tables(KERNELS, QUANTITIES), "text", width=width)
    for figure in ("12,000", "4.87", "+1.00", "2.16 GiB", "+512 bytes", "x1.000"):
        assert figure in text


def test_a_table_without_rows_says_so() -> None:
    table = Table("empty", (Field("kernel"), Field("busy", Unit.NS)), ())
    assert render(of_tables(table), "text").endswith("\n(none)\n")


def test_sentences_in_cells_are_wrapped_and_not_cut() -> None:
    meaning = "what a column means is said in words and all of them are needed"
    table = Table("columns", (Field("column"), Field("meaning", prose=True)), (("a", meaning),))
    text = render(of_tables(table), "text", width=30)
    assert " ".join(text.split()).endswith(meaning)
    assert max(map(len, text.split("\n"))) <= 30


def test_headings_break_before_names_are_shortened() -> None:
    fields = (Field("name", stretch=True), Field("median launch latency", Unit.NS))
    table = Table("t", fields, (("a_name_of_twenty_four_c", 5),))
    assert render(of_tables(table), "text", width=34).split("\n")[3:-1] == [
        "                          median",
        "                          launch",
        "                         latency",
        "name                        (ns)",
        "a_name_of_twenty_four_c        5",
    ]


def test_figures_that_are_subtracted_have_one_unit() -> None:
    fields = (
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("delta", Unit.NS, signed=True),
        Field("bytes", Unit.BYTES),
    )
    table = Table("t", fields, ((4_870_000, 630_000, -4_240_000, 1),))
    assert render(of_tables(table), "text").split("\n")[3:5] == [
        "before (ms)  after (ms)  delta (ms)  bytes (bytes)",
        "       4.87        0.63       -4.24              1",
    ]


def test_figures_that_add_up_have_one_unit() -> None:
    fields = (Field("window", Unit.NS), Field("busy", Unit.NS), Field("events", Unit.COUNT))
    rows = ((113_260_000, 717_610, 487),)
    alone = render(of_tables(Table("t", fields, rows)), "text")
    together = render(of_tables(Table("t", fields, rows, adds_up=True)), "text")
    assert alone.split("\n")[4].split() == ["113.26", "717.61", "487"]
    assert together.split("\n")[4].split() == ["113.26", "0.72", "487"]


def test_colour_changes_no_letter() -> None:
    plain, colored = render(REPORT, "text"), render(REPORT, "text", color=True)
    assert "\x1b[1m" in colored
    assert "\x1b" not in plain
    assert "".join(part.partition("m")[2] for part in ("m" + colored).split("\x1b[")) == plain


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "NO_COLOR", "COLUMNS", "TERM"])
def test_the_environment_has_no_say(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, colored = render(REPORT, "text"), render(REPORT, "text", color=True)
    monkeypatch.setenv(variable, "33")
    assert render(REPORT, "text") == plain
    assert render(REPORT, "text", color=True) == colored


HOSTILE = st.text(st.characters() | st.sampled_from("\x1b\n\t\u202e|`<=[]\ud800\u6838"))


@given(HOSTILE, st.sampled_from([60, 80, 120]))
def test_a_name_cannot_leave_its_cell(name: str, width: int) -> None:
    fields = (Field(name, stretch=True), Field("busy", Unit.NS))
    table = Table("t", fields, ((name, 1), ("next", 2)))
    document = Document("t", name, (name,), (Section(name, (name,), (table,)),))
    lines = render(document, "text", width=width).split("\n")
    assert all(line.isprintable() for line in lines)
    assert lines[-2].split() == ["next", "2"]


def test_nothing_at_all_is_shown_as_nothing() -> None:
    table = Table("t", (Field("", prose=True), Field("")), (("", ""),))
    assert render(of_tables(table), "text").split("\n")[3:] == ["", "", ""]
    assert render(Document("t", "", (), ()), "text") == "\n"


@pytest.mark.parametrize("width", [60, 70, 80, 100])
def test_columns_of_sentences_stay_under_their_headings(width: int) -> None:
    fields = tuple(Field(name, prose=True) for name in ("change", "effect", "verdict"))
    row = ("backend: naive -> flash", "ratio(device_period) x0.13 " + "y" * 50, "cannot tell yet")
    table = Table("tried", (Field("experiment"), *fields), (("attention-inplace-mask", *row),))
    lines = render(of_tables(table), "text", width=width).splitlines()
    heading = next(line for line in lines if line.startswith("experiment"))
    for begin in (heading.index("effect"), heading.index("verdict")):
        assert {line[begin - 1] for line in lines[lines.index(heading) :] if line[begin:]} == {" "}
