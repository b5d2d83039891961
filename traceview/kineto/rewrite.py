"""A recording written again: its own entries untouched, others beside them, slices that nest.

Every entry is copied as the text that it is, so that no argument and no digit is lost. Only where
two slices of one track cross, which viewers draw wrongly or not at all, the later one moves to a
track of its own; and a stretch of the recording may be all that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec
import numpy as np

from traceview import intervals
from traceview.errors import FileError
from traceview.kineto import container
from traceview.kineto.values import INT64

Raw = msgspec.Raw
_EVENTS: Final = "traceEvents"
CATEGORY: Final = "traceview"
"""The category of what an overlay adds, so that a reader can tell it from the recording."""
_FREE: Final = 1 << 30
"""Numbers of threads from here on are free: no system hands them out."""
_PROCESS: Final = (1 << 31) - 1
"""The process of the overlay; its threads count down from it."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Something that took a while: start and length in ns from the trace's start."""

    start: int
    length: int
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lane:
    """Slices below one name; where they cross they are spread over several tracks."""

    name: str
    slices: Sequence[Slice]


@dataclass(frozen=True, slots=True)
class Counter:
    """Figures over time: (ns, figure by series), in order."""

    name: str
    points: Sequence[tuple[int, Mapping[str, int]]]


class _Entry(msgspec.Struct):
    """What places an entry; numbers stay text, since a float does not hold every ns."""

    ph: str = ""
    name: str = ""
    ts: Raw = Raw(b"")
    dur: Raw = Raw(b"")
    pid: Raw = Raw(b"null")
    tid: Raw = Raw(b"null")


_FILE: Final = msgspec.json.Decoder(dict[str, Raw])
_ENTRIES: Final = msgspec.json.Decoder(list[Raw])
_ENTRY: Final = msgspec.json.Decoder(_Entry)


def rewritten(
    path: str,
    origin_ns: int,
    lanes: Sequence[Lane],
    counters: Sequence[Counter],
    stretch: tuple[int, int] | None = None,
) -> Iterator[bytes]:
    """The recording at `path` with lanes and counters added, as text in pieces.

    `origin_ns` is the file's time at the trace's start. Of a `stretch` (ns from there) only what
    shares an instant with it is kept, and whatever has no time. Raises FileError where the file is
    too damaged to be copied entry by entry.
    """
    properties, entries, placed = _read(path)
    if stretch is not None:
        low, high = (time + origin_ns for time in stretch)
        kept = [number for number, entry in enumerate(placed) if _inside(entry, low, high)]
        entries, placed = [entries[number] for number in kept], [placed[number] for number in kept]
    yield b'{"traceEvents": [\n'
    moved = _moved(placed)
    separator = b""
    for number, entry in enumerate(entries):
        yield separator + (_with_thread(entry, moved[number]) if number in moved else bytes(entry))
        separator = b",\n"
    for added in (*_names_of(moved, placed), *_overlay(lanes, counters, origin_ns, stretch)):
        yield separator + msgspec.json.encode(added)
        separator = b",\n"
    yield b"\n]"
    for key, value in properties.items():
        yield b",\n" + msgspec.json.encode(key) + b": " + bytes(value)
    yield b"}\n"


def _read(path: str) -> tuple[dict[str, Raw], list[Raw], list[_Entry]]:
    """The properties and the entries of a file, as the texts that they are; where entries lie."""
    with container.opened(path) as source:
        text = b"".join(source.blocks).removeprefix(b"\xef\xbb\xbf")
        try:
            bare = text.lstrip().startswith(b"[")
            properties = {} if bare else _FILE.decode(text)
            entries = _ENTRIES.decode(text if bare else properties.pop(_EVENTS))
            return properties, entries, [_ENTRY.decode(entry) for entry in entries]
        except (msgspec.DecodeError, KeyError):
            problem = "is damaged, and only a sound file can be copied entry by entry"
            raise FileError(source.name, problem) from None


def _ns(text: Raw) -> int | None:
    """A time in microseconds as the file has it, in ns; None where there is no possible one."""
    word = bytes(text).strip(b'" ')
    try:
        time = int((Decimal(word.decode()) * 1000).to_integral())
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return time if time in INT64 else None


def _inside(entry: _Entry, low: int, high: int) -> bool:
    start = _ns(entry.ts)
    if entry.ph == "M" or start is None:
        return True
    return start < high and start + (_ns(entry.dur) or 0) >= low


def _moved(placed: Sequence[_Entry]) -> dict[int, bytes]:
    """The entries that cross another one of their track, and the thread that they move to."""
    tracks: dict[tuple[bytes, bytes], list[tuple[int, int, int]]] = {}
    for number, entry in enumerate(placed):
        start = _ns(entry.ts) if entry.ph == "X" else None
        if start is not None:
            key = bytes(entry.pid), bytes(entry.tid)
            tracks.setdefault(key, []).append((start, -(_ns(entry.dur) or 0), number))
    moved: dict[int, bytes] = {}
    free = _FREE
    for slices in tracks.values():
        slices.sort()
        begins = [begin for begin, _, _ in slices]
        ends = [min(begin - minus, INT64[-1]) for begin, minus, _ in slices]
        track = intervals.nesting(begins, ends)
        for place in np.flatnonzero(track):
            moved[slices[place][2]] = str(free + int(track[place])).encode()
        free += int(track.max())
    return moved


def _with_thread(entry: Raw, thread: bytes) -> bytes:
    """The entry on another thread, all else untouched."""
    keys = _FILE.decode(entry)
    keys["tid"] = Raw(thread)
    return msgspec.json.encode(keys)


def _names_of(moved: Mapping[int, bytes], placed: Sequence[_Entry]) -> Iterator[dict[str, Any]]:
    """The names of the tracks that crossing entries moved to."""
    origins = {(bytes(placed[number].pid), thread): bytes(placed[number].tid)
               for number, thread in moved.items()}  # fmt: skip
    for (process, thread), origin in origins.items():
        name = f"thread {origin.decode().strip(chr(34))}, crossing"
        yield {"ph": "M", "name": "thread_name", "pid": Raw(process), "tid": Raw(thread),
               "args": {"name": name}}  # fmt: skip


def _overlay(
    lanes: Sequence[Lane],
    counters: Sequence[Counter],
    origin_ns: int,
    stretch: tuple[int, int] | None,
) -> Iterator[dict[str, Any]]:
    """The entries of a process of its own, above all others."""
    yield _named("process_name", {"name": "traceview"})
    yield _named("process_sort_index", {"sort_index": -1})
    thread = _PROCESS
    for lane in lanes:
        for track in _tracks(lane, stretch):
            thread -= 1
            yield _named("thread_name", {"name": lane.name}, thread)
            yield _named("thread_sort_index", {"sort_index": _PROCESS - thread}, thread)
            for one in track:
                yield {
                    **_placed("X", one.name, one.start + origin_ns),
                    "tid": thread, "dur": _micros(one.length), "args": one.arguments,
                }  # fmt: skip
    for counter in counters:
        for time, figures in counter.points:
            if _wanted(time, 0, stretch):
                yield {**_placed("C", counter.name, time + origin_ns), "args": figures}


def _tracks(lane: Lane, stretch: tuple[int, int] | None) -> Iterator[list[Slice]]:
    """The slices of a lane, spread over tracks on which all of them nest."""
    slices = [one for one in lane.slices if _wanted(one.start, one.length, stretch)]
    slices.sort(key=lambda one: (one.start, -one.length))
    start = np.array([one.start for one in slices], dtype=np.int64)
    track = intervals.nesting(start, start + [one.length for one in slices])
    for number in range(int(track.max(initial=-1)) + 1):
        yield [slices[place] for place in np.flatnonzero(track == number)]


def _wanted(start: int, length: int, stretch: tuple[int, int] | None) -> bool:
    return stretch is None or (start < stretch[1] and start + length >= stretch[0])


def _named(what: str, value: Mapping[str, Any], thread: int = _PROCESS) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": _PROCESS, "tid": thread, "args": value}


def _placed(phase: str, name: str, time: int) -> dict[str, Any]:
    return {"ph": phase, "cat": CATEGORY, "name": name, "pid": _PROCESS, "ts": _micros(time)}


def _micros(ns: int) -> Raw:
    """A time as a trace file has it, exact to the ns."""
    sign, size = "-" if ns < 0 else "", abs(ns)
    return Raw(f"{sign}{size // 1000}.{size % 1000:03}".encode())
