"""A document as GitHub-flavoured Markdown, for a pull request or a wiki."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from traceview.document import Document, Section, Table
from traceview.render.cells import Column, cells
from traceview.render.names import told_apart, visible

NAME_WIDTH = 100
"""Longer names are shortened: a table with whole template arguments cannot be read."""

_SPECIAL = re.compile(r"^#|[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def render(document: Document) -> str:
    """The document with its title as the first heading; every name in it stands for itself."""
    return "\n\n".join(_blocks(document)) + "\n"


def _blocks(document: Document) -> Iterator[str]:
    yield f"# {_escaped(document.title)}"
    yield from map(_escaped, document.lead)
    for section in document.sections:
        if section.only_pictures:
            continue
        yield from _folded(section) if section.folded else _section(section)


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"## {_escaped(section.title)}"
    yield from _body(section)


def _folded(section: Section) -> Iterator[str]:
    """A detail behind its title; the blank lines around make what is inside Markdown again."""
    title = html.escape(visible(section.title or "Details"))
    yield f"<details>\n<summary>{title}</summary>"
    yield from _body(section)
    yield "</details>"


def _body(section: Section) -> Iterator[str]:
    yield from map(_escaped, section.lines)
    for table in section.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    shown = cells(table)
    columns = shown.columns
    lines = [
        [_escaped(column.heading) for column in columns],
        ["---:" if column.right else "---" for column in columns],
        *zip(*map(_cells, columns), strict=True),
    ]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if shown.more:
        yield f"... and {shown.more:,} more"


def _cells(column: Column) -> list[str]:
    cells = told_apart(column.cells, NAME_WIDTH) if column.field.stretch else column.cells
    return list(map(_escaped, cells))


def _escaped(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    marked = _SPECIAL.sub(lambda found: "\\" + found.group(), visible(text.strip()))
    return marked.translate(_ENTITIES)
