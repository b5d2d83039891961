"""Events that are written as two, a begin and an end, made complete events.

`B` and `E` form a stack a thread; an end that has a name closes the innermost open event of that
name, so that ranges which interleave keep their own lengths. `b` and `e` (and the older `S` and
`F`) form such a stack for each category and id, on whatever thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import ASYNC_ID, Events, Texts
from traceview.trace import Note

_BEGIN, _END = "B", "E"
_ASYNC_BEGINS: Final = frozenset("bS")
_ASYNC_ENDS: Final = frozenset("eF")
COMPLETE: Final = "X"


@dataclass(slots=True)
class _Pairs:
    """Rows of begins, how long each lasts, and what had no partner."""

    rows: list[int] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    unclosed: int = 0
    unopened: int = 0

    def add(self, row: int, duration: int) -> None:
        self.rows.append(row)
        self.durations.append(duration)


def paired(events: Events) -> Events:
    """`events` with each begin as a complete event; the ends stay, and mean nothing any more."""
    on_threads = _rows_of(events, frozenset({_BEGIN, _END}))
    asynchronous = _rows_of(events, _ASYNC_BEGINS | _ASYNC_ENDS)
    if not on_threads.size and not asynchronous.size:
        return events
    pairs = _Pairs()
    _pair_threads(events, on_threads, pairs)
    first_async = len(pairs.rows)
    _pair_by_identity(events, asynchronous, pairs)
    return _completed(events, pairs, pairs.rows[first_async:])


def _rows_of(events: Events, phases: frozenset[str]) -> NDArray[np.int64]:
    """Rows of these phases with a time, by time and then as in the file."""
    wanted = np.array([phase in phases for phase in events.phase.values] + [False], dtype=np.bool_)
    rows = np.flatnonzero(wanted[events.phase.codes] & events.start_known)
    return rows[np.argsort(events.start_ns[rows], kind="stable")]


def _each(events: Events, rows: NDArray[np.int64]) -> Iterator[tuple[int, str, int, int]]:
    """Row, phase, code of the name and time of each of `rows`."""
    phases = [events.phase.values[code] for code in events.phase.codes[rows].tolist()]
    names, times = events.name.codes[rows].tolist(), events.start_ns[rows].tolist()
    return zip(rows.tolist(), phases, names, times, strict=True)


def _pair_threads(events: Events, rows: NDArray[np.int64], pairs: _Pairs) -> None:
    processes = events.process.codes[rows].tolist()
    threads = events.thread.codes[rows].tolist()
    tracks: dict[tuple[int, int], _Track] = defaultdict(_Track)
    for process, thread, (row, phase, name, time) in zip(
        processes, threads, _each(events, rows), strict=True
    ):
        track = tracks[process, thread]
        if phase == _BEGIN:
            track.begin(row, name, time, pairs)
        else:
            track.end(name, time, pairs)
    for track in tracks.values():
        track.close(pairs)


class _Track:
    """The open events of one thread, or of one id."""

    def __init__(self) -> None:
        self._open: list[tuple[int, int, int]] = []
        self._early: dict[tuple[int, int], int] = {}
        self._last = 0

    def begin(self, row: int, name: int, time: int, pairs: _Pairs) -> None:
        self._last = time
        if self._early.pop((name, time), None) is not None:
            # Written at one time with its end before it.
            pairs.unopened -= 1
            pairs.add(row, 0)
        else:
            self._open.append((row, name, time))

    def end(self, name: int, time: int, pairs: _Pairs) -> None:
        self._last = time
        for place in range(len(self._open) - 1, -1, -1):
            row, begun_as, begun = self._open[place]
            if name in {-1, begun_as}:
                del self._open[place]
                pairs.add(row, time - begun)
                return
        pairs.unopened += 1
        self._early[name, time] = 1

    def close(self, pairs: _Pairs) -> None:
        """What is still open lasts as long as anything is known of the thread."""
        pairs.unclosed += len(self._open)
        for row, _, begun in self._open:
            pairs.add(row, max(0, self._last - begun))


def _pair_by_identity(events: Events, rows: NDArray[np.int64], pairs: _Pairs) -> None:
    identities = _identities(events)
    categories = events.category.codes[rows].tolist()
    processes = events.process.codes[rows].tolist()
    tracks: dict[tuple[int, int, int], _Track] = defaultdict(_Track)
    for category, process, (row, phase, name, time) in zip(
        categories, processes, _each(events, rows), strict=True
    ):
        track = tracks[category, process, identities.get(row, -1)]
        if phase in _ASYNC_BEGINS:
            track.begin(row, name, time, pairs)
        else:
            track.end(name, time, pairs)
    for track in tracks.values():
        track.close(pairs)


def _identities(events: Events) -> dict[int, int]:
    found = events.texts.get(ASYNC_ID)
    if found is None:
        return {}
    return dict(zip(found.rows.tolist(), found.texts.codes.tolist(), strict=True))


def _completed(events: Events, pairs: _Pairs, asynchronous: list[int]) -> Events:
    values = tuple(dict.fromkeys((*events.phase.values, COMPLETE)))
    codes, durations = events.phase.codes.copy(), events.duration_ns.copy()
    known = events.duration_known.copy()
    codes[pairs.rows] = values.index(COMPLETE)
    durations[pairs.rows] = pairs.durations
    known[pairs.rows] = True
    return replace(
        events,
        phase=Texts(codes, values),
        thread=_own_threads(events, asynchronous),
        duration_ns=durations,
        duration_known=known,
        notes=(*events.notes, *_notes(pairs)),
    )


def _own_threads(events: Events, rows: list[int]) -> Texts:
    """A thread for each id, since asynchronous events overlap whatever runs on their thread."""
    found = events.texts.get(ASYNC_ID)
    if found is None or not rows:
        return events.thread
    identities = _identities(events)
    names = [f"async {value}" for value in found.texts.values]
    codes = events.thread.codes.copy()
    code_of = {value: code for code, value in enumerate(events.thread.values)}
    for row in rows:
        if row in identities:
            codes[row] = code_of.setdefault(names[identities[row]], len(code_of))
    return Texts(codes, tuple(code_of))


def _notes(pairs: _Pairs) -> Iterator[Note]:
    if pairs.unclosed:
        text = "events that begin and never end, which last as long as their thread or id is seen"
        yield Note("unclosed_begin", text, pairs.unclosed)
    if pairs.unopened:
        yield Note("unopened_end", "ends of events that never began", pairs.unopened)
