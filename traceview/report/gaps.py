"""What the idle GPU waits for."""

from __future__ import annotations

from functools import partial

import pandas as pd

from traceview import schema as s
from traceview.document import Document, Draw, Section, Table
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
    """The report; `limit` is how many gaps and places text shows."""
    causes, sites, gaps = metric.idle(trace), metric.idle_sites(trace), metric.gaps(trace)
    longest = gaps.sort_values(s.DURATION_NS, ascending=False, kind="stable")
    sections = (
        Section("Idle by cause", (), (_by_cause(causes),), _drawn(causes)),
        *timeline.section(trace),
        Section("Idle by place", (), (_by_place(sites, limit or 8),)),
        Section("Longest gaps", (), (_longest(longest, limit or 8),)),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "idle": records(causes, s.IDLE.columns),
        "sites": records(sites, s.IDLE_SITES.columns),
        "gaps": records(gaps, s.GAP_LIST.columns),
        "parts": records(metric.gap_parts(trace), s.GAP_PARTS.columns),
    }
    return Document("gaps", title(trace), (_lead(trace, causes, len(gaps)),), sections, data)


def _lead(trace: Trace, causes: pd.DataFrame, count: int) -> str:
    if len(causes):
        return f"{count:,} gaps. Most idle time: {EXPLAINED[causes[s.CAUSE].iloc[0]]}."
    if trace.work.empty:
        return "No device work, so no gaps."
    return "The GPU is never idle between its first and its last work."


def _by_cause(causes: pd.DataFrame) -> Table:
    total = int(causes[s.NS].sum())
    worded = causes.assign(
        **{
            _SHARE: [ns / total for ns in causes[s.NS]],
            _MEANING: [EXPLAINED[cause] for cause in causes[s.CAUSE]],
        }
    )
    fields = {
        s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
        s.CAUSE: field(s.CAUSE, "cause"),
        s.GAPS: field(s.GAPS, "gaps"),
        s.NS: field(s.NS, "idle"),
        _SHARE: field(_SHARE, "share"),
        _MEANING: field(_MEANING, "meaning", prose=True),
    }
    return table("idle", worded, fields)


def _drawn(causes: pd.DataFrame) -> tuple[Draw, ...]:
    """A bar for each cause; nothing where there is none."""
    draw = partial(pictures.bars, "Idle time by cause", causes, s.CAUSE, s.NS)
    return (draw,) if len(causes) else ()


def _by_place(sites: pd.DataFrame, shown: int) -> Table:
    """Cause and place; the most telling name of the place is its Python frame, if recorded."""
    fields = {
        s.NS: field(s.NS, "idle"),
        s.CAUSE: field(s.CAUSE, "cause"),
        s.CALL: field(s.CALL, "call", stretch=True),
        s.OP: field(s.OP, "op", stretch=True),
        s.ANNOTATION: field(s.ANNOTATION, "annotation", stretch=True),
        s.FRAME: field(s.FRAME, "Python", stretch=True),
    }
    recorded = {
        column: look
        for column, look in fields.items()
        if column in (s.NS, s.CAUSE) or sites[column].notna().any()
    }
    return table("idle_sites", sites, recorded, shown)


def _longest(gaps: pd.DataFrame, shown: int) -> Table:
    fields = {
        s.START_NS: field(s.START_NS, "at"),
        s.DURATION_NS: field(s.DURATION_NS, "length"),
        s.CAUSE: field(s.CAUSE, "mostly"),
        s.OP: field(s.OP, "host was in", stretch=True),
        s.ENDED_BY: field(s.ENDED_BY, "ended by", stretch=True),
    }
    return table("gaps", gaps, fields, shown)
