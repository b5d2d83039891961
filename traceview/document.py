"""Document: what a report is made of, before anything decides how it looks.

A report builds one; a renderer turns it into text, Markdown, JSON or CSV. Figures stay integers of
ns and bytes, each column with its unit, until a renderer asks `units` for text. `data` is the same
report for machines, as the JSON contract describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traceview.units import Unit

Value = int | float | str | bool | None
"""What a cell holds; None is a missing value and is shown as `-`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a Table: its heading and the unit of its figures.

    `signed` figures always show their sign (a delta). `stretch` columns hold long names, which are
    shortened in the middle to fit; `prose` columns hold sentences, which are wrapped.
    """

    heading: str
    unit: Unit = Unit.TEXT
    signed: bool = False
    stretch: bool = False
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values under fields; `name` is how CSV and tests call it.

    Text and Markdown show the first `shown` rows (all for None) and say how many more there are;
    CSV has them all.

    `row_units` is for a table whose rows differ in unit, one unit a row: the numbers of a row are
    then shown in the row's unit, each with its suffix. Columns of ratios, shares, ids and flags
    keep the unit of their field.

    `adds_up` is for a table whose columns add up to each other: figures of one unit are then shown
    in one scale throughout. Otherwise each column has the scale that suits it, except that figures
    beside a signed column of their unit share its scale.
    """

    name: str
    fields: tuple[Field, ...]
    rows: tuple[tuple[Value, ...], ...]
    shown: int | None = None
    row_units: tuple[Unit, ...] | None = None
    adds_up: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, sentences, then tables. Its details may be folded where a renderer can fold."""

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report: the answer first (`lead`), then where it comes from, then coverage."""

    name: str
    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
