"""A document as one page of HTML that needs nothing else: no network, no fonts, no other file.

A Content-Security-Policy forbids all that the page does not bring along; its own style and script
are allowed by their digests. Everything can be read without the script, which sorts and filters
tables and draws the timeline. Names from a trace pass autoescape, whatever they hold.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from traceview import units
from traceview.document import (
    Bars,
    Document,
    Dots,
    Draw,
    Excerpt,
    Line,
    Section,
    Table,
    Timeline,
    Track,
    Value,
    Waterfall,
)  # fmt: skip
from traceview.render import svg
from traceview.render.cells import Cells, Column, cells
from traceview.render.names import shortened, visible
from traceview.units import Unit

MOST_ROWS = 500
"""Rows of a table in the page: nobody reads more, and JSON and CSV have them all."""
NAME_CELLS = 72
"""Longer names are folded behind their begin and end."""
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none';"
    " form-action 'none'"
)


def render(document: Document) -> str:
    """The page; the same bytes for the same document."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = _POLICY.format(script=_digest(script), style=_digest(style))
    sections = [_section(section) for section in document.sections]
    page = _environment().get_template("page.html.j2")
    return page.render(
        title=visible(document.title),
        lead=[visible(line) for line in document.lead],
        sections=_with_anchors(sections),
        policy=policy,
        style=Markup(style),  # noqa: S704 -- the project's own
        script=Markup(script),  # noqa: S704 -- the project's own
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """What a cell shows, the whole name where it shows less, and the raw figure to sort by.

    `kind` is number, long or nothing, for the style sheet.
    """

    text: str
    whole: str
    figure: int | float | None
    kind: str


@dataclass(frozen=True, slots=True)
class _Row:
    anchor: str
    first_look: bool
    cells: tuple[_Cell, ...]


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table as the template sets it."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[_Row, ...]
    more: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A section as the template sets it; `pictures` are (title, SVG or None, timeline or None)."""

    title: str
    lines: tuple[str, ...]
    tables: tuple[_Grid, ...]
    pictures: tuple[dict[str, Any], ...]
    folded: bool


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("traceview.render", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _asset(name: str) -> str:
    return resources.files("traceview.render").joinpath("page", name).read_text("utf-8")


def _digest(text: str) -> str:
    """The text as a Content-Security-Policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _with_anchors(parts: Sequence[_Part]) -> Iterator[tuple[str, _Part]]:
    """The sections with the names by which a link finds them."""
    taken: Counter[str] = Counter()
    for part in parts:
        yield _unique(_slug(part.title) or "section", taken), part


def _section(section: Section) -> _Part:
    return _Part(
        visible(section.title),
        tuple(visible(line) for line in section.lines),
        tuple(_grid(table) for table in section.tables),
        tuple(_picture(draw) for draw in section.pictures),
        section.folded,
    )


def _grid(table: Table) -> _Grid:
    kept = table.rows[:MOST_ROWS]
    shown: Cells = cells(replace(table, shown=len(kept)))
    texts = zip(*(column.cells for column in shown.columns), strict=True)
    taken: Counter[str] = Counter()
    first_look = len(kept) if table.shown is None else table.shown
    rows = [
        _Row(
            _unique(f"{_slug(table.name)}-{_key(row)}", taken),
            number < first_look,
            tuple(map(_cell, shown.columns, line, row)),
        )
        for number, (row, line) in enumerate(zip(kept, texts, strict=True))
    ]
    return _Grid(table.name, shown.columns, tuple(rows), shown.more)


def _cell(column: Column, text: str, value: Value) -> _Cell:
    """A cell; a long name is shown by its begin and its end, with the whole of it at hand."""
    short = shortened(text, NAME_CELLS) if column.field.stretch else text
    long = column.field.prose or len(text) > NAME_CELLS // 2
    kind = "number" if column.right else "long" if long else ""
    return _Cell(short, text if short != text else "", units.as_number(value), kind)


def _key(row: Sequence[Value]) -> str:
    """What a link to a row is made of: its first value, so that it holds from run to run."""
    first = next((value for value in row if value not in (None, "")), "")
    text = str(first)
    slug = _slug(text)[:40]
    return slug if slug == text else f"{slug}-{zlib.crc32(text.encode(errors='replace')):08x}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _unique(name: str, taken: Counter[str]) -> str:
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


def _picture(draw: Draw) -> dict[str, Any]:
    picture = draw()
    drawn: dict[str, Any] = {"title": visible(picture.title), "svg": None, "timeline": None}
    match picture:
        case Bars():
            drawn["svg"] = svg.bars(picture)
        case Waterfall():
            drawn["svg"] = svg.waterfall(picture)
        case Line():
            drawn["svg"] = svg.line(picture)
        case Dots():
            drawn["svg"] = svg.dots(picture)
        case Timeline():
            drawn["timeline"] = _timeline(picture)
    return drawn


def _timeline(picture: Timeline) -> dict[str, Any]:
    """What the script draws, and what can be read of it without a script."""
    return {
        "data": {
            "texts": [visible(text) for text in picture.texts],
            "excerpts": [_excerpt(excerpt) for excerpt in picture.excerpts],
        },
        "said": [_said(excerpt) for excerpt in picture.excerpts],
    }


def _excerpt(excerpt: Excerpt) -> dict[str, Any]:
    return {
        "label": visible(excerpt.label),
        "origin": excerpt.origin_ns,
        "length": excerpt.length_ns,
        "tracks": [
            {
                "name": visible(track.name),
                "kind": track.kind,
                "lanes": track.lanes,
                "events": list(_flat(track)),
            }
            for track in excerpt.tracks
        ],
    }


def _flat(track: Track) -> Iterator[int]:
    """All events one after the other, each start as the distance from the one before."""
    before = 0
    for start, *others in track.events:
        yield start - before
        yield from others
        before = start


def _said(excerpt: Excerpt) -> str:
    tracks = ", ".join(f"{track.name} ({len(track.events):,})" for track in excerpt.tracks)
    length = units.text(excerpt.length_ns, Unit.NS)
    left_out = " ".join(f"Left out: {line}." for line in excerpt.left_out)
    said = f"{excerpt.label}: {length}; events on {tracks or 'no track'}. {left_out}"
    return visible(said.strip())
