"""The door to all formats."""

import csv
from io import StringIO

import pytest
from render.documents import KERNELS, REPORT, of_tables

from traceview.errors import UsageError
from traceview.render import ENDINGS, format_of, render


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'; the formats are text, markdown, html"):
        render(REPORT, "pdf")


@pytest.mark.parametrize("format_name", ENDINGS)
def test_every_format_ends_with_one_newline(format_name: str) -> None:
    rendered = render(REPORT, format_name)
    assert rendered.endswith("\n")
    assert not rendered.endswith("\n\n")


@pytest.mark.parametrize("name", ENDINGS)
def test_the_ending_names_the_format(name: str) -> None:
    assert format_of(f"/a.b/report{ENDINGS[name].upper()}") == name


def test_an_ending_that_names_no_format() -> None:
    with pytest.raises(UsageError, match=r"report\.docx: the ending names no format"):
        format_of("report.docx")


def test_text_and_markdown_show_the_numbers_that_csv_holds() -> None:
    rows = list(csv.DictReader(StringIO(render(of_tables(KERNELS), "csv"))))
    text = render(of_tables(KERNELS), "text").split("\n")[4:7]
    markdown = render(of_tables(KERNELS), "markdown").split("\n")[6:9]
    for row, text_line, markdown_line in zip(rows, text, markdown, strict=False):
        figures = text_line.split()[-5:]
        assert figures == markdown_line.replace("|", "").replace("&lt;", "<").split()[-5:]
        assert int(figures[0].replace(",", "")) == int(row["count"])
        if not figures[1].startswith("<"):
            assert float(figures[1]) == round(int(row["busy_ns"]) / 1e6, 2)
        assert float(figures[-1]) == round(int(row["delta_ns"]) / 1e6, 2)
