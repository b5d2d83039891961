"""Where the host waits for the GPU."""

from __future__ import annotations

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.calls import PAGEABLE_COPY
from traceview.document import Document, Section
from traceview.metrics import syncs as metric
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Trace
from traceview.units import Unit

SCHEMA = "traceview.syncs/1"


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many places text shows."""
    calls, sites = metric.syncs(trace), metric.sync_sites(trace)
    fields = {
        s.CALL: field(s.CALL, "call", stretch=True),
        s.KIND: field(s.KIND, "kind"),
        s.OP: field(s.OP, "op", stretch=True),
        s.ANNOTATION: field(s.ANNOTATION, "annotation", stretch=True),
        s.FRAME: field(s.FRAME, "Python", stretch=True),
        s.COUNT: field(s.COUNT, "count"),
        s.BLOCKED_NS: field(s.BLOCKED_NS, "blocked"),
        s.DEVICE_IDLE_NS: field(s.DEVICE_IDLE_NS, "GPU idle"),
    }
    for place in (s.OP, s.ANNOTATION, s.FRAME):
        if sites[place].isna().all():
            del fields[place]
    sections = (
        Section("By place", (), (table("sync_sites", sites, fields, limit or 15),)),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "sites": records(sites, s.SYNC_SITES.columns),
        "calls": records(calls, s.SYNC_LIST.columns),
    }
    return Document("syncs", title(trace), _lead(calls), sections, data)


def _lead(calls: pd.DataFrame) -> tuple[str, ...]:
    copies = (calls[s.KIND] == PAGEABLE_COPY).to_numpy()
    blocking, staged = calls[~copies], calls[copies]
    sentence = "No call blocks the host."
    if len(blocking):
        blocked, idle = (int(blocking[c].sum()) for c in (s.BLOCKED_NS, s.DEVICE_IDLE_NS))
        waits = f"{len(blocking):,} calls block the host for {units.text(blocked, Unit.NS)}"
        sentence = f"{waits}; the GPU was idle for {units.text(idle, Unit.NS)} of that."
    if staged.empty:
        return (sentence,)
    time = units.text(int(staged[s.BLOCKED_NS].sum()), Unit.NS)
    return (sentence, f"{len(staged):,} copies of pageable memory, which may stall: {time}.")
