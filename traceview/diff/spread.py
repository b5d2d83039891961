"""How the steps of a recording scatter: a diagnostic, and never an error bar.

Steps of one recording are not independent samples of a program, so no verdict rests on them. But a
recording whose steps drift, or whose slowest step is far from the rest, deserves a second look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from traceview import schema as s
from traceview.diff.measure import Measured

STEADY = 0.05
"""A second half this much slower or faster than the first is a drift."""
_ENOUGH = 6
_FENCE = 3.0
"""Interquartile ranges beyond the quartiles from which a step is far off (Tukey's outer fence)."""
_COLUMNS = {
    "gpu_busy": s.BUSY_NS,
    "device_period": s.DEVICE_PERIOD_NS,
    "host_step": s.HOST_NS,
}


def spread(before: Sequence[Measured], after: Sequence[Measured]) -> pd.DataFrame:
    """One row a recording and quantity, over the steps that count; columns as schema.SPREAD."""
    rows = [
        (side, number, quantity, *figures)
        for side, recordings in (("before", before), ("after", after))
        for number, recording in enumerate(recordings)
        for quantity, figures in _figures(recording)
    ]
    return s.SPREAD.of_rows(rows)


def _figures(recording: Measured) -> Iterator[tuple[str, tuple[object, ...]]]:
    for quantity, column in _COLUMNS.items():
        steps = recording.used[column].dropna().to_numpy(dtype=np.int64)
        if steps.size:
            figures = int(steps.min()), int(np.median(steps)), int(steps.max())
            yield quantity, (steps.size, *figures, _drift(steps), _far_off(steps))


def _drift(steps: np.ndarray) -> float | None:
    """The median of the second half over that of the first, less one; None for few steps."""
    half = steps.size // 2
    if steps.size < _ENOUGH or not np.median(steps[:half]):
        return None
    return float(np.median(steps[-half:]) / np.median(steps[:half]) - 1)


def _far_off(steps: np.ndarray) -> int:
    """How many steps lie far outside the quartiles."""
    low, high = np.percentile(steps, [25, 75])
    reach = _FENCE * (high - low)
    return int(((steps < low - reach) | (steps > high + reach)).sum())
