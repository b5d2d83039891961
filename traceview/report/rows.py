"""Frames as rows of plain values, for tables and for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from traceview.document import Field, Table, Value
from traceview.schema import Column


def values(frame: pd.DataFrame, columns: Sequence[Column]) -> list[tuple[Value, ...]]:
    """The rows of these columns; a missing value is None, numpy scalars are Python's own."""
    plain = [_plain(frame[column]) for column in columns]
    return list(zip(*plain, strict=True))


def records(frame: pd.DataFrame, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """The rows as objects for JSON, keyed by column name."""
    return [dict(zip(map(str, columns), row, strict=True)) for row in values(frame, columns)]


def table(
    name: str,
    frame: pd.DataFrame,
    fields: Mapping[Column, Field],
    shown: int | None = None,
    *,
    adds_up: bool = False,
) -> Table:
    """A Table of some columns of a frame, under these headings."""
    rows = tuple(values(frame, list(fields)))
    return Table(name, tuple(fields.values()), rows, shown, adds_up=adds_up)


def field(column: Column, heading: str, **look: Any) -> Field:
    """A Field with the unit of its column."""
    return Field(heading, column.unit, **look)


def _plain(column: pd.Series) -> list[Value]:
    plain: list[Value] = column.astype(object).where(column.notna(), None).tolist()
    return plain
