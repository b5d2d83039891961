"""How long a step is, and which steps count."""

from __future__ import annotations

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Dots, Section
from traceview.metrics import steps as metric
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.report.summary import excluded_lines, spread
from traceview.trace import Trace
from traceview.units import Unit

SCHEMA = "traceview.steps/1"


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many steps text shows."""
    frame = metric.steps(trace)
    used = frame[frame[s.EXCLUDED].isna()]
    fields = {
        s.STEP: field(s.STEP, "step", stretch=True),
        s.HOST_NS: field(s.HOST_NS, "host"),
        s.DEVICE_PERIOD_NS: field(s.DEVICE_PERIOD_NS, "device period"),
        s.BUSY_NS: field(s.BUSY_NS, "GPU busy"),
        s.DEVICE_EVENTS: field(s.DEVICE_EVENTS, "work"),
        s.EXCLUDED: field(s.EXCLUDED, "not counted"),
    }
    lead = "No steps: record with a schedule, or annotate what repeats."
    if len(used):
        lead = f"A step takes {units.text(int(used[s.HOST_NS].median()), Unit.NS)} on the host"
        period = used[s.DEVICE_PERIOD_NS].dropna()
        if len(period):
            lead += f" and {units.text(int(period.median()), Unit.NS)} on the device"
        lead += f" (medians of {len(used)} of {len(frame)} steps)."
    sections = (
        Section("Spread", tuple(excluded_lines(frame)), (spread(used),)),
        Section(
            "Steps",
            (),
            (table("steps", frame, fields, limit or 30),),
            (lambda: _dots(frame),) if len(frame) else (),
        ),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "steps": records(frame, s.STEPS.columns),
    }
    return Document("steps", title(trace), (lead,), sections, data)


def _dots(frame: pd.DataFrame) -> Dots:
    """The host's part and the device period of each step, in order."""
    columns = (("host", s.HOST_NS), ("device period", s.DEVICE_PERIOD_NS))
    series = tuple(
        (name, tuple(None if pd.isna(ns) else int(ns) for ns in frame[column]))
        for name, column in columns
    )
    return Dots("Each step in its order", Unit.NS, series)
