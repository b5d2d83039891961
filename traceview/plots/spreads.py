"""How durations spread: lengths of gaps, latencies of launches. Their axes are logarithmic."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from traceview import schema as s
from traceview.plots.canvas import INK, Measure, Sides, axes_for, figure_of, legend, look, nothing
from traceview.schema import Column
from traceview.units import Unit

BINS_A_DECADE = 8


def gap_lengths(sides: Sides, axes: Axes | None = None) -> Figure:
    """How many gaps are how long; frames as schema.GAP_LIST."""
    return _histogram(sides, s.DURATION_NS, "length of a gap", "gaps", axes_for(axes))


def launch_latency(sides: Sides, axes: Axes | None = None) -> Figure:
    """How long work waits after its launch; frames as schema.LAUNCH_LIST."""
    return _histogram(sides, s.LATENCY_NS, "launch latency", "launches", axes_for(axes))


def _histogram(sides: Sides, column: Column, what: str, counted: str, axes: Axes) -> Figure:
    """Bins of equal width on a logarithmic axis; figures of no length stand in the first."""
    known = {label: _figures(frame, column) for label, frame in sides.items()}
    every = np.concatenate([*known.values(), np.empty(0)])
    if every.size == 0:
        return nothing(axes, f"no {counted} are recorded")
    low, high = np.log10(every.min()), np.log10(every.max() + 1)
    bins = np.logspace(low, high, max(int((high - low) * BINS_A_DECADE), 1) + 1)
    measure = Measure.of(Unit.NS, [int(np.median(every))])
    for number, (label, figures) in enumerate(known.items()):
        style = look(number)
        edges = measure.values(bins)
        axes.hist(measure.values(figures), edges.tolist(), label=label, color=style.color,
                  hatch=style.hatch, edgecolor=INK, alpha=1 if number == 0 else 0.7)  # fmt: skip
    axes.set_xscale("log")
    axes.set(xlabel=measure.label(what), ylabel=f"{counted} (count)")
    legend(axes, sides)
    return figure_of(axes)


def _figures(frame: pd.DataFrame, column: Column) -> NDArray[np.int64]:
    known = frame[column].dropna().to_numpy(dtype=np.int64)
    return np.asarray(np.maximum(known, 1))
