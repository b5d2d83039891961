"""How wide the columns of a table are set, and the lines that come of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap

from rich.cells import cell_len, set_cell_size

from traceview.render.cells import Column
from traceview.render.names import told_apart

GAP = "  "
LEGIBLE, LEAST = 24, 12
"""What a long name or a sentence should have, and has even where the table gets too wide."""


def lay_out(columns: Sequence[Column], width: int) -> tuple[list[str], list[str]]:
    """The lines of the headings and the lines of the rows, without trailing blanks.

    Numbers are never cut: where all else is given away and they still do not fit, lines are longer
    than `width`.
    """
    widths = _widths(columns, width)
    headings = [_broken(column.heading, size) for column, size in zip(columns, widths, strict=True)]
    tallest = max((len(lines) for lines in headings), default=0)
    at_the_foot = [[""] * (tallest - len(lines)) + lines for lines in headings]
    body = [
        line
        for row in zip(*map(_column_lines, columns, widths), strict=True)
        for line in _lines(columns, widths, row)
    ]
    return list(_lines(columns, widths, at_the_foot)), body


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """As wide as the cells; where that is too much, long names give way, and headings break.

    Headings stay in one line as long as that leaves every long name a legible part.
    """
    room = width - len(GAP) * (len(columns) - 1)
    bodies = [max(map(cell_len, column.cells), default=0) for column in columns]
    whole = [cell_len(column.heading) for column in columns]
    widths = list(map(max, bodies, whole))
    if sum(widths) <= room:
        return widths
    flexible = [
        position
        for position, column in enumerate(columns)
        if column.field.stretch or column.field.prose
    ]
    fixed = sum(widths) - sum(widths[position] for position in flexible)
    if room - fixed < sum(min(widths[position], LEGIBLE) for position in flexible):
        words = [max(map(cell_len, column.heading.split()), default=0) for column in columns]
        widths = list(map(max, bodies, words))
        fixed = sum(widths) - sum(widths[position] for position in flexible)
    shares = _shares(room - fixed, {position: widths[position] for position in flexible})
    return [shares.get(position, natural) for position, natural in enumerate(widths)]


def _shares(room: int, wanted: Mapping[int, int]) -> dict[int, int]:
    """Split `room` evenly, except that nobody gets more than wanted."""
    shares: dict[int, int] = {}
    for waiting, position in zip(
        range(len(wanted), 0, -1), sorted(wanted, key=wanted.__getitem__), strict=True
    ):
        shares[position] = min(wanted[position], max(room // waiting, LEAST))
        room -= shares[position]
    return shares


def _column_lines(column: Column, width: int) -> list[list[str]]:
    """The lines of each cell of a column."""
    if column.field.prose:
        return [_broken(cell, width) for cell in column.cells]
    cells = told_apart(column.cells, width) if column.field.stretch else column.cells
    return [[cell] for cell in cells]


def _broken(text: str, width: int) -> list[str]:
    return wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]


def _lines(
    columns: Sequence[Column], widths: Sequence[int], row: Sequence[Sequence[str]]
) -> Iterator[str]:
    """One row, whose cells may have several lines each."""
    for parts in zip_longest(*row, fillvalue=""):
        set_parts = (
            _set(part, size, right=column.right)
            for column, size, part in zip(columns, widths, parts, strict=True)
        )
        yield GAP.join(set_parts).rstrip()


def _set(text: str, width: int, *, right: bool) -> str:
    """`text` with the blanks that make it `width` cells wide."""
    if cell_len(text) >= width:
        return text
    return " " * (width - cell_len(text)) + text if right else set_cell_size(text, width)
