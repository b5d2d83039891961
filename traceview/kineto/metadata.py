"""What a file says apart from its events -> the metadata of its Trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from traceview.kineto.columns import Events, Texts
from traceview.kineto.values import INT64
from traceview.trace import Metadata, Note

BASE_TIME = "baseTimeNanoseconds"
"""The property that holds the epoch time, ns, of the file's zero."""


def metadata(events: Events, path: str | None, origin: int, notes: tuple[Note, ...]) -> Metadata:
    """The metadata of the Trace whose zero is `origin`, ns in the file's own time."""
    properties = dict(events.properties)
    base = _base_time(properties)
    if base is not None:
        del properties[BASE_TIME]
    return Metadata(
        path=path,
        base_time_ns=base,
        origin_ns=origin,
        resolution_ns=1000 if events.whole_microseconds and len(events) else 1,
        events=_by_phase(events.phase),
        dropped=events.dropped,
        repaired=events.repaired,
        properties=properties,
        **_names(events),
        notes=notes,
        decoder=events.decoder,
    )


def _by_phase(phase: Texts) -> Counter[str]:
    """How many entries there are of each phase, `?` for none."""
    missing, *counts = np.bincount(phase.codes + 1, minlength=len(phase.values) + 1).tolist()
    found = Counter[str]()
    for value, count in zip((*phase.values, ""), (*counts, missing), strict=True):
        found[value or "?"] += count
    return +found


def _base_time(properties: Mapping[str, Any]) -> int | None:
    """The base of all times; what saves a file again may write it as a text or as 1.7e18."""
    base = properties.get(BASE_TIME)
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
