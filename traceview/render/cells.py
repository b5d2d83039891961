"""A table as cells of text: what the formats that people read have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traceview import units
from traceview.document import Field, Table, Value
from traceview.render.names import visible
from traceview.units import Unit

OF_THE_FIELD = frozenset({Unit.RATIO, Unit.SHARE, Unit.ID, Unit.FLAG})
"""Units that a column keeps where the rows have units of their own."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table in words: its heading, the cells below it, and how they are set."""

    heading: str
    cells: tuple[str, ...]
    right: bool
    field: Field


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a table that are shown, and how many more it has."""

    columns: tuple[Column, ...]
    more: int

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))


def cells(table: Table) -> Cells:
    """The shown part of `table`, with each number in the unit that suits its column or its row."""
    shown = table.rows[: table.shown]
    columns = tuple(
        _column(table, field, [row[position] for row in shown], shown)
        for position, field in enumerate(table.fields)
    )
    return Cells(columns, more=len(table.rows) - len(shown))


def _column(
    table: Table, field: Field, values: Sequence[Value], shown: Sequence[tuple[Value, ...]]
) -> Column:
    if table.row_units is None or field.unit in OF_THE_FIELD:
        suffix, texts = units.column(values, field.unit, signed=field.signed)
    else:
        suffix = ""
        texts = tuple(
            units.text(
                value, unit, signed=field.signed, preferred=_row_scale(table.fields, unit, row)
            )
            for value, unit, row in zip(values, table.row_units, shown, strict=False)
        )
    heading = f"{field.heading} ({suffix})" if suffix else field.heading
    return Column(visible(heading), tuple(map(visible, texts)), _is_right(field, values), field)


def _row_scale(fields: Sequence[Field], unit: Unit, row: Sequence[Value]) -> units.Scale | None:
    figures = (
        value for field, value in zip(fields, row, strict=True) if field.unit not in OF_THE_FIELD
    )
    return units.scale(unit, figures)


def _is_right(field: Field, values: Sequence[Value]) -> bool:
    """Whether the column holds figures, which are set right so that their digits line up."""
    if field.unit not in (Unit.TEXT, Unit.FLAG):
        return True
    present = [value for value in values if value is not None]
    return bool(present) and all(units.as_number(value) is not None for value in present)
