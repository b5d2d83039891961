"""Bytes -> Events: one pass over the text, entry by entry only where it is damaged."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from traceview.errors import EmptyTraceError, NotATraceError
from traceview.kineto import container, native
from traceview.kineto.columns import Events
from traceview.kineto.compression import Limits
from traceview.kineto.decode import PythonDecoder
from traceview.kineto.entries import Columns, Decoder, Stop, joined
from traceview.kineto.outline import Outline
from traceview.kineto.repair import EntryReader, Repairs
from traceview.kineto.values import Row
from traceview.kineto.window import Window
from traceview.trace import Note


def read(path: str | os.PathLike[str], limits: Limits | None = None) -> Events:
    """All that the trace file at `path` holds.

    Raises FileError or one of its children in one plain sentence when it is no trace.
    """
    name = os.fspath(path)
    decoder = _decoder()
    repairs = Repairs()
    with container.opened(name, limits) as source, _uncollected():
        window = Window(source.blocks)
        outline = Outline(window, repairs)
        rows: dict[int, Row] = {}
        while outline.advance():
            _read_entries(decoder, window, repairs, rows)
        _check(source.name, outline, window)
        columns = joined(decoder.finish(), rows)
        return _events(columns, outline, repairs, (*source.notes, *repairs.notes()))


def _decoder() -> Decoder:
    found = native.library()
    return PythonDecoder() if found is None else native.NativeDecoder(found)


def _read_entries(
    decoder: Decoder, window: Window, repairs: Repairs, rows: dict[int, Row]
) -> None:
    """Read one array of entries, from its first entry to behind its closing bracket."""
    entries = EntryReader(window, repairs)
    first, depth = decoder.rows, 1
    while depth > 0:
        window.position, stop = decoder.scan(window.data, window.position)
        if stop is Stop.MORE and window.more():
            continue
        if stop is Stop.CLOSED:
            depth -= 1
            continue
        found, closed = entries.read(first=decoder.rows == first)
        for entry in found:
            rows[decoder.reserve()] = entry
        depth -= closed


def _check(name: str, outline: Outline, window: Window) -> None:
    """Refuse what is no trace, with what it looks like."""
    if not outline.shape:
        if not window.data and window.final:
            raise EmptyTraceError(name, "the file is empty")
        raise NotATraceError(name, "this is not JSON; expected a Chrome or Kineto trace")
    if not outline.found_events:
        keys = ", ".join(outline.properties) or "no keys at all"
        raise NotATraceError(name, f"this JSON is no trace: it has no traceEvents, but {keys}")


def _events(
    columns: Columns, outline: Outline, repairs: Repairs, notes: tuple[Note, ...]
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
        properties=outline.properties,
        dropped=repairs.dropped,
        repaired=repairs.repaired,
        notes=notes,
    )


def _whole_microseconds(columns: Columns) -> bool:
    """No time has a fraction: the file is of the time before nanoseconds (format notes, 1.5)."""
    return not (np.any(columns.start_ns % 1000) or np.any(columns.duration_ns % 1000))


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
