"""Traces of JAX, TensorFlow and XLA as XProf writes them (format notes, 5).

No event has a category: the names of its process and thread tell what it is. The truth of a GPU
are the rows of its streams, that of a TPU the rows of its XLA operations; all other rows of a
device are derived from these and would count the same work again.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import Events
from traceview.kineto.tracks import Tracks, complete, recategorized, with_integers

MEANING: Final = (
    "a trace of JAX or TensorFlow (XProf): the rows of streams are device work, rows derived from "
    "them are left out; it holds no operators of PyTorch"
)
DERIVED: Final = "derived"
_DEVICE = re.compile(r"/device:\w+:(\d+)")
_HOST = "/host:"
_STREAM = re.compile(r"Stream #(\d+)")
_OPERATIONS = "XLA Ops"
_COPY = re.compile(r"Memcpy|.*memcpy|copy-(?:start|done)|infeed|outfeed", re.IGNORECASE)
_SET = re.compile(r"Memset", re.IGNORECASE)


def recognized(tracks: Tracks) -> bool:
    """The names of the processes are those of XProf."""
    return any(name.startswith(_HOST) or _DEVICE.match(name) for name in tracks.processes.values())


def translated(events: Events, tracks: Tracks) -> Events:
    """`events` with categories, devices and streams by the names of their tracks."""
    whole = complete(events)
    on_host = whole & tracks.in_process(events, lambda name: name.startswith(_HOST))
    on_device = whole & tracks.in_process(events, lambda name: bool(_DEVICE.match(name)))
    streams = tracks.on_threads(events, lambda _, thread: bool(_STREAM.match(thread)))
    operations = tracks.on_threads(events, lambda _, thread: thread == _OPERATIONS)
    work = on_device & (streams if streams.any() else operations)
    events = recategorized(events, on_device, DERIVED)
    events = recategorized(events, work, "kernel")
    events = recategorized(events, work & _named(events, _COPY), "gpu_memcpy")
    events = recategorized(events, work & _named(events, _SET), "gpu_memset")
    events = recategorized(events, on_host, "cpu_op")
    events = recategorized(events, on_host & _named(events, re.compile(r"\$")), "python_function")
    events = recategorized(events, on_host & _having(events, "correlation"), "cuda_driver")
    for (process, thread), name in tracks.threads.items():
        device = _DEVICE.match(tracks.processes.get(process, ""))
        stream = _STREAM.match(name)
        here = (events.process.codes == process) & (events.thread.codes == thread)
        rows = np.flatnonzero(work & here)
        if device and rows.size:
            events = with_integers(events, "device", rows, int(device[1]))
            events = with_integers(events, "stream", rows, int(stream[1]) if stream else 0)
    return events


def _named(events: Events, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    hits = [pattern.match(name) is not None for name in events.name.values]
    return np.array([*hits, False], dtype=np.bool_)[events.name.codes]


def _having(events: Events, argument: str) -> NDArray[np.bool_]:
    mask = np.zeros(len(events), dtype=np.bool_)
    if (found := events.integers.get(argument)) is not None:
        mask[found.rows] = True
    return mask
