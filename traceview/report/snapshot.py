"""What a memory snapshot of torch tells: how high the memory got, who holds it, what is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Section
from traceview.report.rows import field, records, table, values
from traceview.snapshot import (
    Snapshot,
    snapshot_alive,
    snapshot_at_peak,
    snapshot_notes,
    snapshot_peaks,
    snapshot_timeline,
)
from traceview.units import Unit

SCHEMA = "traceview.snapshot/1"


def document(snapshot: Snapshot, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many places text shows."""
    peaks, notes = snapshot_peaks(snapshot), snapshot_notes(snapshot)
    at_peak, alive = snapshot_at_peak(snapshot), snapshot_alive(snapshot)
    peak_fields = {
        s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
        s.PEAK_ALLOCATED: field(s.PEAK_ALLOCATED, "peak"),
        s.PEAK_AT_NS: field(s.PEAK_AT_NS, "at"),
        s.BASELINE: field(s.BASELINE, "before"),
        s.PEAK_RESERVED: field(s.PEAK_RESERVED, "reserved"),
        s.ALLOCATED_NOW: field(s.ALLOCATED_NOW, "at the snapshot"),
        s.EVENTS: field(s.EVENTS, "events"),
        s.OUT_OF_MEMORY: field(s.OUT_OF_MEMORY, "failed"),
    }
    held_fields = {
        s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
        s.SITE: field(s.SITE, "allocated by", stretch=True),
        s.HELD: field(s.HELD, "held"),
    }
    sections = (
        Section("Peaks", (), (table("snapshot_peaks", peaks, peak_fields),)),
        *(
            Section(name, (), (table(key, frame, held_fields, limit or 12),))
            for name, key, frame in (
                ("Alive at the peak", "snapshot_at_peak", at_peak),
                ("Alive at the snapshot", "snapshot_alive", alive),
            )
            if len(frame)
        ),
        Section("Coverage", tuple(_coverage(snapshot, notes))),
    )
    data = {
        "schema": SCHEMA,
        "path": snapshot.path,
        "peaks": records(peaks, s.SNAPSHOT_PEAKS.columns),
        "at_peak": records(at_peak, s.SNAPSHOT_HELD.columns),
        "alive": records(alive, s.SNAPSHOT_HELD.columns),
        "segments": records(snapshot.segments, s.SNAPSHOT_SEGMENTS.columns),
        "timeline": records(snapshot_timeline(snapshot), s.SNAPSHOT_TIMELINE.columns),
        "notes": records(notes, s.COVERAGE.columns),
    }
    title = f"{PurePath(snapshot.path or 'snapshot').name}   memory snapshot of torch"
    return Document("snapshot", title, tuple(_lead(peaks, at_peak, notes)), sections, data)


def _lead(peaks: pd.DataFrame, at_peak: pd.DataFrame, notes: pd.DataFrame) -> Iterator[str]:
    columns = (s.DEVICE_ID, s.PEAK_ALLOCATED, s.ALLOCATED_NOW, s.RESERVED_NOW)
    for device, peak, now, reserved in values(peaks, columns):
        held = f"{_size(now)} of {_size(reserved)} reserved are allocated at the snapshot"
        if peak is None:
            yield f"GPU {device}: {held}; without a history there is no peak."
            continue
        owner = at_peak[at_peak[s.DEVICE_ID] == device].iloc[:1]
        most = [f"; {_size(h)} of it {site}" for site, h in values(owner, (s.SITE, s.HELD))]
        yield f"GPU {device}: peak allocated {_size(peak)}{''.join(most)}."
        yield f"{held[0].upper()}{held[1:]}."
    if "ring_buffer_overflowed" in set(notes[s.CODE]):
        yield "The ring buffer lost events: whether an earlier peak was higher cannot be told."


def _size(value: object) -> str:
    return units.text(value, Unit.BYTES)


def _coverage(snapshot: Snapshot, notes: pd.DataFrame) -> Iterator[str]:
    frame = snapshot.events
    if len(frame):
        length = int(frame[s.TIME_NS].max() - frame[s.TIME_NS].min())
        yield f"{len(frame):,} events over {units.text(length, Unit.NS)}, times in whole us."
    for text, count in values(notes, (s.NOTE, s.NOTE_COUNT)):
        yield f"{count:,} {text}" if isinstance(count, int) else str(text)
