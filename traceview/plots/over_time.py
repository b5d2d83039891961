"""What changes over time: steps, the queue, memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from traceview import schema as s
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

OWNERS = 6


def steps(sides: Sides, axes: Axes | None = None, *, column: Column = s.DEVICE_PERIOD_NS) -> Figure:
    """Every step of each side as a point, its median as a line; frames as schema.STEPS.

    Steps that do not count are hollow.
    """
    axes = axes_for(axes)
    known = {label: frame[frame[column].notna()] for label, frame in sides.items()}
    measure = Measure.of(column.unit, [ns for frame in known.values() for ns in frame[column]])
    if not any(len(frame) for frame in known.values()):
        return nothing(axes, "no steps are recorded")
    for number, (label, frame) in enumerate(known.items()):
        style, counts = look(number), frame[s.EXCLUDED].isna().to_numpy()
        figures = measure.values(frame[column].to_numpy(dtype=np.int64))
        for used, face in ((True, style.color), (False, "none")):
            axes.scatter(frame.index[counts == used], figures[counts == used], marker=style.marker,
                         facecolors=face, edgecolors=INK if used else style.color,
                         label=label if used else None)  # fmt: skip
        if counts.any():
            axes.axhline(float(np.median(figures[counts])), color=style.color, ls=style.line)
    what = column.removesuffix("_ns").replace("_", " ")
    axes.set(xlabel="step (number)", ylabel=measure.label(what))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    legend(axes, sides)
    return figure_of(axes)


def queue_depth(sides: Sides, axes: Axes | None = None) -> Figure:
    """Work that was launched and had not begun, at each launch; frames as schema.LAUNCH_LIST."""
    axes = axes_for(axes)
    if not any(len(frame) for frame in sides.values()):
        return nothing(axes, "no launches are recorded")
    last = [ns for frame in sides.values() for ns in frame[s.START_NS].tail(1)]
    measure = Measure.of(Unit.NS, last)
    for number, (label, frame) in enumerate(sides.items()):
        style = look(number)
        axes.plot(measure.values(frame[s.START_NS]), frame[s.QUEUE_DEPTH], drawstyle="steps-post",
                  color=style.color, ls=style.line, label=label, lw=1)  # fmt: skip
    axes.set(xlabel=measure.label("time"), ylabel="queue depth (launches)")
    axes.set_ylim(bottom=0)
    legend(axes, sides)
    return figure_of(axes)


def memory(timeline: pd.DataFrame, at_peak: pd.DataFrame, axes: Axes | None = None) -> Figure:
    """Allocated and reserved bytes, and who holds most at the peak.

    Frames as schema.MEMORY_TIMELINE and schema.AT_PEAK, of one memory device: that of most bytes is
    drawn where there are several.
    """
    axes = axes_for(axes)
    if timeline[s.ALLOCATED].notna().sum() == 0:
        return nothing(axes, "no memory events are recorded")
    device = [s.DEVICE_TYPE, s.MEMORY_DEVICE]
    fullest = _fullest(timeline)[device]
    mine, held = (frame[(frame[device] == fullest).all(axis=1).to_numpy()]
                  for frame in (timeline, at_peak))  # fmt: skip
    time = Measure.of(Unit.NS, mine[s.TIME_NS].tail(1))
    size = Measure.of(Unit.BYTES, mine[[s.ALLOCATED, s.RESERVED]].max().dropna())
    for column, style in ((s.RESERVED, LOOKS[1]), (s.ALLOCATED, LOOKS[0])):
        known = mine[mine[column].notna().to_numpy()]
        x, y = (known[c].to_numpy(dtype=np.int64) for c in (s.TIME_NS, column))
        axes.plot(time.values(x), size.values(y), drawstyle="steps-post", color=style.color,
                  ls=style.line, label=column.removesuffix("_bytes"))  # fmt: skip
    _mark_peak(axes, mine, held, time, size)
    axes.set(xlabel=time.label("time"), ylabel=size.label("memory"))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.16), ncols=2)
    return figure_of(axes)


def _fullest(timeline: pd.DataFrame) -> pd.Series:
    """The row after which most is allocated."""
    allocated = timeline[s.ALLOCATED].to_numpy(dtype=np.int64, na_value=-1)
    return timeline.iloc[int(allocated.argmax())]


def _mark_peak(
    axes: Axes, mine: pd.DataFrame, held: pd.DataFrame, time: Measure, size: Measure
) -> None:
    top = _fullest(mine)
    at, peak = int(top[s.TIME_NS]), int(top[s.ALLOCATED])
    axes.plot(time.values(at), size.values(peak), "o", color=INK)
    lines = [f"peak {size.text(peak)}"]
    lines += [f"{size.text(int(row[s.HELD]))}  {shown(str(row[s.GROUP]))}"
              for _, row in held.head(OWNERS).iterrows()]  # fmt: skip
    axes.set_title("\n".join(lines), loc="left", fontsize="small")
