"""What all figures share: where they are drawn, how sides look, and one scale for an axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from traceview import units
from traceview.kernel_names import short
from traceview.units import Scale, Unit

Sides = Mapping[str, pd.DataFrame]
"""A frame of each side, by its label, in order."""
LONGEST_LABEL = 44
INK = "#20262d"


@dataclass(frozen=True, slots=True)
class Look:
    """How a side is drawn: dark against light, smooth against hatched, a marker of its own."""

    color: str
    hatch: str
    marker: str
    line: str


LOOKS = (
    Look("#9cc3e6", "", "o", "-"),
    Look("#0b4f8a", "//", "s", "--"),
    Look("#e2a04a", "..", "^", "-."),
    Look("#8a3b12", "xx", "D", ":"),
)


def axes_for(axes: Axes | None) -> Axes:
    """The given Axes, or those of a figure of their own."""
    if axes is not None:
        return axes
    return Figure(figsize=(7.2, 4.2), layout="constrained").add_subplot()


def figure_of(axes: Axes) -> Figure:
    """The figure that Axes stand in, which is what every plot returns."""
    return axes.get_figure(root=True)  # type: ignore[return-value]  # Axes always stand in one


def look(number: int) -> Look:
    """The look of the side of this number."""
    return LOOKS[number % len(LOOKS)]


@dataclass(frozen=True, slots=True)
class Measure:
    """One scale for all figures of an axis."""

    unit: Unit
    scale: Scale | None

    @classmethod
    def of(cls, unit: Unit, figures: Iterable[object]) -> Measure:
        """The scale in which these figures are best read."""
        return cls(unit, units.scale(unit, figures))

    def values(self, figures: ArrayLike) -> NDArray[np.float64]:
        """The figures in this scale."""
        return np.asarray(figures, dtype=np.float64) / (self.scale.divisor if self.scale else 1)

    def label(self, what: str) -> str:
        """What an axis is called, with its unit."""
        return f"{what} ({self.scale.suffix if self.scale else self.unit.value})"

    def text(self, figure: int, *, signed: bool = False) -> str:
        """One figure with its unit."""
        return units.text(figure, self.unit, signed=signed, preferred=self.scale)


def shown(name: str) -> str:
    """A name that fits beside an axis, and that matplotlib does not take for a formula."""
    text = short(name)
    if len(text) > LONGEST_LABEL:
        text = f"{text[:30]}...{text[-11:]}"
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable.replace("$", r"\$")


def nothing(axes: Axes, what: str) -> Figure:
    """A figure that says that there is nothing to draw."""
    axes.text(0.5, 0.5, what, ha="center", va="center", transform=axes.transAxes, color=INK)
    axes.set_axis_off()
    return figure_of(axes)


def legend(axes: Axes, sides: Sides) -> None:
    """Names of the sides, where there are several."""
    if len(sides) > 1:
        axes.legend(frameon=False)
