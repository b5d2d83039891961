"""Every metric by its name."""

from collections.abc import Callable

import pandas as pd

import traceview
from traceview import schema as s
from traceview.trace import Trace

METRICS: dict[str, Callable[[Trace], pd.DataFrame]] = {
    "annotations": traceview.annotations,
    "coverage": traceview.coverage,
    "critical_path": traceview.critical_path,
    "devices": traceview.devices,
    "folded": traceview.folded,
    "gap_parts": traceview.gap_parts,
    "gaps": traceview.gaps,
    "idle": traceview.idle,
    "kernels": traceview.kernels,
    "kinds": traceview.kinds,
    "launch_apis": traceview.launch_apis,
    "launch_owners": traceview.launch_owners,
    "launches": traceview.launches,
    "memory_at_peak": traceview.memory_at_peak,
    "memory_failures": traceview.memory_failures,
    "memory_peaks": traceview.memory_peaks,
    "memory_timeline": traceview.memory_timeline,
    "modules": traceview.modules,
    "ops": traceview.ops,
    "owner_coverage": traceview.owner_coverage,
    "owners": traceview.owners,
    "queue": traceview.queue,
    "recorded": traceview.recorded,
    "roofline": traceview.roofline,
    "stacks": traceview.stacks,
    "steps": traceview.steps,
    "streams": traceview.streams,
    "sync_sites": traceview.sync_sites,
    "syncs": traceview.syncs,
    "views": traceview.views,
}


def noted(trace: Trace, code: str) -> tuple[object, object]:
    """How many events and how long the one note of this code is about."""
    notes = traceview.coverage(trace)
    (row,) = notes[notes[s.CODE] == code].to_dict("records")
    return row[s.NOTE_COUNT], row[s.NOTE_NS]


def figures(trace: Trace) -> dict[str, pd.DataFrame]:
    """The frames of all metrics."""
    return {name: metric(trace) for name, metric in METRICS.items()}
