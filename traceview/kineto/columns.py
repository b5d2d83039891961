"""Events: what a scan of a file yields, before anything is interpreted.

The boundary between reading bytes and building a Trace. Every entry of `traceEvents` has one place
in the dense arrays, in file order; an argument that only some events carry is sparse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traceview.trace import Note


@dataclass(frozen=True, slots=True)
class Texts:
    """Dictionary-encoded texts: `values[codes[i]]`; code -1 is a missing one."""

    codes: NDArray[np.int32]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SparseInts:
    """Integers of the events at `rows` (ascending); int64, or uint64 for addresses."""

    rows: NDArray[np.int64]
    values: NDArray[Any]


@dataclass(frozen=True, slots=True)
class SparseTexts:
    """Texts of the events at `rows` (ascending). Lists and objects keep their JSON text."""

    rows: NDArray[np.int64]
    texts: Texts


INTEGER_ARGUMENTS = (
    "correlation", "External id", "Sequence number", "Fwd thread id", "Python id",
    "Python parent id", "Python module id", "stream", "wait_on_stream",
    "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id", "event_id", "device", "bytes",
    "priority", "channel", "fromDevice", "toDevice", "registers per thread", "shared memory",
    "est. achieved occupancy %", "graph id", "graph node id", "Device Type", "Device Id", "Addr",
    "Bytes", "Total Allocated", "Total Reserved", "In msg nelems", "Out msg nelems", "Group size",
    "Seq", "Rank", "Src Rank", "Dst Rank", "Global rank start", "Global rank stride",
    "Process Group ID", "num_warps", "num_stages",
)  # fmt: skip
"""Arguments kept as integers, by their present names (format notes, 2.4).

What every op or kernel carries and no analysis asks for would only cost time: `context`, `queued`,
and of the texts below `Input Strides`, `blocks per SM` and `warps per SM` are passed over.
"""
TEXT_ARGUMENTS = (
    "Input Dims", "Input type", "Concrete Inputs", "Call stack", "Module Hierarchy", "grid",
    "block", "occupancy", "cuda_sync_kind", "kind", "Collective name", "dtype", "In split size",
    "Out split size", "Process Group Name", "Process Group Description", "Process Group Ranks",
    "Comms Id", "Is asynchronized op", "kernel_name", "kernel_backend", "kernel_file",
    "kernel_hash", "scope", "Task Type", "hlo_op", "hlo_module", "hlo_category", "kernel_details",
    "name", "labels", "finished",
)  # fmt: skip
"""Arguments kept as text; `name` and `labels` are those of metadata events (ph M).

Comms Id is a text, for it goes beyond 2^63.
"""
ALIASES = {
    "external id": "External id",
    "Input dims": "Input Dims",
    "stream_id": "stream",
    "Stream Id": "stream",
    "size": "bytes",
    "theoretical occupancy %": "est. achieved occupancy %",
    "correlation_id": "correlation",
}
"""Arguments by the names that older or other recorders gave them."""
ASYNC_ID = "id"
"""The `id` (or `id2`) of an event: what joins the ends of asynchronous events and of flows.

It is left out of the flows of Kineto, where it repeats the correlation or the sequence number.
"""


@dataclass(frozen=True, slots=True)
class Events:
    """One file. `start_ns` and `duration_ns` are exact integers in the file's own time.

    `start_known` and `duration_known` tell where the file has a value. `properties` are the
    top-level keys other than traceEvents; `notes` say what was repaired or skipped.
    """

    phase: Texts
    name: Texts
    category: Texts
    process: Texts
    thread: Texts
    start_ns: NDArray[np.int64]
    start_known: NDArray[np.bool_]
    duration_ns: NDArray[np.int64]
    duration_known: NDArray[np.bool_]
    whole_microseconds: bool
    integers: Mapping[str, SparseInts]
    texts: Mapping[str, SparseTexts]
    properties: Mapping[str, Any] = field(default_factory=dict)
    dropped: int = 0
    repaired: int = 0
    notes: tuple[Note, ...] = ()
    decoder: str = "python"
    """What took the entries off the text: "native" or "python"."""

    def __len__(self) -> int:
        return int(self.start_ns.size)
