"""What the launches cost the host, and how long work waits after its launch."""

from __future__ import annotations

from traceview import schema as s
from traceview import units
from traceview.document import Document, Field, Section, Table, Value
from traceview.metrics import launches as metric
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Trace
from traceview.units import Unit

SCHEMA = "traceview.launches/1"
_QUANTILES = (("least", 0.0), ("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("most", 1.0))


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many calls text shows."""
    calls, apis = metric.launches(trace), metric.launch_apis(trace)
    api_fields = {
        s.CALL: field(s.CALL, "launch call", stretch=True),
        s.COUNT: field(s.COUNT, "count"),
        s.HOST_NS: field(s.HOST_NS, "host time"),
        s.BACK_PRESSURE_NS: field(s.BACK_PRESSURE_NS, "back-pressure"),
        s.MEDIAN_LATENCY_NS: field(s.MEDIAN_LATENCY_NS, "median latency"),
    }
    call_fields = {
        s.NAME: field(s.NAME, "longest calls", stretch=True),
        s.START_NS: field(s.START_NS, "at"),
        s.DURATION_NS: field(s.DURATION_NS, "host time"),
        s.DEVICE_EVENTS: field(s.DEVICE_EVENTS, "work"),
        s.LATENCY_NS: field(s.LATENCY_NS, "latency"),
        s.QUEUE_DEPTH: field(s.QUEUE_DEPTH, "queue"),
    }
    longest = calls.sort_values(s.DURATION_NS, ascending=False, kind="stable")
    sections = (
        Section("By call", (), (table("launch_apis", apis, api_fields),)),
        Section("Distribution", (), (_distribution(trace),)),
        Section(
            "Single calls", (), (table("launches", longest, call_fields, limit or 8),), folded=True
        ),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "apis": records(apis, s.LAUNCH_APIS.columns),
        "launches": records(calls, s.LAUNCH_LIST.columns),
    }
    return Document("launches", title(trace), (_lead(trace),), sections, data)


def _lead(trace: Trace) -> str:
    calls = metric.launches(trace)
    if calls.empty:
        return "No launch calls are recorded."
    time, pressed = (int(calls[c].sum()) for c in (s.DURATION_NS, s.BACK_PRESSURE_NS))
    work = int(calls[s.DEVICE_EVENTS].sum())
    text = f"{len(calls):,} calls launch {work:,} pieces of device work"
    text += f" and take {units.text(time, Unit.NS)} of host time"
    if pressed:
        text += f", {units.text(pressed, Unit.NS)} of it back-pressure: the GPU's queue was full"
    return f"{text}."


def _distribution(trace: Trace) -> Table:
    calls = metric.launches(trace)
    rows: list[tuple[Value, ...]] = []
    for name, column in (("host time of a call", s.DURATION_NS), ("latency", s.LATENCY_NS)):
        known = calls[column].dropna().astype("int64")
        if len(known):
            quantiles = known.quantile([q for _, q in _QUANTILES], interpolation="lower")
            rows.append((name, *(int(value) for value in quantiles)))
    fields = (Field("a call"), *(Field(name, Unit.NS) for name, _ in _QUANTILES))
    return Table("distribution", fields, tuple(rows), row_units=(Unit.NS,) * len(rows))
