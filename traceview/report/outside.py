"""Timings that were taken without the profiler, beside those of the trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from traceview import units
from traceview.diff.measure import Measured, typical
from traceview.document import Field, Section, Table, Value
from traceview.units import Unit

AGREES = 0.02
"""Share by which the device's time in the trace may differ from that outside of the profiler."""


def section(sides: Sequence[tuple[str, Sequence[Measured]]]) -> Iterator[Section]:
    """Timings outside the profiler beside those of the trace, a row a side; none if not stored."""
    rows: list[tuple[Value, ...]] = []
    lines = []
    for name, side in sides:
        event, wall = outside_ns(side)
        if event is None and wall is None:
            continue
        quantity = "gpu_busy" if _queued(side) else "device_period"
        figures = [v for v in (typical(r, quantity) for r in side) if v is not None]
        traced = int(median(figures)) if figures else None
        rows.append((name, event, wall, traced))
        if event and traced:
            lines.append(_agreement(name, quantity, traced / event - 1))
    if rows:
        fields = (Field("a step"), Field("CUDA events", Unit.NS), Field("wall", Unit.NS),
                  Field("in the trace", Unit.NS))  # fmt: skip
        table = Table("outside", fields, tuple(rows), row_units=(Unit.NS,) * len(rows))
        yield Section("Outside the profiler, in the same process", tuple(lines), (table,))


def data(side: Sequence[Measured]) -> dict[str, Any]:
    """The same for machines."""
    event, wall = outside_ns(side)
    return {"event_ns": event, "wall_ns": wall}


def outside_ns(side: Sequence[Measured]) -> tuple[int | None, int | None]:
    """Median CUDA-event time and wall time of a step outside the profiler, ns."""
    stored = [told.outside for told in (recording.declared for recording in side) if told]
    event = [ns for outside in stored for ns in outside.event_ns]
    wall = [ns for outside in stored for ns in outside.wall_ns]
    return int(median(event)) if event else None, int(median(wall)) if wall else None


def _queued(side: Sequence[Measured]) -> bool:
    """Whether the events were timed with the GPU's queue kept full: then they are busy time."""
    told = [recording.declared for recording in side]
    return all(workload is not None and workload.outside.queued for workload in told)


def _agreement(name: str, quantity: str, difference: float) -> str:
    if abs(difference) <= AGREES:
        return f"{name}: the trace agrees within {units.percent(abs(difference))}."
    longer = "longer" if difference > 0 else "shorter"
    what = {"gpu_busy": "GPU busy time", "device_period": "device period"}[quantity]
    share = units.percent(abs(difference))
    return f"{name}: the {what} in the trace is {share} {longer} than outside of the profiler."
