"""Amounts beside each other: idle time by cause, kernels by time, where a difference comes from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from traceview import schema as s
from traceview.kernel_names import short
from traceview.plots.canvas import (
    INK,
    LOOKS,
    Measure,
    Sides,
    axes_for,
    figure_of,
    legend,
    look,
    nothing,
    shown,
)  # fmt: skip
from traceview.schema import Column
from traceview.units import Unit

MOST = 12
OTHERS = "all others"


def idle_by_cause(sides: Sides, axes: Axes | None = None) -> Figure:
    """Idle time of each cause; frames as schema.IDLE."""
    return _bars(sides, s.CAUSE, s.NS, "idle", axes_for(axes))


def kernels(sides: Sides, axes: Axes | None = None) -> Figure:
    """Busy time of the kernels that take most of it; frames as schema.KERNELS."""
    return _bars(sides, s.NAME, s.BUSY_NS, "busy", axes_for(axes))


def waterfall(
    attribution: pd.DataFrame, before_ns: int, axes: Axes | None = None, *, most: int = MOST
) -> Figure:
    """The steps from the device period before to that after; a frame as schema.ATTRIBUTION.

    Rows beyond the largest are one step, so that the steps add up exactly.
    """
    axes = axes_for(axes)
    parts = zip(attribution[s.PART], attribution[s.PATH], strict=True)
    names = [f"idle: {path}" if part == "idle" else str(path) for part, path in parts]
    deltas = attribution[s.DELTA_NS].tolist()
    order = sorted(range(len(deltas)), key=lambda i: -abs(deltas[i]))
    steps = [(names[i], deltas[i]) for i in order[:most]]
    rest = sum(deltas) - sum(delta for _, delta in steps)
    steps += [(OTHERS, rest)] if rest else []
    return _waterfall(before_ns, steps, axes)


def _waterfall(before: int, steps: Sequence[tuple[str, int]], axes: Axes) -> Figure:
    heights = before + np.concatenate([[0], np.cumsum([delta for _, delta in steps], dtype=int)])
    after = int(heights[-1])
    measure = Measure.of(Unit.NS, heights)
    rows = [("before", 0, before, LOOKS[0])]
    rows += [
        (name, int(start), delta, LOOKS[2] if delta > 0 else LOOKS[1])
        for (name, delta), start in zip(steps, heights, strict=False)
    ]
    rows.append(("after", 0, after, LOOKS[0]))
    for place, (name, start, length, style) in enumerate(rows):
        left, width = measure.values([min(start, start + length), abs(length)])
        axes.barh(place, width, left=left, color=style.color, hatch=style.hatch, edgecolor=INK)
        text = measure.text(length, signed=name not in ("before", "after"))
        axes.annotate(text, (left + width, place), (4, 0), textcoords="offset points",
                      va="center", fontsize="small")  # fmt: skip
    return _named(axes, [name for name, *_ in rows], measure.label("device period, a step"))


def _bars(sides: Sides, name: Column, figure: Column, what: str, axes: Axes) -> Figure:
    """A bar a name and side, the largest names on top; kernels of one short name are one."""
    tables = {
        label: frame.groupby(frame[name].astype("str").map(short))[figure].sum()
        for label, frame in sides.items()
    }
    table = pd.DataFrame(tables).fillna(0).astype("int64")
    if table.empty:
        return nothing(axes, f"nothing is {what}")
    order = table.max(axis=1).sort_values(ascending=False, kind="stable").index
    rest = table.loc[order[MOST:]].sum()
    table = table.loc[order[:MOST]]
    if rest.any():
        table.loc[OTHERS] = rest
    measure = Measure.of(figure.unit, table.to_numpy().ravel().tolist())
    height = 0.8 / len(tables)
    for number, label in enumerate(tables):
        style = look(number)
        axes.barh(np.arange(len(table)) + (number - (len(tables) - 1) / 2) * height,
                  measure.values(table[label]), height, label=label, color=style.color,
                  hatch=style.hatch, edgecolor=INK)  # fmt: skip
    legend(axes, sides)
    return _named(axes, [str(row) for row in table.index], measure.label(what))


def _named(axes: Axes, names: Sequence[str], label: str) -> Figure:
    axes.set_yticks(range(len(names)), [shown(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.margins(x=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    return figure_of(axes)
