"""What the launches cost the host, and how long work waits after its launch."""

from __future__ import annotations

import numpy as np
import pandas as pd

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

_OWNERS = {
    s.OP: field(s.OP, "op", stretch=True),
    s.LAUNCH_ANNOTATIONS: field(s.LAUNCH_ANNOTATIONS, "annotation", stretch=True),
    s.COUNT: field(s.COUNT, "count"),
    s.HOST_NS: field(s.HOST_NS, "host time"),
    s.WORK_NS: field(s.WORK_NS, "GPU time"),
    s.SHORTER: field(s.SHORTER, "shorter"),
    s.MEDIAN_LATENCY_NS: field(s.MEDIAN_LATENCY_NS, "median latency"),
}


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many calls text shows."""
    calls, apis, owners = (
        metric.launches(trace),
        metric.launch_apis(trace),
        metric.launch_owners(trace),
    )
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
        Section("By owner", _brief(calls), (table("launch_owners", owners, _OWNERS, limit or 8),)),
        Section("Distribution", _depth(calls), (_distribution(calls),)),
        Section(
            "Single calls", (), (table("launches", longest, call_fields, limit or 8),), folded=True
        ),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "apis": records(apis, s.LAUNCH_APIS.columns),
        "owners": records(owners, s.LAUNCH_OWNERS.columns),
        "launches": records(calls, s.LAUNCH_LIST.columns),
    }
    return Document("launches", title(trace), (_lead(calls),), sections, data)


def _lead(calls: pd.DataFrame) -> str:
    if calls.empty:
        return "No launch calls are recorded."
    time, pressed = (int(calls[c].sum()) for c in (s.DURATION_NS, s.BACK_PRESSURE_NS))
    work = int(calls[s.DEVICE_EVENTS].sum())
    text = f"{len(calls):,} calls launch {work:,} pieces of device work"
    text += f" and take {units.text(time, Unit.NS)} of host time"
    if pressed:
        text += f", {units.text(pressed, Unit.NS)} of it back-pressure: the GPU's queue was full"
    return f"{text}."


def _brief(calls: pd.DataFrame) -> tuple[str, ...]:
    """How many calls outlast what they launch, in a sentence."""
    brief = metric.shorter_than_their_launch(calls)
    if not brief.any():
        return ()
    text = f"{units.percent(float(brief.mean()))} of the calls outlast the work that they launch: "
    return (text + "fewer and larger kernels, or a graph, would cost the host less.",)


def _depth(calls: pd.DataFrame) -> tuple[str, ...]:
    """How full the queue was when the calls were made, in a sentence."""
    if calls.empty:
        return ()
    depth = calls[s.QUEUE_DEPTH].to_numpy()
    text = (
        f"{units.percent(float((depth == 0).mean()))} of the calls met an empty queue; before the"
    )
    text += f" median call {int(np.median(depth)):,} pieces of work were waiting, at most"
    return (f"{text} {int(depth.max()):,}.",)


def _distribution(calls: pd.DataFrame) -> Table:
    rows: list[tuple[Value, ...]] = []
    for name, column in (("host time of a call", s.DURATION_NS), ("latency", s.LATENCY_NS)):
        known = calls[column].dropna().astype("int64")
        if len(known):
            quantiles = known.quantile([q for _, q in _QUANTILES], interpolation="lower")
            rows.append((name, *(int(value) for value in quantiles)))
    fields = (Field("a call"), *(Field(name, Unit.NS) for name, _ in _QUANTILES))
    return Table("distribution", fields, tuple(rows), row_units=(Unit.NS,) * len(rows))
