"""A table as cells of text: what the formats that people read have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traceview import units
from traceview.document import Field, Table, Value
from traceview.render.names import visible
from traceview.units import Unit

Row = tuple[Value, ...]

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
    """The columns of a table, with the rows that are shown, and how many more rows it has."""

    columns: tuple[Column, ...]
    more: int


def cells(table: Table) -> Cells:
    """The shown part of `table`, with each number in the unit that suits its column or its row."""
    shown = table.rows[: table.shown]
    columns = tuple(
        _by_row(table, position, shown)
        if table.row_units is not None and field.unit not in OF_THE_FIELD
        else _by_column(table, position, shown)
        for position, field in enumerate(table.fields)
    )
    return Cells(columns, more=len(table.rows) - len(shown))


def _by_column(table: Table, position: int, shown: Sequence[Row]) -> Column:
    """A column whose heading carries the unit of all its figures."""
    field = table.fields[position]
    family = _one_scale(table, position)
    chosen = units.scale(field.unit, (row[number] for row in shown for number in family))
    values = [row[position] for row in shown]
    texts = [units.in_column(value, field.unit, chosen, signed=field.signed) for value in values]
    heading = f"{field.heading} ({chosen.suffix})" if chosen else field.heading
    return _column(field, heading, texts, values)


def _one_scale(table: Table, position: int) -> list[int]:
    """The columns that share a scale with the one at `position`, itself among them.

    Figures that are added up or subtracted are read together; beside a delta that is what they are.
    """
    unit = table.fields[position].unit
    alike = [number for number, field in enumerate(table.fields) if field.unit is unit]
    together = table.adds_up or any(table.fields[number].signed for number in alike)
    return alike if together else [position]


def _by_row(table: Table, position: int, shown: Sequence[Row]) -> Column:
    """A column of figures that carry the units of their rows."""
    field = table.fields[position]
    values = [row[position] for row in shown]
    texts = [
        units.text(
            row[position],
            unit,
            signed=field.signed,
            preferred=_row_scale(table.fields, unit, row),
        )
        for row, unit in zip(shown, table.row_units or (), strict=False)
    ]
    return _column(field, field.heading, texts, values)


def _column(field: Field, heading: str, texts: Sequence[str], values: Sequence[Value]) -> Column:
    return Column(visible(heading), tuple(map(visible, texts)), _is_right(field, values), field)


def _row_scale(fields: Sequence[Field], unit: Unit, row: Row) -> units.Scale | None:
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
