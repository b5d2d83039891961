"""Tracks: the names that a trace gives its processes and threads, and events chosen by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import Events, SparseInts, Texts

_Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tracks:
    """Names by code of process, and by codes of process and thread; from events of phase M."""

    processes: Mapping[int, str]
    threads: Mapping[tuple[int, int], str]
    labels: Mapping[int, str]

    @classmethod
    def of(cls, events: Events) -> Tracks:
        """The names in `events`."""
        processes: dict[int, str] = {}
        threads: dict[tuple[int, int], str] = {}
        for row, text in _texts(events, "name"):
            what = events.name.codes[row]
            process, thread = int(events.process.codes[row]), int(events.thread.codes[row])
            if what < 0:
                continue
            if events.name.values[what] == "process_name":
                processes[process] = text
            elif events.name.values[what] == "thread_name":
                threads[process, thread] = text
        labels = {int(events.process.codes[row]): text for row, text in _texts(events, "labels")}
        return cls(processes, threads, labels)

    def in_process(self, events: Events, wanted: Callable[[str], bool]) -> _Mask:
        """The events of processes whose name is wanted."""
        codes = [code for code, name in self.processes.items() if wanted(name)]
        return np.isin(events.process.codes, np.array(codes, dtype=np.int32))

    def on_threads(self, events: Events, wanted: Callable[[str, str], bool]) -> _Mask:
        """The events of threads of which the names of process and thread are wanted."""
        mask = np.zeros(len(events), dtype=np.bool_)
        for (process, thread), name in self.threads.items():
            if wanted(self.processes.get(process, ""), name):
                mask |= (events.process.codes == process) & (events.thread.codes == thread)
        return mask


def _texts(events: Events, argument: str) -> list[tuple[int, str]]:
    found = events.texts.get(argument)
    if found is None:
        return []
    codes = found.texts.codes.tolist()
    return [
        (row, found.texts.values[code])
        for row, code in zip(found.rows.tolist(), codes, strict=True)
    ]


def complete(events: Events) -> _Mask:
    """The complete events (ph X)."""
    if "X" not in events.phase.values:
        return np.zeros(len(events), dtype=np.bool_)
    return np.asarray(events.phase.codes == events.phase.values.index("X"))


def recategorized(events: Events, hit: _Mask, category: str) -> Events:
    """`events` with another category where `hit`."""
    values = tuple(dict.fromkeys((*events.category.values, category)))
    codes = np.where(hit, np.int32(values.index(category)), events.category.codes)
    return replace(events, category=Texts(codes, values))


def with_integers(events: Events, argument: str, rows: NDArray[np.int64], values: object) -> Events:
    """`events` in which `argument` of `rows` has these values, whatever it was."""
    old = events.integers.get(argument)
    new = np.broadcast_to(np.asarray(values, dtype=np.int64), rows.shape)
    if old is not None:
        kept = ~np.isin(old.rows, rows)
        rows = np.concatenate([old.rows[kept], rows])
        new = np.concatenate([old.values[kept], new])
    order = np.argsort(rows, kind="stable")
    integers = dict(events.integers) | {argument: SparseInts(rows[order], new[order])}
    return replace(events, integers=integers)
