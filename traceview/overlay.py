"""Metrics as tracks beside the recording that they were computed from, for Perfetto.

idle            each gap of a device, by its cause, with its parts
sync stalls     each blocking call, with what the devices did meanwhile
critical path   of each step that counts, stretch by stretch
matched work    beside another recording: what each piece of work is matched with
queue depth, memory        counters of a device
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview.diff import TraceDiff, diff
from traceview.diff.attribute import BUSY, paths
from traceview.diff.match import Change
from traceview.errors import UsageError
from traceview.kernel_names import short
from traceview.kineto.rewrite import Counter, Lane, Slice, rewritten
from traceview.metrics.critical_path import critical_path
from traceview.metrics.gaps import gap_parts, gaps
from traceview.metrics.launches import queue
from traceview.metrics.memory import memory_timeline
from traceview.metrics.steps import steps
from traceview.metrics.syncs import syncs
from traceview.trace import CPU, Trace


def overlay(
    trace: Trace, *, against: Trace | None = None, step: str | None = None
) -> Iterator[bytes]:
    """The recording that `trace` was read from with the tracks of its metrics, as JSON in pieces.

    With `against`, the recording before, each piece of work also says what it is matched with.
    `step` keeps only what shares an instant with that step. Raises UsageError for a trace that no
    file holds and for an unknown step, FileError for a damaged file.
    """
    path = trace.metadata.path
    if path is None:
        raise UsageError("the trace was not read from a file, so there is nothing to lay it over")
    stretch = None if step is None else _stretch(trace, step)
    lanes = [*_idle(trace), *_syncs(trace), *_path(trace)]
    if against is not None:
        lanes += _matched(diff(against, trace))
    counters = [*_queue(trace), *_memory(trace)]
    return rewritten(path, trace.metadata.origin_ns, lanes, counters, stretch)


def _stretch(trace: Trace, step: str) -> tuple[int, int]:
    """From the begin of a step to the end of its work."""
    table = steps(trace)
    found = table[(table[s.STEP] == step).to_numpy()]
    if found.empty:
        known = ", ".join(table[s.STEP].head(8)) or "none"
        raise UsageError(f"there is no step {step!r}; the steps are {known}")
    row = _known(found.iloc[0].to_dict())
    begin = row[s.START_NS]
    return begin, max(begin + row[s.HOST_NS], row.get(s.DEVICE_END_NS, begin))


def _slices(
    frame: pd.DataFrame, name: s.Column, length: s.Column, told: tuple[s.Column, ...]
) -> list[Slice]:
    """A slice a row, with what the row tells as its arguments."""
    columns = [frame[c].astype("object").tolist() for c in (s.START_NS, length, name)]
    values = [frame[c].astype("object").where(frame[c].notna(), None).tolist() for c in told]
    return [
        Slice(start, long, str(called), _stated(told, row))
        for start, long, called, *row in zip(*columns, *values, strict=True)
    ]


def _stated(columns: tuple[s.Column, ...], row: list[Any]) -> dict[str, Any]:
    """The values that a row has, by column."""
    pairs = zip(columns, row, strict=True)
    return {str(column): value for column, value in pairs if value is not None}


def _known(row: dict[Any, Any]) -> dict[str, Any]:
    """The values that a row has."""
    return {str(key): value for key, value in row.items() if not pd.isna(value)}


def _idle(trace: Trace) -> Iterator[Lane]:
    found = gaps(trace)
    parts: dict[int, dict[str, int]] = {}
    for gap, cause, ns in gap_parts(trace)[[s.GAP, s.CAUSE, s.NS]].itertuples(index=False):
        parts.setdefault(int(gap), {})[f"{cause}_ns"] = int(ns)
    told = (s.GAP, s.ENDED_BY, s.LAUNCH_CALL, s.CALL, s.OP, s.ANNOTATION)
    for device, mine in found.groupby(s.DEVICE_ID, sort=True):
        slices = [
            Slice(one.start, one.length, f"idle: {one.name}",
                  {**one.arguments, **parts.get(one.arguments["gap"], {})})
            for one in _slices(mine, s.CAUSE, s.DURATION_NS, told)
        ]  # fmt: skip
        yield Lane(f"GPU {device}: idle", slices)


def _syncs(trace: Trace) -> Iterator[Lane]:
    told = (s.KIND, s.DEVICE_BUSY_NS, s.DEVICE_IDLE_NS, s.OP, s.ANNOTATION)
    yield Lane("sync stalls", _slices(syncs(trace), s.CALL, s.BLOCKED_NS, told))


def _path(trace: Trace) -> Iterator[Lane]:
    table = steps(trace)
    path = critical_path(trace, table[table[s.EXCLUDED].isna()])
    told = (s.STEP, s.PATH_NAME, s.OP, s.ANNOTATION)
    yield Lane("critical path", _slices(path, s.PATH_KIND, s.DURATION_NS, told))


def _queue(trace: Trace) -> Iterator[Counter]:
    for device, mine in queue(trace).groupby(s.DEVICE_ID, sort=True):
        points = mine[[s.TIME_NS, s.DEPTH]].itertuples(index=False)
        yield Counter(
            f"GPU {device}: queue depth", [(int(at), {"launches": int(n)}) for at, n in points]
        )


def _memory(trace: Trace) -> Iterator[Counter]:
    timeline = memory_timeline(trace)
    for (kind, number), mine in timeline.groupby([s.DEVICE_TYPE, s.MEMORY_DEVICE], sort=True):
        name = "CPU: memory" if kind == CPU else f"GPU {number}: memory"
        rows = mine[[s.ALLOCATED, s.RESERVED]].astype("object").to_dict("records")
        points = zip(mine[s.TIME_NS].tolist(), map(_known, rows), strict=True)
        yield Counter(name, list(points))


def _matched(compared: TraceDiff) -> Iterator[Lane]:
    """Neighbouring work of one row of the attribution as one slice, on each stream."""
    rows = compared.attribution
    work = compared.after[0].work
    busy = rows[(rows[s.PART] == BUSY).to_numpy()]
    number = {str(path): row for row, path in zip(busy.index.tolist(), busy[s.PATH], strict=True)}
    after = compared.replaced[(compared.replaced[s.SIDE] == "after").to_numpy()]
    number |= {str(path): int(row) for row, path in zip(after[s.ROW], after[s.PATH], strict=True)}
    row_of = pd.Series([number.get(path, -1) for path in paths(work)], index=work.index)
    work = work.assign(row=row_of)[(row_of >= 0).to_numpy()].sort_values(s.START_NS, kind="stable")
    told = (s.CHANGE, s.PATH, s.BEFORE_NS, s.AFTER_NS, s.DELTA_NS)
    for (device, stream), mine in work.groupby([s.DEVICE_ID, s.STREAM], dropna=False, sort=True):
        yield Lane(f"GPU {device}: matched work of stream {stream}",
                   list(_groups(mine, rows, told)))  # fmt: skip


def _groups(work: pd.DataFrame, rows: pd.DataFrame, told: tuple[s.Column, ...]) -> Iterator[Slice]:
    runs = (work["row"] != work["row"].shift()).cumsum()
    end = work[s.START_NS] + work[s.DURATION_NS]
    for _, mine in work.groupby(runs, sort=True):
        row = rows.loc[int(mine["row"].iloc[0])]
        start = int(mine[s.START_NS].iloc[0])
        said = (
            row[s.LABEL]
            if row[s.CHANGE] == Change.REPLACED
            else short(row[s.PATH].split(" > ")[-1])
        )
        length = int(end.loc[mine.index].max()) - start
        yield Slice(start, length, f"{row[s.CHANGE]}: {said}", _known(row[list(told)].to_dict()))
