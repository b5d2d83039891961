"""Pictures as SVG that stands in a page: static, with a text alternative, coloured by classes.

All of them are set in one narrow box, so that their letters stay legible on a telephone; a style
sheet decides on colours, for light and for dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from traceview import units
from traceview.document import Bars, Dots, Line, Waterfall
from traceview.render.names import shortened, visible
from traceview.units import Scale, Unit

WIDTH = 460
_ROW, _BAR, _FOOT = 34, 12, 4
_PLOT_HEIGHT, _EDGE, _TOP, _AXIS = 150, 78, 10, 22
_LABEL_CELLS = 50

_PICTURE = Markup(
    '<svg class="picture" viewBox="0 0 {width} {height}" role="img" aria-label="{said}">'
    "{parts}</svg>"
)
_TEXT = Markup('<text class="{kind}" x="{x}" y="{y}">{text}</text>')
_RECT = Markup('<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}"/>')
_RULE = Markup('<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
_CURVE = Markup('<path class="curve" d="{path}"/>')
_DOT = Markup('<circle class="dot {kind}" cx="{x}" cy="{y}" r="{r}"><title>{said}</title></circle>')


def bars(picture: Bars) -> Markup:
    """A bar a row, below its label and its figure."""
    most = max((figure for _, figure in picture.rows), default=0) or 1
    chosen = units.scale(picture.unit, (figure for _, figure in picture.rows))
    rows = [
        (label, _figure(figure, picture.unit, chosen), 0, _place(figure, most), "bar")
        for label, figure in picture.rows
    ]
    return _rows(picture.title, rows)


def waterfall(picture: Waterfall) -> Markup:
    """From before to after: each difference begins where the one above it ends."""
    heights = [picture.before]
    for _, delta in picture.rows:
        heights.append(heights[-1] + delta)
    low, high = min(0, *heights), max(*heights, low_width := 1)
    span = max(high - low, low_width)
    chosen = units.scale(picture.unit, heights)

    def row(label: str, start: int, end: int, kind: str, *, signed: bool = False) -> _Row:
        begin, finish = (_place(value - low, span) for value in sorted((start, end)))
        figure = end - start if signed else end
        return label, _figure(figure, picture.unit, chosen, signed=signed), begin, finish, kind

    rows = [row("before", 0, picture.before, "bar")]
    for (label, delta), start in zip(picture.rows, heights, strict=False):
        kind = "more" if delta > 0 else "less"
        rows.append(row(label, start, start + delta, kind, signed=True))
    rows.append(row("after", 0, picture.after, "bar"))
    return _rows(picture.title, rows)


def line(picture: Line) -> Markup:
    """Steps of a quantity over time, with the highest one marked."""
    times = [time for time, _ in picture.points]
    figures = [figure for _, figure in picture.points]
    plot = _Plot(picture.unit, figures, times[0], times[-1])
    path = f"M{plot.x(times[0])} {plot.y(figures[0])}" + "".join(
        f"H{plot.x(time)}V{plot.y(figure)}" for time, figure in picture.points[1:]
    )
    top = max(range(len(figures)), key=figures.__getitem__)
    peak = units.text(figures[top], picture.unit)
    when = units.text(times[top], Unit.NS)
    said = f"{picture.title}: highest {peak} at {when}"
    ends = [units.text(time, Unit.NS) for time in (times[0], times[-1])]
    at = {"x": plot.x(times[top]), "y": plot.y(figures[top])}
    mark = _DOT.format(kind="s0", r=4, said=visible(said), **at)
    return _picture(said, _PLOT_HEIGHT, [*plot.frame(ends), _CURVE.format(path=path), mark])


def dots(picture: Dots) -> Markup:
    """All single measurements, in their order, in a colour and a shape a series."""
    figures = [figure for _, series in picture.series for figure in series if figure is not None]
    longest = max((len(series) for _, series in picture.series), default=0)
    plot = _Plot(picture.unit, figures, 0, max(longest - 1, 1))
    said = "; ".join(
        f"{label}: {len(known)} from {_range(known, picture.unit)}"
        for label, series in picture.series
        for known in ([figure for figure in series if figure is not None],)
        if known
    )
    parts = [
        _DOT.format(
            kind=f"s{number}",
            x=plot.x(position),
            y=plot.y(figure),
            r=4.5 if number == 0 else 2.5,  # a dot within a ring: both can be seen
            said=f"{visible(label)} {position}: {units.text(figure, picture.unit)}",
        )
        for number, (label, series) in enumerate(picture.series)
        for position, figure in enumerate(series)
        if figure is not None
    ]
    keys = [
        _TEXT.format(kind=f"key s{number}", x=_EDGE + 130 * number, y=_PLOT_HEIGHT - 6,
                     text=f"\u25cf {shortened(visible(label), 14)}")
        for number, (label, _) in enumerate(picture.series)
    ]  # fmt: skip
    return _picture(f"{picture.title}: {said}", _PLOT_HEIGHT, [*plot.frame(()), *parts, *keys])


_Row = tuple[str, str, float, float, str]
"""Label, figure, begin and end of the bar, and its kind."""


def _rows(title: str, rows: Sequence[_Row]) -> Markup:
    said = f"{title}: " + "; ".join(f"{visible(label)} {figure}" for label, figure, *_ in rows)
    parts = [part for number, row in enumerate(rows) for part in _row(number * _ROW, row)]
    return _picture(said, len(rows) * _ROW + _FOOT, parts)


def _row(top: int, row: _Row) -> Iterator[Markup]:
    label, figure, begin, end, kind = row
    yield _TEXT.format(kind="label", x=0, y=top + 14, text=shortened(visible(label), _LABEL_CELLS))
    yield _TEXT.format(kind="figure", x=WIDTH, y=top + 14, text=figure)
    yield _RECT.format(kind="rail", x=0, y=top + 18, width=WIDTH, height=_BAR)
    width = max(round(end - begin, 2), 1)
    yield _RECT.format(kind=kind, x=min(begin, WIDTH - 1), y=top + 18, width=width, height=_BAR)


class _Plot:
    """Axes of a picture with time or order to the right and figures upwards, from zero."""

    def __init__(self, unit: Unit, figures: Iterable[int], first: int, last: int) -> None:
        self._unit, self._first, self._length = unit, first, max(last - first, 1)
        self._most = max((*figures, 1))

    def x(self, value: int) -> float:
        return round(_EDGE + (value - self._first) / self._length * (WIDTH - _EDGE - 8), 2)

    def y(self, value: int) -> float:
        height = _PLOT_HEIGHT - _TOP - _AXIS
        return round(_TOP + height * (1 - value / self._most), 2)

    def frame(self, ends: Sequence[str]) -> Iterator[Markup]:
        """Three rules with their figures, and what stands at both ends below."""
        for value in (0, self._most // 2, self._most):
            at = self.y(value)
            yield _RULE.format(kind="grid", x1=_EDGE, y1=at, x2=WIDTH, y2=at)
            text = _figure(value, self._unit, units.scale(self._unit, (self._most,)))
            yield _TEXT.format(kind="figure", x=_EDGE - 6, y=at + 4, text=text)
        for kind, at, text in zip(("label", "figure"), (_EDGE, WIDTH), ends, strict=False):
            yield _TEXT.format(kind=kind, x=at, y=_PLOT_HEIGHT - 6, text=text)


def _place(value: int, most: int) -> float:
    return round(value / most * WIDTH, 2)


def _figure(value: int, unit: Unit, chosen: Scale | None, *, signed: bool = False) -> str:
    return units.text(value, unit, signed=signed, preferred=chosen)


def _range(figures: Sequence[int], unit: Unit) -> str:
    return f"{units.text(min(figures), unit)} to {units.text(max(figures), unit)}"


def _picture(said: str, height: int, parts: Sequence[Markup]) -> Markup:
    return _PICTURE.format(
        width=WIDTH, height=height, said=visible(said), parts=Markup().join(parts)
    )
