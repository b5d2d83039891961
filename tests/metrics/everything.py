"""Every metric by its name."""

from collections.abc import Callable

import pandas as pd

import traceview
from traceview.trace import Trace

METRICS: dict[str, Callable[[Trace], pd.DataFrame]] = {
    "coverage": traceview.coverage,
    "devices": traceview.devices,
    "gap_parts": traceview.gap_parts,
    "gaps": traceview.gaps,
    "idle": traceview.idle,
    "kernels": traceview.kernels,
    "launch_apis": traceview.launch_apis,
    "launches": traceview.launches,
    "memory_at_peak": traceview.memory_at_peak,
    "memory_peaks": traceview.memory_peaks,
    "steps": traceview.steps,
    "streams": traceview.streams,
    "sync_sites": traceview.sync_sites,
    "syncs": traceview.syncs,
}


def figures(trace: Trace) -> dict[str, pd.DataFrame]:
    """The frames of all metrics."""
    return {name: metric(trace) for name, metric in METRICS.items()}
