"""What a file is, what reading it met, and which views it supplies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Field, Section, Table, Value
from traceview.metrics.views import NO, PARTLY, YES, recorded, views
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Metadata, Trace
from traceview.units import Unit

SCHEMA = "traceview.doctor/1"
_DECODERS = {
    "native": "native code",
    "python": "Python, several times slower: the native code was not built",
}


def document(trace: Trace) -> Document:
    """The report."""
    supplied, events = views(trace), recorded(trace)
    facts = tuple(_facts(trace.metadata))
    event_fields = {
        s.CATEGORY: field(s.CATEGORY, "category"),
        s.ENTRIES: field(s.ENTRIES, "events"),
        s.COVERED_NS: field(s.COVERED_NS, "time in any"),
    }
    view_fields = {
        s.VIEW: field(s.VIEW, "view"),
        s.AVAILABLE: field(s.AVAILABLE, "there"),
        s.LACKS: field(s.LACKS, "lacks", prose=True),
        s.SUPPLY: field(s.SUPPLY, "record it with", prose=True),
    }
    sections = (
        Section("What it is", (), (Table("file", (Field(""), Field("", prose=True)), facts),)),
        Section("What it holds", tuple(_linked(trace)), (table("recorded", events, event_fields),)),
        coverage_section(trace),
        Section("What it supplies", (), (table("views", supplied, view_fields),)),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "file": {str(name).replace(" ", "_"): value for name, value in facts},
        "recorded": records(events, s.RECORDED.columns),
        "views": records(supplied, s.VIEWS.columns),
    }
    return Document("doctor", title(trace), tuple(_lead(trace, supplied)), sections, data)


def _lead(trace: Trace, supplied: pd.DataFrame) -> Iterator[str]:
    metadata = trace.metadata
    count = sum(metadata.events.values())
    lost = [
        f"{number:,} {what}"
        for number, what in ((metadata.dropped, "left out"), (metadata.repaired, "repaired"))
        if number
    ]
    yield f"{count:,} events" + (f", {' and '.join(lost)}." if lost else ", all of them read.")
    for state, words in ((YES, "Can be computed"), (PARTLY, "In part"), (NO, "Cannot be")):
        names = supplied[supplied[s.AVAILABLE] == state][s.VIEW].unique()
        if len(names):
            yield f"{words}: {', '.join(map(str, names))}."


def _facts(metadata: Metadata) -> Iterator[tuple[Value, Value]]:
    dialect = next((note.text for note in metadata.notes if note.code == "dialect"), None)
    yield "file", PurePath(metadata.path).name if metadata.path else None
    yield "recorder", dialect or "PyTorch profiler (Kineto)"
    yield "torch", metadata.torch_version or "not stated; `traceview capture` stores it"
    for name, version in metadata.versions.items():
        yield name.replace("_", " "), version
    for name, enabled in metadata.options.items():
        yield name, "on" if enabled else "off"
    if not metadata.options:
        yield "options", "none stated"
    yield "devices", ", ".join(metadata.device_names) or "none named"
    if metadata.rank is not None:
        yield "rank", str(metadata.rank)
    if metadata.base_time_ns is not None:
        begin = (metadata.base_time_ns + metadata.origin_ns) // 10**9
        yield "begins", f"{datetime.fromtimestamp(begin, UTC):%Y-%m-%d %H:%M:%S} UTC"
    yield "resolution", units.text(metadata.resolution_ns, Unit.NS)
    phases = (f"{count:,} {phase}" for phase, count in sorted(metadata.events.items()))
    yield "entries by phase", ", ".join(phases) or "none"
    if metadata.decoder in _DECODERS:
        yield "read by", _DECODERS[metadata.decoder]


def _linked(trace: Trace) -> Iterator[str]:
    work = trace.work
    if work.empty:
        return
    linked = work[s.LAUNCH].notna()
    time = work[s.DURATION_NS]
    share = units.percent(time[linked].sum() / max(time.sum(), 1))
    count = f"{int(linked.sum()):,} of {len(work):,} pieces of device work"
    yield f"{count} have their launch in the file, {share} of their time."
