"""A document's tables as CSV: raw integers, for a spreadsheet or another program.

One table keeps its shape. Several become one long table with a line a value, because a file with
two headers is no CSV.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO

from traceview.document import Document, Field, Table, Value
from traceview.render.cells import OF_THE_FIELD
from traceview.render.names import visible
from traceview.units import Unit, as_number

LONG_HEADER = ("table", "row", "column", "unit", "value")

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What makes a spreadsheet run a cell, full-width forms included.

https://owasp.org/www-community/attacks/CSV_Injection
"""

Line = Sequence[str | int | float]


def render(document: Document) -> str:
    """All rows of all tables, not only those that text shows."""
    tables = [table for section in document.sections for table in section.tables]
    lines = _wide(tables[0]) if len(tables) == 1 else _long(tables)
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()


def _wide(table: Table) -> Iterator[Line]:
    own = table.row_units is not None
    header = [_slug(field) if own else _named(field) for field in table.fields]
    yield [*header, "unit"] if own else header
    for position, row in enumerate(table.rows):
        line = [_cell(value) for value in row]
        yield line if table.row_units is None else [*line, table.row_units[position].value]


def _long(tables: Sequence[Table]) -> Iterator[Line]:
    yield LONG_HEADER
    for table in tables:
        for position, row in enumerate(table.rows):
            for field, value in zip(table.fields, row, strict=True):
                unit = _unit(table, field, position, value)
                yield table.name, position + 1, _slug(field), unit.value, _cell(value)


def _unit(table: Table, field: Field, position: int, value: Value) -> Unit:
    """The unit of one cell, which is its row's where the rows have units and it is a number."""
    if table.row_units is None or field.unit in OF_THE_FIELD or as_number(value) is None:
        return field.unit
    return table.row_units[position]


def _slug(field: Field) -> str:
    return re.sub(r"[^a-z0-9]+", "_", field.heading.lower()).strip("_")


def _named(field: Field) -> str:
    """The name of a column, with its unit where the figures would be unclear without."""
    return f"{_slug(field)}_{field.unit}" if field.unit in (Unit.NS, Unit.BYTES) else _slug(field)


def _cell(value: Value) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    number = as_number(value)
    if number is not None:
        return number
    text = str(value)
    return visible(f"'{text}" if text.startswith(_FORMULA) else text)
