"""The critical path of a step: what its length consists of, through host and device.

From the end of a step the path goes back in time, at each place to what was waited for last:

    device work      the work before it on its stream, the event that its stream waits for, work of
                     the same graph launch, or the call that launched it
    a host thread    what it did before, back to a blocking call that waited for device work, or to
                     a time outside any op in which another launching thread finished one

so that the stretches of the path tile the step exactly: shortening anything else would not have
made the step shorter. Kinds of stretches:

    kernel, gpu_memcpy, gpu_memset   device work
    queued, graph, stream_wait       between two pieces of work: on a stream, in a graph launch,
                                     after an event of another stream
    launch_latency                   from the return of the launch call to the start of the work
    unlinked                         work that waited for nothing the recording shows
    sync, memcpy_blocking            in a blocking call, after the device work that it waited for
    allocation, overhead             in calls that allocate or free memory, or load code
    launch_call                      in other runtime and driver calls
    cpu_op, dataloader, python, unobserved     what else the host did

What the recording does not say is not guessed: locks between threads, priorities, and events
recorded without `enable_cuda_sync_events` leave a path that is only likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.context import names_at, site, thread_numbers
from traceview.intervals import Ints
from traceview.metrics.critical_path.device import waits
from traceview.metrics.critical_path.doing import Pieces, pieces_of
from traceview.metrics.critical_path.host import threads
from traceview.metrics.critical_path.walk import RETURNING, WORKING, Stretch, walked
from traceview.trace import OP, Trace

WHOLE = "whole window"
"""The name of the only step of a recording that has none."""
_NONE = -1
_UNOBSERVED = "nothing recorded"


def critical_path(trace: Trace, steps: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a stretch of the path of each step, by time; columns as schema.CRITICAL_PATH.

    `steps` (columns as schema.STEPS) are the steps to look at. The path of a step with device work
    is that of its device period, from the last device end of the step before to its own; where that
    is unknown it begins with the host range, and a step without device work is its host range.
    Without steps the path is that of the whole window. The rows of a step tile it exactly.
    """
    windows = list(_windows(trace, s.STEPS.empty() if steps is None else steps))
    path = _path(trace, windows)
    host = np.flatnonzero(path.thread >= 0)
    device = np.flatnonzero(path.thread < 0)
    pieces = pieces_of(trace, path.thread[host], path.start[host], path.end[host])
    stretch = np.append(host[pieces.stretch], device)
    start = np.append(pieces.start, path.start[device])
    event = np.append(pieces.event, np.full(device.size, _NONE))
    order = np.lexsort((start, path.window[stretch]))
    kind = _kinds(path.what[host][pieces.stretch], pieces)
    rows = _Rows(
        window=path.window[stretch][order],
        start=start[order],
        end=np.append(pieces.end, path.end[device])[order],
        kind=np.append(kind, path.what[device])[order],
        event=event[order],
        work=path.work[stretch][order],
        thread=path.thread[stretch][order],
    )
    return _frame(trace, rows, [name for name, *_ in windows])


def critical_path_parts(path: pd.DataFrame) -> pd.DataFrame:
    """The path by step and kind, ns; columns as schema.CRITICAL_PARTS, most first in each step."""
    keys = [s.STEP_NUMBER, s.STEP, s.PATH_KIND]
    sums = path.groupby(keys, sort=False)[s.DURATION_NS].sum()
    found = sums.index.to_frame(index=False)
    frame = s.CRITICAL_PARTS.frame({**{key: found[key] for key in keys}, s.NS: sums.to_numpy()})
    return frame.sort_values(
        [s.STEP_NUMBER, s.NS], ascending=[True, False], kind="stable", ignore_index=True
    )


def critical_path_ops(path: pd.DataFrame) -> pd.DataFrame:
    """The ops that lie on the path, most time first; columns as schema.CRITICAL_OPS.

    An op is on it with what it did on the host, and with the device work that it launched.
    """
    device = path[s.ON_DEVICE].notna().to_numpy()
    names = path[s.OP].fillna(_OUTSIDE)
    length = path[s.DURATION_NS]
    table = pd.DataFrame(
        {
            s.OP: names,
            s.PATH_HOST_NS: length.where(~device, 0),
            s.PATH_DEVICE_NS: length.where(device, 0),
            s.NS: length,
        }
    ).groupby(s.OP, sort=True)
    sums = table.sum()
    frame = s.CRITICAL_OPS.frame(
        {
            s.OP: sums.index.to_numpy(dtype=object),
            s.COUNT: table.size().to_numpy(),
            **{c: sums[c] for c in (s.PATH_HOST_NS, s.PATH_DEVICE_NS, s.NS)},
        }
    )
    return frame.sort_values(s.NS, ascending=False, kind="stable", ignore_index=True)


_OUTSIDE = "outside any op"


def _windows(trace: Trace, steps: pd.DataFrame) -> Iterator[tuple[str, int, int, int]]:
    """(name, begin, end, thread number of the host range or -1) of each path."""
    if steps.empty:
        work = trace.work if len(trace.work) else trace.host_of(OP)
        if len(work):
            ends = work[s.START_NS] + work[s.DURATION_NS]
            last = work.iloc[[int(ends.to_numpy().argmax())]]
            on_host = bool(trace.work.empty)
            thread = int(thread_numbers(trace, last)[0]) if on_host else _NONE
            yield WHOLE, int(work[s.START_NS].min()), int(ends.max()), thread
        return
    host = trace.host
    before: dict[str, int] = {}
    begin = steps[s.START_NS].to_numpy()
    finish = begin + steps[s.HOST_NS].to_numpy()
    end = steps[s.DEVICE_END_NS].to_numpy(dtype=np.int64, na_value=_NONE)
    period = steps[s.DEVICE_PERIOD_NS].to_numpy(dtype=np.int64, na_value=_NONE)
    number = thread_numbers(trace, host)
    for row, (name, process) in enumerate(
        zip(steps[s.STEP], steps[s.PROCESS].astype("str"), strict=True)
    ):
        if end[row] < 0:
            position = np.searchsorted(host[s.START_NS].to_numpy(), begin[row])
            at = np.flatnonzero((host[s.NAME].iloc[position:] == name).to_numpy())[0]
            yield str(name), int(begin[row]), int(finish[row]), int(number[position + at])
            continue
        own = int(end[row] - period[row]) if period[row] >= 0 else int(begin[row])
        yield str(name), before.get(process, own), int(end[row]), _NONE
        before[process] = int(end[row])


@dataclass(frozen=True, slots=True)
class _Path:
    """The stretches of all paths as parallel arrays, and the window that each is of."""

    start: Ints
    end: Ints
    what: NDArray[np.object_]
    work: Ints
    thread: Ints
    window: Ints


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of the frame: stretches on a device (`work`), pieces of those on a host thread."""

    window: Ints
    start: Ints
    end: Ints
    kind: NDArray[np.object_]
    event: Ints
    work: Ints
    thread: Ints


def _path(trace: Trace, windows: list[tuple[str, int, int, int]]) -> _Path:
    work = trace.work
    end = work[s.START_NS].to_numpy() + work[s.DURATION_NS].to_numpy()
    by_end = np.argsort(end, kind="stable")
    launching = _launching(trace)[0].tolist()
    waiting, running = waits(trace), threads(trace)
    stretches: list[Stretch] = []
    owners: list[int] = []
    for number, (_, low, high, thread) in enumerate(windows):
        last = int(np.searchsorted(end[by_end], high, "right")) - 1
        begin = (int(by_end[last]), _NONE) if thread < 0 else (_NONE, thread)
        path = walked(waiting, running, launching, (low, high), begin)
        stretches += path
        owners += [number] * len(path)
    start, until, what, on, thread_of = zip(*stretches, strict=True) if stretches else [()] * 5
    category = np.append(work[s.CATEGORY].astype("object").to_numpy(), "")
    names = np.array(what, dtype=object)
    pieces = np.array(on, dtype=np.int64)
    names[names == WORKING] = category[pieces[names == WORKING]]
    return _Path(
        np.array(start, dtype=np.int64),
        np.array(until, dtype=np.int64),
        names,
        pieces,
        np.array(thread_of, dtype=np.int64),
        np.array(owners, dtype=np.int64),
    )


def _launching(trace: Trace) -> tuple[Ints, Ints]:
    """The thread number (-1 for none) and the start of the call that launched each work."""
    host = trace.host
    launch = trace.work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=_NONE)
    called = np.append(host[s.START_NS].to_numpy(), 0)[launch]
    return np.append(thread_numbers(trace, host), _NONE)[launch], called


def _kinds(what: NDArray[np.object_], pieces: Pieces) -> NDArray[np.object_]:
    """The way back from device work is `sync` as a whole; else a piece tells its own kind."""
    return np.where(what == RETURNING, RETURNING, pieces.kind)


def _frame(trace: Trace, rows: _Rows, steps: list[str]) -> pd.DataFrame:
    work = trace.work
    on_host = rows.thread >= 0
    launching, called = (np.append(values, _NONE)[rows.work] for values in _launching(trace))
    around = site(
        trace, np.where(on_host, rows.thread, launching), np.where(on_host, rows.start, called)
    )
    ran = work[s.NAME].astype("string").reindex(rows.work).reset_index(drop=True)
    did = names_at(trace, rows.event).fillna(_UNOBSERVED)
    return s.CRITICAL_PATH.frame(
        {
            s.STEP_NUMBER: rows.window,
            s.STEP: np.array(steps, dtype=object)[rows.window],
            s.START_NS: rows.start,
            s.DURATION_NS: rows.end - rows.start,
            s.PATH_KIND: rows.kind,
            s.PATH_NAME: ran.where(~on_host, did),
            s.OP: around[s.OP],
            s.ANNOTATION: around[s.ANNOTATION],
            s.ON_DEVICE: work[s.DEVICE_ID].astype("Int64").reindex(rows.work).array,
            s.STREAM: work[s.STREAM].reindex(rows.work).array,
            **_thread_names(trace, rows.thread),
        }
    )


def _thread_names(trace: Trace, number: Ints) -> dict[s.Column, pd.Categorical]:
    """PROCESS and THREAD of thread numbers (`context.thread_numbers`), missing for -1."""
    host = trace.host
    processes, names = host[s.PROCESS].cat.categories, host[s.THREAD].cat.categories
    process, thread = np.divmod(number, max(len(names), 1))
    thread = np.where(number >= 0, thread, _NONE)
    return {
        s.PROCESS: pd.Categorical.from_codes(process, categories=processes),
        s.THREAD: pd.Categorical.from_codes(thread, categories=names),
    }
