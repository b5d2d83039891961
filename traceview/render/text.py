"""A document for the terminal: plain lines, tables set in columns, colour only where asked for."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from traceview.document import Document, Section, Table
from traceview.render.cells import cells
from traceview.render.layout import lay_out
from traceview.render.names import visible

PROSE_WIDTH = 100
"""Sentences are not set wider than this, however wide the terminal: they would be hard to read."""
INDENT = 2

TITLE, HEADING, COLUMNS, REST = "bold", "bold cyan", "dim", "dim"


def render(document: Document, *, width: int = 80, color: bool = False) -> str:
    """The document as lines of at most `width` cells; the same bytes for the same document."""
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
    )
    with console.capture() as captured:
        for line in _document(document, width):
            console.print(line, soft_wrap=True)
    return captured.get()


def _document(document: Document, width: int) -> Iterator[Text]:
    yield from _prose(document.title, width, TITLE)
    for line in document.lead:
        yield from _prose(line, width)
    for section in document.sections:
        if section.only_pictures:
            continue
        yield Text()
        yield from _section(section, width)


def _section(section: Section, width: int) -> Iterator[Text]:
    if section.title:
        yield from _prose(section.title, width, HEADING)
    for line in section.lines:
        yield from _prose(line, width)
    for position, table in enumerate(section.tables):
        if position:
            yield Text()
        yield from _table(table, width)


def _table(table: Table, width: int) -> Iterator[Text]:
    shown = cells(table)
    headings, rows = lay_out(shown.columns, width)
    yield from (Text(line, COLUMNS) for line in headings)
    yield from map(Text, rows)
    if not table.rows:
        yield Text("(none)", REST)
    if shown.more:
        yield Text(f"... and {shown.more:,} more", REST)


def _prose(sentence: str, width: int, style: str = "") -> Iterator[Text]:
    """A sentence in lines; those after the first stand further in. Its own indent is kept."""
    text = visible(sentence)
    indent = len(text) - len(text.lstrip(" "))
    lines = wrap(
        text.strip(" "),
        min(width, PROSE_WIDTH),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + INDENT),
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from (Text(line, style) for line in lines or [""])
