"""Rates of ops below what the GPU could do."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from traceview import schema as s
from traceview.peaks import Peak
from traceview.plots.canvas import INK, axes_for, figure_of, look, nothing


def roofline(frame: pd.DataFrame, peak: Peak | None, axes: Axes | None = None) -> Figure:
    """Work a second over work a byte of each op and shape; a frame as schema.ROOFLINE.

    The size of a mark is the GPU time of its op; `peak` draws the roof of each precision.
    """
    axes = axes_for(axes)
    known = frame[(frame[s.EXECUTED_RATE].notna() & (frame[s.LEAST_BYTES] > 0)).to_numpy()]
    if known.empty:
        return nothing(axes, "no op whose cost is known is recorded with its shapes")
    intensity = (known[s.EXECUTED_FLOP] / known[s.LEAST_BYTES]).to_numpy(dtype=float)
    rate = known[s.EXECUTED_RATE].to_numpy(dtype=float) / 1e12
    share = known[s.DEVICE_NS].to_numpy(dtype=float) / known[s.DEVICE_NS].max()
    for number, precision in enumerate(sorted(known[s.PRECISION].unique())):
        mine, style = (known[s.PRECISION] == precision).to_numpy(), look(number)
        axes.scatter(
            intensity[mine], rate[mine], 20 + 180 * share[mine], marker=style.marker,
            facecolors=style.color, edgecolors=INK, alpha=0.8, label=precision,
        )  # fmt: skip
        _roof(axes, peak, str(precision), intensity, style.line)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set(xlabel="intensity (FLOP/byte)", ylabel="rate (TFLOP/s)")
    axes.legend(frameon=False)
    return figure_of(axes)


def _roof(
    axes: Axes, peak: Peak | None, precision: str, intensity: NDArray[np.float64], line: str
) -> None:
    most, widest = (peak.flops(precision), peak.bytes) if peak else (None, None)
    if most and widest:
        ends = intensity.min() / 2, max(intensity.max(), most / widest) * 2
        x = np.geomspace(*ends)
        axes.plot(x, np.minimum(x * widest, most) / 1e12, color=INK, ls=line, lw=1)
