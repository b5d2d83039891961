"""What the idle GPU waits for."""

from __future__ import annotations

from traceview import schema as s
from traceview.document import Document, Section
from traceview.metrics import gaps as metric
from traceview.report import pictures, timeline
from traceview.report.causes import EXPLAINED
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.schema import Column
from traceview.trace import Trace
from traceview.units import Unit

SCHEMA = "traceview.gaps/1"
_SHARE = Column("share", "Float64", Unit.SHARE, "share of all idle time")
_MEANING = Column("meaning", "string", Unit.TEXT, "the cause in words")


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many gaps text shows."""
    causes, gaps = metric.idle(trace), metric.gaps(trace)
    longest = gaps.sort_values(s.DURATION_NS, ascending=False, kind="stable")
    total = int(causes[s.NS].sum())
    lead = (
        (f"{len(gaps):,} gaps. Most idle time: {EXPLAINED[causes[s.CAUSE].iloc[0]]}.",)
        if total
        else ("The GPU is never idle between its first and its last work.",)
        if len(trace.work)
        else ("No device work, so no gaps.",)
    )
    by_cause = causes.assign(
        **{
            _SHARE: [ns / total for ns in causes[s.NS]],
            _MEANING: [EXPLAINED[cause] for cause in causes[s.CAUSE]],
        }
    )
    cause_fields = {
        s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
        s.CAUSE: field(s.CAUSE, "cause"),
        s.GAPS: field(s.GAPS, "gaps"),
        s.NS: field(s.NS, "idle"),
        _SHARE: field(_SHARE, "share"),
        _MEANING: field(_MEANING, "meaning", prose=True),
    }
    gap_fields = {
        s.START_NS: field(s.START_NS, "at"),
        s.DURATION_NS: field(s.DURATION_NS, "length"),
        s.CAUSE: field(s.CAUSE, "mostly"),
        s.OP: field(s.OP, "host was in", stretch=True),
        s.ENDED_BY: field(s.ENDED_BY, "ended by", stretch=True),
    }
    sections = (
        Section(
            "Idle by cause",
            (),
            (table("idle", by_cause, cause_fields),),
            (lambda: pictures.bars("Idle time by cause", causes, s.CAUSE, s.NS),) if total else (),
        ),
        *timeline.section(trace),
        Section("Longest gaps", (), (table("gaps", longest, gap_fields, limit or 12),)),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "idle": records(causes, s.IDLE.columns),
        "gaps": records(gaps, s.GAP_LIST.columns),
        "parts": records(metric.gap_parts(trace), s.GAP_PARTS.columns),
    }
    return Document("gaps", title(trace), lead, sections, data)
