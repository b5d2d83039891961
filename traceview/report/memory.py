"""How high the memory peaks, and what is alive there."""

from __future__ import annotations

from traceview import schema as s
from traceview import units
from traceview.document import Document, Section
from traceview.metrics import memory as metric
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Trace
from traceview.units import Unit

SCHEMA = "traceview.memory/1"


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many owners text shows."""
    peaks, held = metric.memory_peaks(trace), metric.memory_at_peak(trace)
    peak_fields = {
        s.DEVICE_TYPE: field(s.DEVICE_TYPE, "type"),
        s.MEMORY_DEVICE: field(s.MEMORY_DEVICE, "device"),
        s.PEAK_ALLOCATED: field(s.PEAK_ALLOCATED, "peak"),
        s.BASELINE: field(s.BASELINE, "before recording"),
        s.PEAK_RESERVED: field(s.PEAK_RESERVED, "reserved"),
        s.PEAK_AT_NS: field(s.PEAK_AT_NS, "at"),
        s.EVENTS: field(s.EVENTS, "events"),
    }
    held_fields = {
        s.DEVICE_TYPE: field(s.DEVICE_TYPE, "type"),
        s.MEMORY_DEVICE: field(s.MEMORY_DEVICE, "device"),
        s.GROUP: field(s.GROUP, "owner", stretch=True),
        s.HELD: field(s.HELD, "held"),
    }
    sections = (
        Section("Peaks", ("Type 0 is the CPU, 1 CUDA, 6 HIP.",),
                (table("memory_peaks", peaks, peak_fields),)),
        Section("Alive at the peak", (),
                (table("memory_at_peak", held, held_fields, limit or 20),)),
        coverage_section(trace),
    )  # fmt: skip
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "peaks": records(peaks, s.MEMORY_PEAKS.columns),
        "at_peak": records(held, s.AT_PEAK.columns),
    }
    return Document("memory", title(trace), _lead(trace), sections, data)


def _lead(trace: Trace) -> tuple[str, ...]:
    peaks = metric.memory_peaks(trace)
    if peaks.empty:
        return ("No memory events: record with profile_memory=True.",)
    top = peaks.sort_values(s.DEVICE_TYPE, kind="stable").iloc[-1]
    text = units.text(int(top[s.PEAK_ALLOCATED]), Unit.BYTES)
    held = metric.memory_at_peak(trace)
    mine = held[
        (held[s.DEVICE_TYPE] == top[s.DEVICE_TYPE])
        & (held[s.MEMORY_DEVICE] == top[s.MEMORY_DEVICE])
    ]
    owner = mine.iloc[0]
    most = f"{units.text(int(owner[s.HELD]), Unit.BYTES)} {owner[s.GROUP]}"
    return (f"Peak allocated {text}; the largest part of it: {most}.",)
