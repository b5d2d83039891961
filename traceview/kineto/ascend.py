"""Traces of Huawei's Ascend NPUs: trace_view.json of torch_npu (format notes, 5).

Device rows have no category but a process called "Ascend Hardware"; the calls of the CANN runtime
are joined with the work they launch by flow events instead of correlation numbers.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import Events
from traceview.kineto.tracks import Tracks, complete, recategorized, with_integers

MEANING: Final = (
    "a trace of an Ascend NPU (torch_npu): the rows of Ascend Hardware are device work, those of "
    "CANN runtime calls; communication and overlap rows are derived and left out"
)
DERIVED: Final = "derived"
_HARDWARE, _RUNTIME = "Ascend Hardware", "CANN"
_DERIVED = re.compile(r"Communication|HCCL|Overlap Analysis|AI Core Freq|HBM|.*Bandwidth")
_STREAM = re.compile(r"Stream (\d+)")
_DIGITS = re.compile(r"\d+")
_COPY = re.compile(r"MEMCPY|Memcpy|SDMA", re.IGNORECASE)
_SET = re.compile(r"MEMSET", re.IGNORECASE)
_NO_WORK = re.compile(r"EVENT_RECORD|EVENT_WAIT|Notify_Wait|Notify Wait", re.IGNORECASE)
_FLOW: Final = "hosttodevice"


def recognized(tracks: Tracks) -> bool:
    """One process is the hardware."""
    return _HARDWARE in tracks.processes.values()


def translated(events: Events, tracks: Tracks) -> Events:
    """`events` with categories, devices, streams and correlations."""
    whole = complete(events)
    work = whole & tracks.in_process(events, lambda name: name == _HARDWARE)
    calls = whole & tracks.in_process(events, lambda name: name == _RUNTIME)
    events = recategorized(events, calls, "privateuse1_runtime")
    derived = whole & tracks.in_process(events, lambda name: bool(_DERIVED.match(name)))
    events = recategorized(events, derived, DERIVED)
    events = recategorized(events, work, "kernel")
    for pattern, category in ((_COPY, "gpu_memcpy"), (_SET, "gpu_memset"), (_NO_WORK, DERIVED)):
        events = recategorized(events, work & _named(events, pattern), category)
    events = _placed(events, tracks, work)
    return _correlated(events, calls, work)


def _named(events: Events, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    hits = [pattern.match(name) is not None for name in events.name.values]
    return np.array([*hits, False], dtype=np.bool_)[events.name.codes]


def _placed(events: Events, tracks: Tracks, work: NDArray[np.bool_]) -> Events:
    """Devices by the labels of the processes, streams by the names of the threads."""
    hardware = [code for code, name in tracks.processes.items() if name == _HARDWARE]
    for order, process in enumerate(hardware):
        digits = _DIGITS.search(tracks.labels.get(process, ""))
        rows = np.flatnonzero(work & (events.process.codes == process))
        events = with_integers(events, "device", rows, int(digits[0]) if digits else order)
    for (process, thread), name in tracks.threads.items():
        stream = _STREAM.match(name)
        if stream and process in hardware:
            here = (events.process.codes == process) & (events.thread.codes == thread)
            events = with_integers(events, "stream", np.flatnonzero(work & here), int(stream[1]))
    return events


def _correlated(events: Events, calls: NDArray[np.bool_], work: NDArray[np.bool_]) -> Events:
    """Correlations from the flows between calls and work: a number a flow."""
    if _FLOW not in events.category.values:
        return events
    flow = events.category.codes == events.category.values.index(_FLOW)
    call_at, work_at = _by_place(events, calls), _by_place(events, work)
    rows: list[int] = []
    numbers: list[int] = []
    number_of: dict[tuple[int, int], int] = {}
    identities = _identities(events)
    for row in np.flatnonzero(flow & events.start_known).tolist():
        place = _place(events, row)
        found = call_at.get(place, work_at.get(place))
        identity = identities.get(row)
        if found is not None and identity is not None:
            key = (int(events.category.codes[row]), identity)
            rows.append(found)
            numbers.append(number_of.setdefault(key, len(number_of) + 1))
    unique, first = np.unique(np.array(rows, dtype=np.int64), return_index=True)
    return with_integers(events, "correlation", unique, np.array(numbers, dtype=np.int64)[first])


def _place(events: Events, row: int) -> tuple[int, int, int]:
    return (
        int(events.process.codes[row]),
        int(events.thread.codes[row]),
        int(events.start_ns[row]),
    )


def _by_place(events: Events, mask: NDArray[np.bool_]) -> dict[tuple[int, int, int], int]:
    """Rows by process, thread and start."""
    return {_place(events, row): row for row in np.flatnonzero(mask).tolist()}


def _identities(events: Events) -> dict[int, int]:
    found = events.texts.get("id")
    if found is None:
        return {}
    return dict(zip(found.rows.tolist(), found.texts.codes.tolist(), strict=True))
