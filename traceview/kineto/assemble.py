"""Events -> Trace: the three frames, with canonical categories and launches joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.intervals import Ints
from traceview.kineto import dialect, links, sanity
from traceview.kineto.columns import Events, Texts
from traceview.kineto.values import INT64
from traceview.trace import LAUNCHING, WORK, Metadata, Note, Trace

_DEVICE_CATEGORIES = (*WORK, "gpu_user_annotation", "cuda_event", "kernel_metrics")
"""What a device stamped. cuda_sync stands on a device's row but holds host times (notes, 4.3)."""
_SPANS = ("X", "B", "E", "b", "e", "S", "F")
"""The phases of what lasts, complete or as a begin and an end."""
_PHASES = (*_SPANS, *"iIRCMnTpstfPNODVvac()")
"""All phases that Chrome knows (format notes, 5)."""
_NO_NAME = "(no name)"
_MEMORY_NAMES = ("[memory]", "[OutOfMemory]")

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
_BASE = "baseTimeNanoseconds"
_NO_STREAM = (-1, 2**32 - 1)
"""What cuda_sync records write where there is no stream, or the event is unknown (notes, 2.4)."""
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


@dataclass(frozen=True)
class _Part:
    """The events that one frame is made of, in the frame's order.

    `rows` are places in the file; `events` gives each column by them.
    """

    events: Events
    rows: Ints

    def text(self, column: Texts) -> pd.Categorical:
        return _categorical(column.codes[self.rows], column.values)

    def integers(self, argument: str, dtype: str = "Int64") -> pd.arrays.IntegerArray:
        found, values = self._sparse(argument)
        missing = np.ones(self.rows.size, dtype=bool)
        missing[found] = False
        dense = np.zeros(self.rows.size, dtype=dtype.lower())
        dense[found] = values
        return pd.arrays.IntegerArray(dense, missing)

    def stated(self, argument: str) -> pd.arrays.IntegerArray:
        """The argument, missing also where the recorder wrote a number that means "none"."""
        numbers = self.integers(argument)
        found, values = self._sparse(argument)
        numbers[found[np.isin(values, _NO_STREAM)]] = pd.NA
        return numbers

    def known(self, argument: str, default: int) -> Ints:
        """The argument as plain integers, `default` where an event has none."""
        found, values = self._sparse(argument)
        dense = np.full(self.rows.size, default, dtype=np.int64)
        dense[found] = values
        return dense

    def keyed(self) -> links.Keyed:
        """What joins calls and work."""
        return links.Keyed(
            self.known("correlation", 0),
            self.known("External id", links.UNKNOWN),
            self.events.start_ns[self.rows],
        )

    def argument_text(self, argument: str) -> pd.Categorical:
        column = self.events.texts.get(argument)
        codes = np.full(self.rows.size, -1, dtype=np.int32)
        if column is None:
            return pd.Categorical.from_codes(codes, categories=pd.Index([], dtype="str"))
        positions, within = self._places(column.rows)
        codes[positions] = column.texts.codes[within]
        return _categorical(codes, column.texts.values)

    def _sparse(self, argument: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
        column = self.events.integers.get(argument)
        if column is None:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
        positions, within = self._places(column.rows)
        return positions, column.values[within]

    def _places(self, rows: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where rows of the file stand in this frame, and which of them do."""
        place = self._place[rows]
        within = np.flatnonzero(place >= 0)
        return place[within], within

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """The position of each row of the file, -1 for those of other frames.

        A table over all rows, made once, is read several times faster than rows are searched.
        """
        table = np.full(len(self.events), -1, dtype=np.intp)
        table[self.rows] = np.arange(self.rows.size)
        return table


def assemble(events: Events, path: str | None = None) -> Trace:
    """The Trace that the events of one file make."""
    events = dialect.translated(events)
    categories = events.category
    complete = _is_one_of(events.phase, "X") & events.start_known
    nameless = complete & (events.name.codes < 0)
    is_memory = _is_one_of(events.name, *_MEMORY_NAMES)
    events = _with_identity(events, complete, complete | is_memory)
    on_device = complete & _is_one_of(categories, *_DEVICE_CATEGORIES)
    notes = list(events.notes)
    host_rows = _sound(events, np.flatnonzero(complete & ~on_device), notes)
    device_rows = np.flatnonzero(on_device)
    memory_rows = np.flatnonzero(
        events.start_known & is_memory & _is_one_of(events.phase, "i", "I", "R")
    )
    unknown = _without_phase(events)
    timeless = (_is_one_of(events.phase, *_SPANS) | is_memory) & ~events.start_known
    negative = events.duration_known[host_rows] & (events.duration_ns[host_rows] < 0)
    for code, text, mask in (
        ("missing_name", "events without a name", nameless),
        ("unfinished", "events that had not ended when the recording did, and last until its end",
         complete & _unfinished(events)),
        ("missing_phase", "entries of no known phase (ph), left out", unknown),
        ("missing_time", "events without a time, left out", timeless),
        ("missing_duration", "complete events without a duration, read as 0",
         complete & ~events.duration_known & ~_is_one_of(categories, *WORK)),
        ("negative_duration", "host events of negative duration, read as 0", negative),
    ):  # fmt: skip
        if count := int(mask.sum()):
            notes.append(Note(code, text, count))
    notes += _doubtful_fractions(events, complete)
    events = replace(events, dropped=events.dropped + int((timeless | unknown).sum()))
    host = _by_time(events, host_rows)
    device = _by_time(events, device_rows)
    work = np.asarray(_is_one_of(categories, *WORK)[device.rows])
    process_of_row = _process_of_rows(host, device, categories, notes)
    launches = _launches(host, device, categories, process_of_row, work)
    launching = np.append(events.process.codes[host.rows], np.int32(links.UNKNOWN))
    faults = _faults(host, device, work, notes)
    origin = _origin(host, device, faults, events.start_ns[memory_rows])
    metadata = _metadata(events, path, origin, tuple(notes))
    return Trace(
        _host_frame(host, categories, origin),
        _device_frame(device, categories, process_of_row, launches, launching, faults, origin),
        _memory_frame(events, memory_rows, origin),
        metadata,
    )


def _is_one_of(column: Texts, *wanted: str) -> NDArray[np.bool_]:
    member = np.array([value in wanted for value in column.values] + [False], dtype=bool)
    return _looked_up(member, column.codes)


def _looked_up(table: NDArray[Any], codes: NDArray[np.int32]) -> NDArray[Any]:
    """The entry of each code; that of -1, a missing text, is the last one.

    Codes are never out of range, and without that check numpy takes half the time.
    """
    return table.take(codes, mode="wrap")


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
    if _BASE in events.properties:  # came after the fault
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
    return said & ~_is_one_of(events.phase, *_PHASES)


def _by_time(events: Events, rows: Ints) -> _Part:
    """Rows by start, then the longest first.

    What is alike in both is told apart by what it is and not by its place in the file, which is
    anything (format notes, 3.2.15). Of ops and frames the one that began first has the lower id.
    """
    start, longest = events.start_ns[rows], -events.duration_ns[rows]
    order = np.argsort(start, kind="stable")
    tied = _neighbours(start[order])
    if tied.size:
        few = order[tied]
        order[tied] = few[np.lexsort((longest[few], start[few]))]
    start, longest = start[order], longest[order]
    tied = _neighbours(start, longest)
    part = _Part(events, rows[order])
    if tied.size == 0:
        return part
    some = _Part(events, part.rows[tied])
    texts = (events.name, events.thread, events.process, events.category)
    ids = ("stream", "correlation", "Python id", "External id")
    keys = [_ranks(column)[column.codes[some.rows]] for column in texts]
    keys[1:1] = [some.known(name, links.UNKNOWN) for name in ids]
    part.rows[tied] = some.rows[np.lexsort((*keys, longest[tied], start[tied]))]
    return part


def _neighbours(*sorted_keys: Ints) -> NDArray[np.intp]:
    """Positions that have a neighbour with the same keys."""
    alike = np.zeros(sorted_keys[0].size + 1, dtype=bool)
    alike[1:-1] = np.logical_and.reduce([key[1:] == key[:-1] for key in sorted_keys])
    return np.flatnonzero(alike[1:] | alike[:-1])


def _ranks(column: Texts) -> NDArray[np.intp]:
    """The place of each text in the alphabet, by code; -1 for a missing one."""
    return np.append(
        np.argsort(sorted(range(len(column.values)), key=column.values.__getitem__)), -1
    )


def _calls(host: _Part, categories: Texts) -> tuple[NDArray[np.intp], _Part]:
    """The runtime and driver calls: their positions in the host frame, and they themselves."""
    positions = np.flatnonzero(_is_one_of(categories, *LAUNCHING)[host.rows])
    return positions, _Part(host.events, host.rows[positions])


def _process_of_rows(
    host: _Part, device: _Part, categories: Texts, notes: list[Note]
) -> dict[int, int]:
    """The process (code of a host pid) that drives each device row (code of a device pid)."""
    events = host.events
    _, calls = _calls(host, categories)
    process = events.process.codes[calls.rows].astype(np.int64)
    rows = events.process.codes[device.rows].astype(np.int64)
    several = len(links.distinct(process))
    if several > 1:
        text = "processes in one file; work is joined within each"
        notes.append(Note("merged_processes", text, several))
    return links.owners(rows, device.keyed(), calls.keyed(), process)


def _launches(
    host: _Part, device: _Part, categories: Texts, process_of_row: dict[int, int], work: Any
) -> Ints:
    """For each device event the position in the host frame of its launch, or links.UNKNOWN."""
    events = host.events
    positions, calls = _calls(host, categories)
    process = events.process.codes[calls.rows].astype(np.int64)
    rows = events.process.codes[device.rows].astype(np.int64)
    owner = np.array([process_of_row[row] for row in rows.tolist()], dtype=np.int64)
    keys, call_keys = device.keyed(), calls.keyed()
    keys = replace(keys, correlation=np.where(work, keys.correlation, 0))
    if len(links.distinct(process)) > 1:
        chosen = links.among_processes(keys, call_keys, process, owner)
    else:
        chosen = links.launches_of(
            owner, keys.correlation, keys.start, process, call_keys.correlation, call_keys.start
        )
    return np.where(chosen >= 0, np.append(positions, links.UNKNOWN)[chosen], links.UNKNOWN)


def _faults(
    host: _Part, device: _Part, work: NDArray[np.bool_], notes: list[Note]
) -> NDArray[np.bool_]:
    """Which device records have an impossible time; each kind is noted with its count."""
    events = host.events
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


def _origin(host: _Part, device: _Part, faults: NDArray[np.bool_], memory: Ints) -> int:
    """The file's time at which the trace begins: its first event with a usable time.

    Memory events have a say only where nothing else is recorded.
    """
    starts = host.events.start_ns[host.rows]
    sound = np.concatenate((starts, device.events.start_ns[device.rows][~faults]))
    moments = sound if sound.size else memory
    return int(moments.min()) if moments.size else 0


def _host_frame(part: _Part, categories: Texts, origin: int) -> pd.DataFrame:
    events, rows = part.events, part.rows
    return s.HOST.frame(
        {
            s.NAME: part.text(events.name),
            s.CATEGORY: part.text(categories),
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
    part: _Part,
    categories: Texts,
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
            s.CATEGORY: part.text(categories),
            s.DEVICE_ID: _device_ids(part),
            s.STREAM: _streams(part),
            s.PROCESS: _categorical(process, events.process.values),
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
    part = _Part(events, rows[np.argsort(events.start_ns[rows], kind="stable")])
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


def _device_ids(part: _Part) -> Ints:
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


def _streams(part: _Part) -> pd.arrays.IntegerArray:
    """The `stream` argument; older recorders only name it in the thread (`stream 7`)."""
    stated = part.integers("stream")
    column = part.events.thread
    digits = [value.removeprefix("stream ").strip() for value in column.values]
    numbers = np.array([int(d) if d.isdecimal() else links.UNKNOWN for d in digits] + [-1])
    named = numbers[column.codes[part.rows]]
    fill = np.asarray(stated.isna()) & (named >= 0)
    stated[fill] = named[fill]
    return stated


def _metadata(events: Events, path: str | None, origin: int, notes: tuple[Note, ...]) -> Metadata:
    properties = dict(events.properties)
    base = _base_time(properties)
    if base is not None:
        del properties[_BASE]
    phases = Counter(
        {
            value or "?": int(count)
            for value, count in zip(
                (*events.phase.values, ""),
                np.bincount(events.phase.codes + 1, minlength=len(events.phase.values) + 1)[
                    np.r_[1 : len(events.phase.values) + 1, 0]
                ],
                strict=True,
            )
            if count
        }
    )
    return Metadata(
        path=path,
        base_time_ns=base,
        origin_ns=origin,
        resolution_ns=1000 if events.whole_microseconds and len(events) else 1,
        events=phases,
        dropped=events.dropped,
        repaired=events.repaired,
        properties=properties,
        **_names(events),
        notes=notes,
        decoder=events.decoder,
    )


def _base_time(properties: Mapping[str, Any]) -> int | None:
    """The base of all times; what saves a file again may write it as a text or as 1.7e18."""
    base = properties.get(_BASE)
    if isinstance(base, str) and base.isdecimal() and len(base) <= len(str(INT64.stop)):
        base = int(base)
    if isinstance(base, float) and base.is_integer():
        base = int(base)
    known = isinstance(base, int) and not isinstance(base, bool) and base in INT64
    return base if known else None


def _names(events: Events) -> Mapping[str, Any]:
    """Names of processes and threads from the metadata events."""
    named = events.texts.get("name")
    processes: dict[str, str] = {}
    threads: dict[tuple[str, str], str] = {}
    if named is None:
        return {"process_names": processes, "thread_names": threads}
    for row, code in zip(named.rows.tolist(), named.texts.codes.tolist(), strict=True):
        what = _at(events.name, row)
        process, thread = _at(events.process, row), _at(events.thread, row)
        if what == "process_name":
            processes[process] = named.texts.values[code]
        elif what == "thread_name":
            threads[process, thread] = named.texts.values[code]
    return {"process_names": processes, "thread_names": threads}


def _at(column: Texts, row: int) -> str:
    code = int(column.codes[row])
    return column.values[code] if code >= 0 else ""


def _categorical(codes: NDArray[np.int32], values: tuple[str, ...]) -> pd.Categorical:
    """Codes of the values that occur as a Categorical of just those, in the alphabet's order.

    pandas groups and sorts by the order of categories: that of the file would show in the figures.
    """
    occurs = np.bincount(codes + 1, minlength=len(values) + 1)[1:] > 0
    used = np.flatnonzero(occurs)
    used = used[sorted(range(used.size), key=[values[code] for code in used.tolist()].__getitem__)]
    # The last entry stands for code -1, a missing value.
    compact = np.full(len(values) + 1, -1, dtype=np.int32)
    compact[used] = np.arange(used.size, dtype=np.int32)
    categories = pd.Index([values[code] for code in used.tolist()], dtype="str")
    return pd.Categorical.from_codes(
        _looked_up(compact, codes), categories=categories, validate=False
    )
