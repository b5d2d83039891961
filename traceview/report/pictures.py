"""Frames as pictures of a document: what is drawn beside a table, from the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from traceview.document import Bars, Line, Waterfall
from traceview.kernel_names import short
from traceview.schema import Column
from traceview.units import Unit

MOST_BARS = 10
OTHERS = "all others"
_POINTS = 1_000


def bars(title: str, frame: pd.DataFrame, label: Column, figure: Column) -> Bars:
    """The largest rows of a frame, and one bar for all others."""
    sums: dict[str, int] = {}
    for name, value in zip(frame[label], frame[figure], strict=True):
        sums[short(str(name))] = sums.get(short(str(name)), 0) + int(value)
    rows = sorted(sums.items(), key=lambda row: -row[1])
    rest = sum(value for _, value in rows[MOST_BARS:])
    shown = rows[:MOST_BARS] + ([(OTHERS, rest)] if rest else [])
    return Bars(title, figure.unit, tuple(shown))


def waterfall(title: str, before: int, rows: Sequence[tuple[str, int]]) -> Waterfall:
    """The largest differences, and one step for all others, so that they still add up."""
    rest = sum(delta for _, delta in rows[MOST_BARS:])
    shown = (*rows[:MOST_BARS], *([(OTHERS, rest)] if rest else []))
    return Waterfall(title, Unit.NS, before, shown)


def line(title: str, frame: pd.DataFrame, time: Column, figure: Column) -> Line:
    """A quantity over time; of many points the lowest and the highest of each stretch stay."""
    known = frame[frame[figure].notna().to_numpy()]
    times = known[time].to_numpy(dtype=np.int64)
    figures = known[figure].to_numpy(dtype=np.int64)
    kept = np.arange(times.size)
    if times.size > 2 * _POINTS:
        edges = np.linspace(0, times.size, _POINTS + 1).astype(np.int64)
        stretches = list(pairwise(edges))
        low = [a + int(figures[a:b].argmin()) for a, b in stretches]
        high = [a + int(figures[a:b].argmax()) for a, b in stretches]
        kept = np.unique([0, *low, *high, times.size - 1])
    points = zip(times[kept].tolist(), figures[kept].tolist(), strict=True)
    return Line(title, figure.unit, tuple(points))
