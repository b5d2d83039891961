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
    wanted = {position: widths[position] for position in flexible}
    least = {position: _least(columns[position]) for position in flexible}
    shares = _shares(room - fixed, wanted, least)
    return [shares.get(position, natural) for position, natural in enumerate(widths)]


def _least(column: Column) -> int:
    """What a sentence needs so that it breaks between words; long names are cut anywhere."""
    words = " ".join(column.cells).split() if column.field.prose else []
    return min(max(map(cell_len, words), default=LEAST), LEGIBLE)


def _shares(room: int, wanted: Mapping[int, int], least: Mapping[int, int]) -> dict[int, int]:
    """Split `room` evenly, except that nobody gets more than wanted, or less than their least."""
    even = room // max(len(wanted), 1)
    shares = {
        position: least[position]
        for position in wanted
        if even < least[position] <= wanted[position]
    }
    room -= sum(shares.values())
    waiting = sorted(
        wanted.keys() - shares.keys(), key=lambda position: (wanted[position], position)
    )
    for number, position in zip(range(len(waiting), 0, -1), waiting, strict=True):
        shares[position] = min(wanted[position], max(room // number, LEAST))
        room -= shares[position]
    return shares


def _column_lines(column: Column, width: int) -> list[list[str]]:
    """The lines of each cell of a column."""
    if column.field.prose:
        return [_broken(cell, width, anywhere=True) for cell in column.cells]
    cells = told_apart(column.cells, width) if column.field.stretch else column.cells
    return [[cell] for cell in cells]


def _broken(text: str, width: int, *, anywhere: bool = False) -> list[str]:
    """The lines of a text; `anywhere` breaks words that are longer than a line, too."""
    return wrap(text, max(width, 1), break_long_words=anywhere, break_on_hyphens=False) or [""]


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
