"""Bytes -> Events: one pass over the text, entry by entry only where it is damaged."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from traceview.errors import EmptyTraceError, NotATraceError
from traceview.kineto import container, lines, native
from traceview.kineto.columns import Events
from traceview.kineto.compression import DAMAGE, Limits
from traceview.kineto.container import Source
from traceview.kineto.decode import PythonDecoder
from traceview.kineto.entries import Columns, Decoder, Stop, joined
from traceview.kineto.faults import Repairs
from traceview.kineto.outline import EVENTS, Outline
from traceview.kineto.paths import restored
from traceview.kineto.recognize import (
    described,
    described_json,
    described_list,
    described_objects,
)
from traceview.kineto.repair import EntryReader
from traceview.kineto.values import Row
from traceview.kineto.window import Window
from traceview.trace import Note

_NO_TRACE: Final = 1000
"""After so many faults without a single event, the file is not read further."""
_FEW: Final = 1000


def read(
    path: str | os.PathLike[str], limits: Limits | None = None, decoder: Decoder | None = None
) -> Events:
    """All that the trace file at `path` holds.

    `path` may be `-` for the standard input, or name a member of an archive as
    `archive.tar.gz:member`; `limits` bound how far a compressed file may expand; `decoder` is the
    native one where it was built. Raises FileError or one of its children in one plain sentence
    when the file is no trace.
    """
    decoder = decoder or default_decoder()
    repairs = Repairs()
    with container.opened(os.fspath(path), limits) as source, _uncollected():
        window = Window(*lines.listed(source.blocks, source.notes))
        outline = Outline(window, repairs)
        rows: dict[int, Row] = {}
        while outline.advance():
            _read_entries(decoder, window, repairs, rows)
        _check(source, window, outline, decoder, repairs)
        source.notes.extend(_behind(window))
        columns, paths = restored(joined(decoder.finish(), rows))
        _check_events(source, columns)
        repairs.repaired += sum(note.count or 0 for note in paths)
        notes = (*source.notes, *repairs.notes(), *paths)
        return _events(columns, outline, repairs, notes, decoder.name)


def default_decoder() -> Decoder:
    """The native decoder, or the Python one, several times slower, where it was not built."""
    found = native.library()
    return PythonDecoder() if found is None else native.NativeDecoder(found)


def _read_entries(decoder: Decoder, window: Window, repairs: Repairs, rows: dict[int, Row]) -> None:
    """Read one array of entries, from its first entry to behind its closing bracket."""
    entries = EntryReader(window, repairs, decoder.rows)
    while entries.open and (decoder.rows or repairs.count < _NO_TRACE):
        window.position, stop = decoder.scan(window.data, window.position)
        if stop is Stop.MORE and window.more():
            continue
        if stop is Stop.CLOSED:
            entries.close()
            continue
        for entry in entries.read(decoder.rows):
            rows[decoder.reserve()] = entry


def _behind(window: Window) -> Iterator[Note]:
    """What stands behind the end of the trace, of which nothing is read."""
    mark = window.skip_space()
    if mark:
        offset, size = window.offset, window.drain()
        like = "; they begin like another trace" if mark in b"{[" else ""
        text = f"{size:,} bytes behind the end of the trace, at byte {offset:,}, are not read{like}"
        yield Note("trailing_text", text)


def _check(
    source: Source, window: Window, outline: Outline, decoder: Decoder, repairs: Repairs
) -> None:
    """Refuse what is no trace, with what it looks like."""
    name = source.name
    if not outline.shape:
        if not window.left:
            padded = any(note.code == "padding" for note in source.notes)
            what = "NUL bytes: it was allocated and never written" if padded else "white space"
            raise EmptyTraceError(name, f"the file holds nothing but {what}")
        raise NotATraceError(name, f"is no JSON but looks like {described(source.start)}")
    if not outline.found_events:
        damaged = "metadata_lost" in repairs.offsets
        looks = described_json(outline.properties, damaged=damaged)
        broken = "".join(f"; {note.text}" for note in source.notes if note.code in DAMAGE)
        raise NotATraceError(name, f"is no Chrome or Kineto trace but {looks}{broken}")
    if decoder.rows == 0 and (repairs.no_event or repairs.count >= _NO_TRACE):
        looks = described_list(repairs.no_event, nested="wrapped_list" in repairs.offsets)
        raise NotATraceError(name, f"is no Chrome or Kineto trace but {looks}")


def _check_events(source: Source, columns: Columns) -> None:
    """Refuse a list of objects in which nothing is known."""
    dense = (columns.phase, columns.name, columns.category, columns.process, columns.thread)
    known = columns.start_known.any() or any((column.codes >= 0).any() for column in dense)
    looks = None if known else described_objects(source.start)
    if looks is not None:
        raise NotATraceError(source.name, f"is no Chrome or Kineto trace but {looks}")


def _events(
    columns: Columns, outline: Outline, repairs: Repairs, notes: tuple[Note, ...], decoder: str
) -> Events:
    return Events(
        phase=columns.phase,
        name=columns.name,
        category=columns.category,
        process=columns.process,
        thread=columns.thread,
        start_ns=columns.start_ns,
        start_known=columns.start_known,
        duration_ns=columns.duration_ns,
        duration_known=columns.duration_known,
        whole_microseconds=_whole_microseconds(columns),
        integers=columns.integers,
        texts=columns.texts,
        properties={key: outline.properties[key] for key in outline.properties if key != EVENTS},
        dropped=repairs.dropped,
        repaired=repairs.repaired,
        notes=notes,
        decoder=decoder,
    )


def _whole_microseconds(columns: Columns) -> bool:
    """No time has a fraction: the file is of the time before nanoseconds (format notes, 1.5)."""
    # Nearly always one of the first times tells.
    return not any(
        np.any(times[part] % 1000)
        for part in (slice(_FEW), slice(_FEW, None))
        for times in (columns.start_ns, columns.duration_ns)
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection, which would walk millions of objects that stay alive."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
