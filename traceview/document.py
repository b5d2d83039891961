"""Document: what a report is made of, before anything decides how it looks.

A report builds one; a renderer turns it into text, Markdown, HTML, JSON or CSV. Figures stay
integers of ns and bytes, each column with its unit, until a renderer asks `units` for text. `data`
is the same report for machines, as the JSON contract describes it.

What can be drawn is in a document as a Picture: typed data that says nothing of lines and colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
class Bars:
    """One bar a row: (label, figure). The figures are not negative."""

    title: str
    unit: Unit
    rows: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Waterfall:
    """From `before` to `after` by steps, (label, difference) each, which add up exactly."""

    title: str
    unit: Unit
    before: int
    rows: tuple[tuple[str, int], ...]

    @property
    def after(self) -> int:
        """What the differences lead to."""
        return self.before + sum(delta for _, delta in self.rows)


@dataclass(frozen=True, slots=True)
class Line:
    """A quantity over time, constant from one (ns, figure) to the next."""

    title: str
    unit: Unit
    points: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Dots:
    """Repeated measurements as single dots: of each series its label and its figures in order.

    A missing figure keeps its place.
    """

    title: str
    unit: Unit
    series: tuple[tuple[str, tuple[int | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Track:
    """Events on lanes on which none overlaps another, in order of their start.

    `kind` is annotation, idle, device or host. An event is (start and length in ns, lane, name,
    detail): name and detail are positions in the `texts` of the timeline.
    """

    name: str
    kind: str
    lanes: int
    events: tuple[tuple[int, int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What ran in a stretch of one recording: times count from `origin_ns` of the recording.

    `left_out` says what of the stretch is not in the tracks.
    """

    label: str
    origin_ns: int
    length_ns: int
    tracks: tuple[Track, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """What ran when: one excerpt, or several that share an axis and begin together."""

    title: str
    excerpts: tuple[Excerpt, ...]
    texts: tuple[str, ...]


Picture = Bars | Waterfall | Line | Dots | Timeline

Draw = Callable[[], Picture]
"""Makes a picture; asked only by renderers that can show one, since some take their time."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, sentences, pictures, then tables.

    What is `folded` is a detail, and shown on demand where a renderer can do so. Renderers without
    pictures leave out a section of nothing but pictures.
    """

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Draw, ...] = ()
    folded: bool = False

    @property
    def only_pictures(self) -> bool:
        """Whether nothing of it can be read as text."""
        return bool(self.pictures) and not self.lines and not self.tables


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report: the answer first (`lead`), then where it comes from, then coverage."""

    name: str
    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
