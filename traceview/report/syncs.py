"""Where the host waits for the GPU."""

from __future__ import annotations

from traceview import schema as s
from traceview import units
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
        s.FRAME: field(s.FRAME, "Python", stretch=True),
        s.COUNT: field(s.COUNT, "count"),
        s.BLOCKED_NS: field(s.BLOCKED_NS, "blocked"),
        s.DEVICE_IDLE_NS: field(s.DEVICE_IDLE_NS, "GPU idle"),
    }
    if sites[s.FRAME].isna().all():
        del fields[s.FRAME]
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
    return Document("syncs", title(trace), _lead(trace), sections, data)


def _lead(trace: Trace) -> tuple[str, ...]:
    calls = metric.syncs(trace)
    if calls.empty:
        return ("No call blocks the host.",)
    blocked, idle = (int(calls[c].sum()) for c in (s.BLOCKED_NS, s.DEVICE_IDLE_NS))
    waits = f"{len(calls):,} calls block the host for {units.text(blocked, Unit.NS)}"
    return (f"{waits}; the GPU was idle for {units.text(idle, Unit.NS)} of that.",)
