"""Events -> Trace: the three frames, with canonical categories and launches joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.intervals import Ints
from traceview.kineto import dialect, links, sanity
from traceview.kineto.columns import Events, Texts
from traceview.kineto.metadata import BASE_TIME, metadata
from traceview.kineto.parts import Part, by_time, categorical, is_one_of
from traceview.trace import ALLOCATOR, LAUNCHING, OUT_OF_MEMORY, WORK, Note, Trace

_DEVICE_CATEGORIES = (*WORK, "gpu_user_annotation", "cuda_event", "kernel_metrics")
"""What a device stamped. cuda_sync stands on a device's row but holds host times (notes, 4.3)."""
_SPANS = ("X", "B", "E", "b", "e", "S", "F")
"""The phases of what lasts, complete or as a begin and an end."""
_PHASES = (*_SPANS, *"iIRCMnTpstfPNODVvac()")
"""All phases that Chrome knows (format notes, 5)."""
_NO_NAME = "(no name)"

_HOST_INTEGERS = {
    s.CORRELATION: "correlation",
    s.EXTERNAL_ID: "External id",
    s.SEQUENCE_NUMBER: "Sequence number",
    s.FORWARD_THREAD: "Fwd thread id",
    s.PYTHON_ID: "Python id",
    s.PYTHON_PARENT_ID: "Python parent id",
    s.PYTHON_MODULE_ID: "Python module id",
}
_SYNC_INTEGERS = {
    s.STREAM: "stream",
    s.WAITS_ON_STREAM: "wait_on_stream",
    s.WAITS_ON_EVENT: "wait_on_cuda_event_record_corr_id",
}
_HOST_TEXTS = {
    s.INPUT_DIMS: "Input Dims",
    s.INPUT_TYPES: "Input type",
    s.CONCRETE_INPUTS: "Concrete Inputs",
    s.CALL_STACK: "Call stack",
    s.MODULES: "Module Hierarchy",
}
_DEVICE_INTEGERS = {
    s.CORRELATION: "correlation",
    s.EXTERNAL_ID: "External id",
    s.BYTES_MOVED: "bytes",
    s.REGISTERS: "registers per thread",
    s.SHARED_MEMORY: "shared memory",
    s.OCCUPANCY: "est. achieved occupancy %",
    s.GRAPH_ID: "graph id",
    s.GRAPH_NODE_ID: "graph node id",
}
_DEVICE_TEXTS = {s.GRID: "grid", s.BLOCK: "block"}


def assemble(events: Events, path: str | None = None) -> Trace:
    """The Trace that the events of one file make."""
    events = dialect.translated(events)
    complete = is_one_of(events.phase, "X") & events.start_known
    is_memory = is_one_of(events.name, ALLOCATOR, OUT_OF_MEMORY)
    on_device = complete & is_one_of(events.category, *_DEVICE_CATEGORIES)
    notes = list(events.notes)
    host_rows = _sound(events, np.flatnonzero(complete & ~on_device), notes)
    left_out = {
        "missing_phase": _without_phase(events),
        "missing_time": (is_one_of(events.phase, *_SPANS) | is_memory) & ~events.start_known,
    }
    notes += _remarks(events, complete, host_rows, left_out)
    dropped = events.dropped + int(np.logical_or(*left_out.values()).sum())
    events = _with_identity(replace(events, dropped=dropped), complete, complete | is_memory)
    memory = is_memory & events.start_known & is_one_of(events.phase, "i", "I", "R")
    memory_rows = np.flatnonzero(memory)
    host, device = by_time(events, host_rows), by_time(events, np.flatnonzero(on_device))
    process_of_row = _process_of_rows(host, device, notes)
    launches = _launches(host, device, process_of_row)
    launching = np.append(events.process.codes[host.rows], np.int32(links.UNKNOWN))
    faults = _faults(host, device, notes)
    origin = _origin(host, device, faults, events.start_ns[memory_rows])
    return Trace(
        _host_frame(host, origin),
        _device_frame(device, process_of_row, launches, launching, faults, origin),
        _memory_frame(events, memory_rows, origin),
        metadata(events, path, origin, tuple(notes)),
    )


def _remarks(
    events: Events,
    complete: NDArray[np.bool_],
    host_rows: Ints,
    left_out: Mapping[str, NDArray[np.bool_]],
) -> Iterator[Note]:
    """What was read although it lacks something, and what was not."""
    negative = events.duration_known[host_rows] & (events.duration_ns[host_rows] < 0)
    untimed = complete & ~events.duration_known & ~is_one_of(events.category, *WORK)
    for code, text, mask in (
        ("missing_name", "events without a name", complete & (events.name.codes < 0)),
        ("unfinished", "events that had not ended when the recording did, and last until its end",
         complete & _unfinished(events)),
        ("missing_phase", "entries of no known phase (ph), left out", left_out["missing_phase"]),
        ("missing_time", "events without a time, left out", left_out["missing_time"]),
        ("missing_duration", "complete events without a duration, read as 0", untimed),
        ("negative_duration", "host events of negative duration, read as 0", negative),
    ):  # fmt: skip
        if count := int(mask.sum()):
            yield Note(code, text, count)
    yield from _doubtful_fractions(events, complete)


def _with_identity(
    events: Events, complete: NDArray[np.bool_], located: NDArray[np.bool_]
) -> Events:
    """What lasts has a name, and all has a process and a thread, if only that of the unnamed."""
    return replace(
        events,
        name=_filled(events.name, complete, _NO_NAME),
        process=_filled(events.process, located, ""),
        thread=_filled(events.thread, located, ""),
    )


def _filled(column: Texts, rows: NDArray[np.bool_], text: str) -> Texts:
    lacking = rows & (column.codes < 0)
    if not lacking.any():
        return column
    values = tuple(dict.fromkeys((*column.values, text)))
    return Texts(np.where(lacking, np.int32(values.index(text)), column.codes), values)


def _unfinished(events: Events) -> NDArray[np.bool_]:
    """What says so; instants say so too, and mean nothing by it (format notes, 6)."""
    mask = np.zeros(len(events), dtype=np.bool_)
    found = events.texts.get("finished")
    if found is not None and "false" in found.texts.values:
        mask[found.rows[found.texts.codes == found.texts.values.index("false")]] = True
    return mask


def _doubtful_fractions(events: Events, complete: NDArray[np.bool_]) -> list[Note]:
    if BASE_TIME in events.properties:  # came after the fault
        return []
    count = int(sanity.unpadded(events.start_ns[complete]).sum())
    text = (
        "times that may be too late, and durations too long, by up to 891 ns: the recorder left "
        "out the leading zeros of fractions, as builds of PyTorch of March 2024 did"
    )
    return [Note("unpadded_fractions", text, count, sanity.PADDING)] if count else []


def _without_phase(events: Events) -> NDArray[np.bool_]:
    """Entries that say something, but not what they are."""
    said = (events.name.codes >= 0) | (events.category.codes >= 0) | events.start_known
    return said & ~is_one_of(events.phase, *_PHASES)


def _calls(host: Part) -> tuple[NDArray[np.intp], Part]:
    """The runtime and driver calls: their positions in the host frame, and they themselves."""
    positions = np.flatnonzero(is_one_of(host.events.category, *LAUNCHING)[host.rows])
    return positions, Part(host.events, host.rows[positions])


def _process_of_rows(host: Part, device: Part, notes: list[Note]) -> dict[int, int]:
    """The process (code of a host pid) that drives each device row (code of a device pid)."""
    events = host.events
    _, calls = _calls(host)
    process = events.process.codes[calls.rows].astype(np.int64)
    rows = events.process.codes[device.rows].astype(np.int64)
    several = len(links.distinct(process))
    if several > 1:
        text = "processes in one file; work is joined within each"
        notes.append(Note("merged_processes", text, several))
    return links.owners(rows, device.keyed(), calls.keyed(), process)


def _is_work(device: Part) -> NDArray[np.bool_]:
    """Which device events are work, and not what a device notes beside it."""
    category = device.events.category
    return is_one_of(Texts(category.codes[device.rows], category.values), *WORK)


def _launches(host: Part, device: Part, process_of_row: dict[int, int]) -> Ints:
    """For each device event the position in the host frame of its launch, or links.UNKNOWN."""
    events = host.events
    positions, calls = _calls(host)
    process = events.process.codes[calls.rows].astype(np.int64)
    rows = events.process.codes[device.rows].astype(np.int64)
    owner = np.array([process_of_row[row] for row in rows.tolist()], dtype=np.int64)
    keys, call_keys = device.keyed(), calls.keyed()
    keys = replace(keys, correlation=np.where(_is_work(device), keys.correlation, 0))
    if len(links.distinct(process)) > 1:
        chosen = links.among_processes(keys, call_keys, process, owner)
    else:
        chosen = links.launches_of(
            owner, keys.correlation, keys.start, process, call_keys.correlation, call_keys.start
        )
    return np.where(chosen >= 0, np.append(positions, links.UNKNOWN)[chosen], links.UNKNOWN)


def _faults(host: Part, device: Part, notes: list[Note]) -> NDArray[np.bool_]:
    """Which device records have an impossible time; each kind is noted with its count."""
    events, work = host.events, _is_work(device)
    starts, durations = events.start_ns[device.rows], events.duration_ns[device.rows]
    known = events.duration_known[device.rows]
    faulty = np.zeros(starts.size, dtype=bool)
    for kind, mask in sanity.corrupt(starts, durations, known, events.start_ns[host.rows]).items():
        if count := int((mask & work).sum()):
            text = f"device records with {kind}, left out of all figures"
            notes.append(Note("corrupt_records", text, count))
        faulty |= mask
    return faulty


def _sound(events: Events, rows: Ints, notes: list[Note]) -> Ints:
    """The host events whose time is possible; one second in a century would hide all others."""
    broken = sanity.misplaced(events.start_ns[rows], events.duration_ns[rows])
    if count := int(broken.sum()):
        notes.append(
            Note("corrupt_host_events", "host events with an impossible time, left out", count)
        )
    return rows[~broken]


def _origin(host: Part, device: Part, faults: NDArray[np.bool_], memory: Ints) -> int:
    """The file's time at which the trace begins: its first event with a usable time.

    Memory events have a say only where nothing else is recorded.
    """
    starts = host.events.start_ns[host.rows]
    sound = np.concatenate((starts, device.events.start_ns[device.rows][~faults]))
    moments = sound if sound.size else memory
    return int(moments.min()) if moments.size else 0


def _host_frame(part: Part, origin: int) -> pd.DataFrame:
    events, rows = part.events, part.rows
    return s.HOST.frame(
        {
            s.NAME: part.text(events.name),
            s.CATEGORY: part.text(events.category),
            s.PROCESS: part.text(events.process),
            s.THREAD: part.text(events.thread),
            s.START_NS: events.start_ns[rows] - origin,
            s.DURATION_NS: np.maximum(events.duration_ns[rows], 0),
            **{column: part.integers(name) for column, name in _HOST_INTEGERS.items()},
            **{column: part.stated(name) for column, name in _SYNC_INTEGERS.items()},
            **{column: part.argument_text(name) for column, name in _HOST_TEXTS.items()},
        },
        copy=False,
    )


def _device_frame(
    part: Part,
    process_of_row: dict[int, int],
    launches: Ints,
    launching: NDArray[np.int32],
    faults: NDArray[np.bool_],
    origin: int,
) -> pd.DataFrame:
    """`launching` are the processes of the host frame, by position, then one more."""
    events, rows = part.events, part.rows
    pids = events.process.codes[rows]
    owner = np.array([process_of_row[pid] for pid in pids.tolist()], dtype=np.int32)
    process = np.where(launches >= 0, launching[launches], owner).astype(np.int32)
    return s.DEVICE.frame(
        {
            s.NAME: part.text(events.name),
            s.CATEGORY: part.text(events.category),
            s.DEVICE_ID: _device_ids(part),
            s.STREAM: _streams(part),
            s.PROCESS: categorical(process, events.process.values),
            s.START_NS: events.start_ns[rows] - origin,
            s.DURATION_NS: events.duration_ns[rows],
            s.LAUNCH: pd.arrays.IntegerArray(np.maximum(launches, 0), launches < 0),
            s.CORRUPT: faults,
            **{column: part.integers(name) for column, name in _DEVICE_INTEGERS.items()},
            **{column: part.argument_text(name) for column, name in _DEVICE_TEXTS.items()},
        },
        copy=False,
    )


def _memory_frame(events: Events, rows: Ints, origin: int) -> pd.DataFrame:
    part = Part(events, rows[np.argsort(events.start_ns[rows], kind="stable")])
    return s.MEMORY.frame(
        {
            s.NAME: part.text(events.name),
            s.PROCESS: part.text(events.process),
            s.THREAD: part.text(events.thread),
            s.TIME_NS: events.start_ns[part.rows] - origin,
            s.DEVICE_TYPE: part.known("Device Type", 0),
            s.MEMORY_DEVICE: part.known("Device Id", 0),
            s.ADDRESS: part.integers("Addr", "UInt64"),
            s.BYTES: part.known("Bytes", 0),
            s.ALLOCATED: part.integers("Total Allocated"),
            s.RESERVED: part.integers("Total Reserved"),
        },
        copy=False,
    )


def _device_ids(part: Part) -> Ints:
    """The device of each event: its `device` argument, else its pid; distinct for distinct pids."""
    pids = part.events.process
    codes = pids.codes[part.rows]
    stated = part.known("device", links.UNKNOWN)
    label: dict[int, int] = {}
    for code in links.distinct(codes):
        known = stated[(codes == code) & (stated != links.UNKNOWN)]
        own = pids.values[code] if code >= 0 else ""
        label[code] = int(known[0]) if known.size else (int(own) if own.isdecimal() else code)
    if len(set(label.values())) < len(label):
        texts = {code: pids.values[code] if code >= 0 else "" for code in label}
        numeric = all(text.isdecimal() for text in texts.values())
        label = {code: int(texts[code]) if numeric else n for n, code in enumerate(label)}
    return np.array([label[code] for code in codes.tolist()], dtype=np.int64)


def _streams(part: Part) -> pd.arrays.IntegerArray:
    """The `stream` argument; older recorders only name it in the thread (`stream 7`)."""
    stated = part.integers("stream")
    column = part.events.thread
    digits = [value.removeprefix("stream ").strip() for value in column.values]
    numbers = np.array([int(d) if d.isdecimal() else links.UNKNOWN for d in digits] + [-1])
    named = numbers[column.codes[part.rows]]
    fill = np.asarray(stated.isna()) & (named >= 0)
    stated[fill] = named[fill]
    return stated
