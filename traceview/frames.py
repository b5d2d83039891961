"""Every frame that a recording or a snapshot gives, by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview import snapshot
from traceview.errors import UsageError
from traceview.metrics import attribution, coverage, gaps, kernels, launches, memory, utilization
from traceview.metrics import critical_path as path
from traceview.metrics import steps as stepping
from traceview.metrics import syncs as waiting
from traceview.metrics import views as supplied
from traceview.metrics.roofline import roofline
from traceview.owners import owners
from traceview.schema import Schema
from traceview.snapshot import Snapshot
from traceview.trace import Trace


def _path(trace: Trace) -> pd.DataFrame:
    return path.critical_path(trace, stepping.steps(trace))


FRAMES: dict[str, tuple[Schema, Callable[..., pd.DataFrame]]] = {
    schema.name: (schema, make)
    for schema, make in (
        (s.HOST, lambda trace: trace.host),
        (s.DEVICE, lambda trace: trace.device),
        (s.MEMORY, lambda trace: trace.memory),
        (s.DEVICES, utilization.devices),
        (s.STREAMS, utilization.streams),
        (s.STEPS, stepping.steps),
        (s.KERNELS, kernels.kernels),
        (s.GAP_LIST, gaps.gaps),
        (s.GAP_PARTS, gaps.gap_parts),
        (s.IDLE, gaps.idle),
        (s.IDLE_SITES, gaps.idle_sites),
        (s.LAUNCH_LIST, launches.launches),
        (s.LAUNCH_APIS, launches.launch_apis),
        (s.LAUNCH_OWNERS, launches.launch_owners),
        (s.QUEUE, launches.queue),
        (s.SYNC_LIST, waiting.syncs),
        (s.SYNC_SITES, waiting.sync_sites),
        (s.MEMORY_PEAKS, memory.memory_peaks),
        (s.AT_PEAK, memory.memory_at_peak),
        (s.MEMORY_TIMELINE, memory.memory_timeline),
        (s.MEMORY_STEPS, lambda trace: memory.memory_steps(trace, stepping.steps(trace))),
        (s.MEMORY_FAILURES, memory.memory_failures),
        (s.CRITICAL_PATH, _path),
        (s.CRITICAL_PARTS, lambda trace: path.critical_path_parts(_path(trace))),
        (s.CRITICAL_OPS, lambda trace: path.critical_path_ops(_path(trace))),
        (s.OWNERS, owners),
        (s.OPS, attribution.ops),
        (s.MODULES_VIEW, attribution.modules),
        (s.ANNOTATIONS, attribution.annotations),
        (s.STACKS, attribution.stacks),
        (s.FOLDED, attribution.folded),
        (s.WORK_KINDS, attribution.kinds),
        (s.OWNER_COVERAGE, attribution.owner_coverage),
        (s.ROOFLINE, roofline),
        (s.COVERAGE, coverage.coverage),
        (s.RECORDED, supplied.recorded),
        (s.VIEWS, supplied.views),
    )
}
"""Schema and metric of each frame, by the name of the schema."""


SNAPSHOT_FRAMES: dict[str, tuple[Schema, Callable[[Snapshot], pd.DataFrame]]] = {
    "snapshot_segments": (s.SNAPSHOT_SEGMENTS, lambda taken: taken.segments),
    "snapshot_blocks": (s.SNAPSHOT_BLOCKS, lambda taken: taken.blocks),
    "snapshot_events": (s.SNAPSHOT_EVENTS, lambda taken: taken.events),
    "snapshot_timeline": (s.SNAPSHOT_TIMELINE, snapshot.snapshot_timeline),
    "snapshot_peaks": (s.SNAPSHOT_PEAKS, snapshot.snapshot_peaks),
    "snapshot_at_peak": (s.SNAPSHOT_HELD, snapshot.snapshot_at_peak),
    "snapshot_alive": (s.SNAPSHOT_HELD, snapshot.snapshot_alive),
}
"""The same of a memory snapshot."""


def frame(recording: Trace | Snapshot, name: str, **options: Any) -> tuple[pd.DataFrame, Schema]:
    """The frame of this name, and its schema; `options` are those that its metric has.

    Raises UsageError that lists all names where there is none.
    """
    known = FRAMES if isinstance(recording, Trace) else SNAPSHOT_FRAMES
    if name not in known:
        raise UsageError(f"there is no frame {name!r}; the frames are {', '.join(known)}")
    if isinstance(recording, Trace):
        schema, make = FRAMES[name]
        return schema.check(make(recording, **options)), schema
    schema, take = SNAPSHOT_FRAMES[name]
    return schema.check(take(recording)), schema
