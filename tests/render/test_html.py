"""The page: one file that asks for nothing, holds every figure, and runs no name."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render.documents import KERNELS, LONG_NAME, QUANTITIES, REPORT, of_tables

from traceview.document import (
    Bars,
    Document,
    Dots,
    Excerpt,
    Field,
    Line,
    Picture,
    Section,
    Table,
    Timeline,
    Track,
    Waterfall,
)  # fmt: skip
from traceview.render import render
from traceview.units import Unit

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "</style><!--",
    "\x1b[31mred\u202e",
    "\"' onload=alert(1) x='",
    "{{ 7 * 7 }}",
    "half a pair \ud800",
)


class Tags(HTMLParser):
    """All start tags of a page with their attributes, and all text outside of style and script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if not self.tags or self.tags[-1][0] not in ("style", "script"):
            self.text.append(data)


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def drawn(*pictures: Picture) -> str:
    """The page of a section with these pictures."""
    makers = tuple(lambda picture=picture: picture for picture in pictures)
    return render(Document("t", "t", (), (Section("s", pictures=makers),)), "html")


def hostile(name: str) -> Document:
    """A document that says `name` wherever a name can stand."""
    track = Track(name, "device", 1, ((0, 5, 0, 1, 1),))
    pictures: tuple[Picture, ...] = (
        Bars(name, Unit.NS, ((name, 1),)),
        Waterfall(name, Unit.NS, 1, ((name, 1),)),
        Line(name, Unit.BYTES, ((0, 1), (5, 2))),
        Dots(name, Unit.NS, ((name, (1, None, 2)),)),
        Timeline(name, (Excerpt(name, 0, 5, (track,), (name,)),), ("", name)),
    )
    makers = tuple(lambda picture=picture: picture for picture in pictures)
    table = Table("names", (Field(name, stretch=True), Field("n")), ((name, 1), (name, 2)))
    return Document("t", name, (name,), (Section(name, (name,), (table,), makers),))


def test_the_page_allows_only_its_own_style_and_script() -> None:
    page = render(REPORT, "html")
    policies = [a for tag, a in parsed(page).tags if "http-equiv" in a]
    policy = str(policies[0]["content"])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    addresses = re.findall(r"(?:https?:)?//[a-z][\w.]*\.[a-z]+", page)
    assert addresses == []
    assert not [a for _, a in parsed(page).tags for key in a if key in ("src", "href", "style")]


def test_text_markdown_and_the_page_show_the_same_cells() -> None:
    page = render(of_tables(QUANTITIES), "html")
    cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", page)]
    text = render(of_tables(QUANTITIES), "text", width=200).split("\n")[4:-1]
    assert [cell for line in text for cell in re.split(r"\s{2,}", line)] == cells


def test_a_long_name_is_there_in_whole() -> None:
    page = render(of_tables(KERNELS), "html")
    assert LONG_NAME in parsed(page).text
    assert page.count("<tr id=") == 4, "all rows, not only those that text shows"
    assert page.count('class="rest"') == 1


def test_a_row_can_be_linked_to() -> None:
    page = render(of_tables(KERNELS, KERNELS), "html")
    assert 'id="kernels-gemm"' in page
    assert 'id="section"' in page


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_markup(name: str) -> None:
    usual = [tag for tag, _ in parsed(render(hostile("name"), "html")).tags]
    page = render(hostile(name), "html")
    assert [tag for tag, _ in parsed(page).tags] == usual
    assert not [a for _, a in parsed(page).tags for key in a if key.startswith("on")]
    assert page.encode()
    assert page.replace("\n", "").isprintable()


@settings(max_examples=20)
@given(st.text(st.characters() | st.sampled_from("<>&\"'/\x00\ud800{}"), min_size=1, max_size=5))
def test_no_name_adds_a_tag(name: str) -> None:
    usual = [tag for tag, _ in parsed(render(hostile("name"), "html")).tags]
    assert [tag for tag, _ in parsed(render(hostile(name), "html")).tags] == usual


def test_a_waterfall_says_what_adds_up() -> None:
    picture = Waterfall("w", Unit.NS, 4_900_000, (("matmul", -4_200_000), ("idle", -60_000)))
    assert picture.after == 640_000
    said = parsed(drawn(picture)).tags
    labels = [a["aria-label"] for tag, a in said if tag == "svg"]
    assert labels == ["w: before 4.90 ms; matmul -4.20 ms; idle -0.06 ms; after 0.64 ms"]


def test_pictures_have_text_alternatives() -> None:
    page = drawn(
        Bars("bars", Unit.NS, (("a", 2_000), ("b", 0))),
        Line("line", Unit.BYTES, ((0, 1024), (500, 4096), (900, 0))),
        Dots("dots", Unit.NS, (("before", (5, None, 7)), ("after", ()))),
    )
    labels = [a["aria-label"] for tag, a in parsed(page).tags if tag == "svg"]
    assert labels == [
        "bars: a 2.00 us; b 0.00 us",
        "line: highest 4.00 KiB at 500 ns",
        "dots: before: 2 from 5 ns to 7 ns",
    ]


def test_text_and_markdown_leave_out_what_is_only_drawn() -> None:
    def fails() -> Picture:
        raise AssertionError("nobody may ask for it")

    section = Section("Timeline", pictures=(fails,))
    for name in ("text", "markdown", "csv", "json"):
        assert "Timeline" not in render(Document("t", "t", (), (section,)), name)


def test_a_detail_is_folded() -> None:
    sections = (Section("open", ("a",)), Section("closed", ("b",), folded=True))
    page = render(Document("t", "t", (), sections), "html")
    assert '<details class="section" id="open" open>' in page
    assert '<details class="section" id="closed">' in page
