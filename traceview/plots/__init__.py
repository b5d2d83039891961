"""Figures for a paper or a talk: each takes frames, draws on given Axes, and returns the Figure.

    steps, idle_by_cause, gap_lengths, launch_latency, queue_depth, kernels    one side or several
    waterfall                                      where the difference of two sides comes from
    memory                                         allocated over time, with the peak's owners
    roofline                                       rates of ops below what the GPU could do

Sides are a mapping from label to frame, in order. They differ in lightness, hatching and marker, so
that they can be told apart in grey and by every eye; every axis has its unit. matplotlib is loaded
with this package, and no window system with it: a figure is drawn in memory.
"""

from __future__ import annotations

from traceview.plots.amounts import idle_by_cause, kernels, waterfall
from traceview.plots.over_time import memory, queue_depth, steps
from traceview.plots.rates import roofline
from traceview.plots.spreads import gap_lengths, launch_latency

__all__ = [
    "gap_lengths",
    "idle_by_cause",
    "kernels",
    "launch_latency",
    "memory",
    "queue_depth",
    "roofline",
    "steps",
    "waterfall",
]
