"""Which device work takes the time."""

from __future__ import annotations

from traceview import schema as s
from traceview import units
from traceview.document import Document, Section
from traceview.metrics import kernels as metric
from traceview.report import pictures
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Trace

SCHEMA = "traceview.kernels/1"


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many names text shows."""
    frame = metric.kernels(trace)
    fields = {
        s.NAME: field(s.NAME, "name", stretch=True),
        s.COUNT: field(s.COUNT, "count"),
        s.BUSY_NS: field(s.BUSY_NS, "busy"),
        s.MEDIAN_NS: field(s.MEDIAN_NS, "median"),
        s.MEAN_OCCUPANCY: field(s.MEAN_OCCUPANCY, "occupancy %"),
    }
    if frame[s.MEAN_OCCUPANCY].isna().all():
        del fields[s.MEAN_OCCUPANCY]
    total = int(frame[s.BUSY_NS].sum())
    lead = "No device work is recorded."
    if total:
        share = units.percent(int(frame[s.BUSY_NS].iloc[0]) / total)
        lead = f"{len(frame):,} names; the busiest takes {share} of the busy time."
    sections = (
        Section(
            "By name",
            ("Busy time is shared where work overlaps, so that it adds up.",),
            (table("kernels", frame, fields, limit or 20),),
            (lambda: pictures.bars("Busy time", frame, s.NAME, s.BUSY_NS),) if total else (),
        ),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "kernels": records(frame, s.KERNELS.columns),
    }
    return Document("kernels", title(trace), (lead,), sections, data)
