"""What an idle device waits for: each gap, split exactly into causes.

A gap is a maximal idle interval of a device. The work that ends it names a launch, and the launch
says where the time went. Was it made before the gap began, the device itself was waiting:

    stream_wait      its stream had been told to wait for an event
    graph            it and the work before the gap are of one graph launch
    queued           anything else that delays launched work

Was it made during the gap, the part before the launch is what the launching thread did, first that
applies at each instant, and the rest follows from the call itself:

    sync             in a synchronizing call; also all that no later row explains, where such a call
                     had drained the queue: the host had to start afresh
    allocation       in a call that allocates or frees memory
    memcpy_blocking  in a blocking or pageable copy; likewise where one had drained the queue
    overhead         profiler overhead, code loading, compilation
    dataloader       in a DataLoader range
    launch_call      in a runtime or driver call, the launching one included
    cpu_op           in an op
    python           in Python frames, but in no op
    unobserved       nothing recorded
    launch_latency   from the return of the launch call to the start of the work

Work without a launch in the file leaves its gap `unlinked`: unexplained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import calls, intervals
from traceview import schema as s
from traceview.context import names_at, site, thread_numbers
from traceview.intervals import Ints
from traceview.trace import ANNOTATION, FRAME, LAUNCHING, OP, OVERHEAD, SYNC_RECORD, Trace, extent

_HOST_CAUSES = (
    "sync", "allocation", "memcpy_blocking", "overhead", "dataloader", "launch_call", "cpu_op",
    "python", "unobserved",
)  # fmt: skip
"""What the launching thread did, first that applies."""
CAUSES = (*_HOST_CAUSES, "launch_latency", "stream_wait", "graph", "queued", "unlinked")
_OWN_CAUSES = ("allocation", "memcpy_blocking", "overhead", "dataloader")
"""What keeps its name after a drained queue."""
_DATALOADER = "enumerate(DataLoader)"


def gaps(trace: Trace) -> pd.DataFrame:
    """One row a gap, by device and time; columns as schema.GAP_LIST.

    `cause` is its largest part; `call`, `op`, `annotation` and `python_frame` are what the
    launching thread was in when the gap began, `call` only if that blocks. Of a stream_wait they
    are where the awaited event was recorded, or, where the recording does not tell, the wait call.
    """
    found, parts = trace.derived(_gaps), trace.derived(_whole_parts)
    largest = np.array(CAUSES, dtype=object)[parts.argmax(axis=1)] if len(parts) else []
    inside = _covering(trace, calls.blocking(trace).index, found)
    waited = _recorders(trace, np.where(_causes(parts, "stream_wait"), _waits(trace, found), -1))
    host = trace.host
    elsewhere = waited >= 0
    threads = np.append(thread_numbers(trace, host), -1)[waited]
    times = np.append(host[s.START_NS].to_numpy(), 0)[waited]
    launching = np.where(found.launch >= 0, found.thread, -1)
    return s.GAP_LIST.frame(
        {
            s.GAP: np.arange(found.start.size),
            s.DEVICE_ID: found.device,
            s.START_NS: found.start,
            s.DURATION_NS: found.end - found.start,
            s.CAUSE: largest,
            s.ENDED_BY: trace.work[s.NAME].astype("string").array[found.ender],
            s.LAUNCH_CALL: names_at(trace, found.launch),
            s.CALL: names_at(trace, np.where(elsewhere, waited, inside)),
            **site(
                trace,
                np.where(elsewhere, threads, launching),
                np.where(elsewhere, times, found.start),
            ),
        }
    )


def gap_parts(trace: Trace) -> pd.DataFrame:
    """One row a gap and cause, ns; the parts of a gap add up to it. Columns as schema.GAP_PARTS."""
    found, parts = trace.derived(_gaps), trace.derived(_whole_parts)
    gap, cause = np.nonzero(parts)
    return s.GAP_PARTS.frame(
        {
            s.GAP: gap,
            s.DEVICE_ID: found.device[gap],
            s.CAUSE: np.array(CAUSES, dtype=object)[cause],
            s.NS: parts[gap, cause],
        }
    )


def idle_sites(trace: Trace) -> pd.DataFrame:
    """Idle time by cause and place, most first; columns as schema.IDLE_SITES.

    The rows of a device add up to its idle time. The place is that of the gap (see `gaps`); a
    blocking call is named for the parts that it causes.
    """
    places = gaps(trace)[[s.GAP, s.CALL, s.OP, s.ANNOTATION, s.FRAME]]
    parts = gap_parts(trace).merge(places, on=s.GAP, how="left", validate="many_to_one")
    blocks = parts[s.CAUSE].isin(("sync", "memcpy_blocking", "stream_wait"))
    parts[s.CALL] = parts[s.CALL].where(blocks)
    keys = [s.DEVICE_ID, s.CAUSE, s.CALL, s.OP, s.ANNOTATION, s.FRAME]
    groups = parts.groupby(keys, dropna=False, sort=True)[s.NS]
    sums = groups.sum()
    found = sums.index.to_frame(index=False)
    frame = s.IDLE_SITES.frame(
        {**{key: found[key] for key in keys}, s.GAPS: groups.size().to_numpy(), s.NS: sums}
    )
    order = [s.DEVICE_ID, s.NS]
    return frame.sort_values(order, ascending=[True, False], kind="stable", ignore_index=True)


def idle(trace: Trace, windows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Idle time of each device by cause, ns; columns as schema.IDLE, most first.

    With `windows` (columns as schema.WINDOWS) only what lies within them; a gap that crosses an
    edge keeps its causes. The rows of a device add up to its idle time exactly.
    """
    found = trace.derived(_gaps)
    gap = np.arange(found.start.size)
    if windows is None:
        parts = trace.derived(_whole_parts)
    else:
        gap, start, end = _within(found, windows)
        found = found.take(gap)
        parts = _parts(trace, found, start, end)
    rows = [
        (int(device), cause, np.unique(gap[mine][column > 0]).size, int(column.sum()))
        for device in np.unique(found.device)
        for mine in (found.device == device,)
        for cause, column in zip(CAUSES, parts[mine].T, strict=True)
        if column.any()
    ]
    rows.sort(key=lambda row: (row[0], -row[3]))
    return s.IDLE.of_rows(rows)


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Parallel arrays, one entry a gap.

    Its device and interval, the work that ends it and that before it (positions in `trace.work`),
    its launch (position in the host frame, -1 for none), and that call's thread, start and end.
    """

    device: Ints
    start: Ints
    end: Ints
    ender: Ints
    before: Ints
    launch: Ints
    thread: Ints
    call_start: Ints
    call_end: Ints

    def take(self, index: Ints) -> _Gaps:
        """The gaps of this index."""
        return _Gaps(*(getattr(self, name)[index] for name in self.__slots__))


def _gaps(trace: Trace) -> _Gaps:
    work = trace.work
    start, end = extent(work)
    device = work[s.DEVICE_ID].to_numpy()
    found = [_gaps_of(np.flatnonzero(device == number), start, end) for number in np.unique(device)]
    empty = np.empty((4, 0), dtype=np.int64)
    begin, finish, ender, before = np.concatenate(found or [empty], axis=1)
    host = trace.host
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)[ender]
    call_start = np.append(host[s.START_NS].to_numpy(), 0)[launch]
    return _Gaps(
        device[ender],
        begin,
        finish,
        ender,
        before,
        launch,
        np.append(thread_numbers(trace, host), -1)[launch],
        call_start,
        call_start + np.append(host[s.DURATION_NS].to_numpy(), 0)[launch],
    )


def _gaps_of(rows: NDArray[np.intp], start: Ints, end: Ints) -> NDArray[np.int64]:
    """Of one device's work: (gap start, gap end, work that ends it, work that ended before it)."""
    busy = intervals.union(start[rows], end[rows])
    reach = np.maximum.accumulate(end[rows])
    # Work of no length at an edge of the window makes no busy time, but the edge.
    begin = np.append(start[rows[0]], busy.ends)
    finish = np.append(busy.starts, reach[-1])
    begin, finish = begin[begin < finish], finish[begin < finish]
    ender = np.searchsorted(start[rows], finish, side="left")
    last = np.searchsorted(reach, begin, side="left")
    return np.stack((begin, finish, rows[ender], rows[last]))


def _whole_parts(trace: Trace) -> NDArray[np.int64]:
    """Time by cause (a column each, as CAUSES) of each gap."""
    found = trace.derived(_gaps)
    return _parts(trace, found, found.start, found.end)


def _parts(trace: Trace, found: _Gaps, start: Ints, end: Ints) -> NDArray[np.int64]:
    """Time by cause (a column each, as CAUSES) of the part [start, end) of each gap."""
    parts = np.zeros((found.start.size, len(CAUSES)), dtype=np.int64)
    waiting = (found.launch >= 0) & (found.call_start <= found.start)
    for cause, waits in (("unlinked", found.launch < 0), *_device_side(trace, found, waiting)):
        parts[waits, CAUSES.index(cause)] = (end - start)[waits]
    rows = np.flatnonzero((found.launch >= 0) & ~waiting)
    low, high = start[rows], end[rows]
    called = np.clip(found.call_start[rows], low, high)
    returned = np.clip(np.maximum(found.call_end, found.call_start)[rows], low, high)
    parts[rows, : len(_HOST_CAUSES)] = _host_side(trace, found, rows, low, called)
    parts[rows, CAUSES.index("launch_call")] += returned - called
    parts[rows, CAUSES.index("launch_latency")] = high - returned
    return parts


def _device_side(
    trace: Trace, found: _Gaps, waiting: NDArray[np.bool_]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The gaps whose work was launched before they began, by cause."""
    before = trace.work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)[found.before]
    told = waiting & (_waits(trace, found) >= 0)
    replayed = np.append(trace.host_of(*LAUNCHING, called=_is_graph_launch).index.to_numpy(), -1)
    of_graph = np.isin(found.launch, replayed) | _of_a_graph(trace, found)
    graph = waiting & ~told & of_graph & (before == found.launch)
    yield "stream_wait", told
    yield "graph", graph
    yield "queued", waiting & ~told & ~graph


def _is_graph_launch(name: str) -> bool:
    return "GraphLaunch" in name


def _of_a_graph(trace: Trace, found: _Gaps) -> NDArray[np.bool_]:
    """The gaps that end with work of which the recording says that it is a graph's."""
    number = trace.work[s.GRAPH_ID].to_numpy(dtype=np.int64, na_value=0)
    return np.asarray(number[found.ender] > 0)


def _causes(parts: NDArray[np.int64], cause: str) -> NDArray[np.bool_]:
    """The gaps that have a part of this cause."""
    return np.asarray(parts[:, CAUSES.index(cause)] > 0)


def _waits(trace: Trace, found: _Gaps) -> Ints:
    """The last call, since the launch before, that told the stream of the work to wait; or -1.

    A position in the host frame for each gap.
    """
    waits = calls.event_waits(trace)
    result = np.full(found.start.size, -1)
    if waits.empty:
        return result
    work = trace.work
    stream = work[s.STREAM].to_numpy(dtype=np.int64, na_value=-1)
    device = work[s.DEVICE_ID].to_numpy()
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)
    held = _from_sync_record(trace, waits, s.STREAM)
    positions = waits.index.to_numpy()
    process = trace.host[s.PROCESS].cat.codes.to_numpy()
    for number in np.unique(stream[found.ender]):
        possible = positions[(held == number) | (held == -1)]
        for owner in np.unique(found.device):
            rows = np.flatnonzero((stream[found.ender] == number) & (found.device == owner))
            mine = np.unique(launch[(stream == number) & (device == owner) & (launch >= 0)])
            here = found.launch[rows]
            previous = np.append(mine, -1)[np.searchsorted(mine, here) - 1]
            last = np.searchsorted(possible, here) - 1
            since = last >= np.searchsorted(possible, previous, "right")
            wait = np.where(since, np.append(possible, -1)[last], -1)
            result[rows] = np.where(process[wait] == process[here], wait, -1)
    return result


def _recorders(trace: Trace, waits: Ints) -> Ints:
    """The call that recorded the event which each wait call awaits; else the wait call itself."""
    known = np.unique(waits[waits >= 0])
    if known.size == 0:
        return waits
    awaiting = trace.host.loc[known]
    awaited = _from_sync_record(trace, awaiting, s.WAITS_ON_EVENT)
    records = calls.event_records(trace).drop_duplicates(s.CORRELATION)
    place = pd.Series(records.index.to_numpy(), index=records[s.CORRELATION])
    recorder = place.reindex(awaited).to_numpy(dtype=np.float64)
    table = np.where(np.isnan(recorder), known, np.nan_to_num(recorder)).astype(np.int64)
    return np.where(waits >= 0, table[np.searchsorted(known, waits) % known.size], -1)


def _from_sync_record(trace: Trace, waits: pd.DataFrame, column: s.Column) -> Ints:
    """What the cuda_sync record of each wait call says in a column; -1 where there is none."""
    records = trace.host_of(SYNC_RECORD)
    known = records[records[s.CORRELATION].notna() & records[column].notna()]
    values = known.drop_duplicates(s.CORRELATION).set_index(s.CORRELATION)[column]
    return waits[s.CORRELATION].map(values).to_numpy(dtype=np.int64, na_value=-1)


def _host_side(
    trace: Trace, found: _Gaps, rows: NDArray[np.intp], start: Ints, end: Ints
) -> NDArray[np.int64]:
    """What the launching threads did in [start, end), ns by _HOST_CAUSES; rows add up exactly."""
    result = np.zeros((rows.size, len(_HOST_CAUSES)), dtype=np.int64)
    if rows.size == 0:
        return result
    axis = trace.derived(_Axis.of)
    at, until = axis.place(found.thread[rows], start), axis.place(found.thread[rows], end)
    explained = np.zeros(rows.size, dtype=np.int64)
    for number, covered in enumerate(trace.derived(_explained)):
        so_far = intervals.overlap(covered, at, until)
        result[:, number] = so_far - explained
        explained = so_far
    result[:, _HOST_CAUSES.index("unobserved")] = end - start - explained
    return _after_drain(trace, found, rows, result)


def _explained(trace: Trace) -> list[intervals.Spans]:
    """The time, on the axis of all threads, that each cause and those before it explain."""
    axis = trace.derived(_Axis.of)
    covered = intervals.Spans(np.empty(0, np.int64), np.empty(0, np.int64))
    result = []
    for number, events in enumerate(_host_events(trace)):
        spans = axis.union(events, everywhere=number == _HOST_CAUSES.index("overhead"))
        covered = intervals.union(
            np.concatenate((covered.starts, spans.starts)),
            np.concatenate((covered.ends, spans.ends)),
        )
        result.append(covered)
    return result


def _host_events(trace: Trace) -> Iterator[pd.DataFrame]:
    """The host events of each cause before `unobserved`, in the order of _HOST_CAUSES."""
    host = trace.host
    kinds = calls.blocking(trace)
    yield host.loc[kinds.index[kinds == calls.SYNCHRONIZE]]
    yield calls.allocating(trace)
    yield host.loc[kinds.index[kinds != calls.SYNCHRONIZE]]
    yield pd.concat([trace.host_of(OVERHEAD), calls.loading(trace), calls.compiling(trace)])
    yield trace.host_of(OP, ANNOTATION, called=lambda name: name.startswith(_DATALOADER))
    yield trace.host_of(*LAUNCHING)
    yield trace.host_of(OP)
    yield trace.host_of(FRAME)


def _after_drain(
    trace: Trace, found: _Gaps, rows: NDArray[np.intp], parts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Moves to a blocking call what followed it, where it had drained the queue."""
    kinds = calls.blocking(trace)
    moved = np.array(
        [i for i, cause in enumerate(_HOST_CAUSES) if cause != "sync" and cause not in _OWN_CAUSES]
    )
    for cause, drains in (
        ("memcpy_blocking", kinds != calls.SYNCHRONIZE),
        ("sync", kinds == calls.SYNCHRONIZE),
    ):
        drained = _covering(trace, kinds.index[drains], found)[rows] >= 0
        column = _HOST_CAUSES.index(cause)
        parts[drained, column] += parts[np.ix_(drained, moved)].sum(axis=1)
        parts[np.ix_(drained, moved)] = 0
    return parts


def _covering(trace: Trace, positions: pd.Index, found: _Gaps) -> NDArray[np.intp]:
    """For each gap the blocking call, of these, in which its launching thread was at its start."""
    events = trace.host.loc[positions]
    if events.empty or found.start.size == 0:
        return np.full(found.start.size, -1)
    axis = trace.derived(_Axis.of)
    start, end = axis.ends_of(events)
    # A call that returns at the very start of the gap has drained the queue just as well.
    at = axis.place(found.thread, found.start)
    inside = intervals.innermost(start, end + 1, at)
    inside = np.where(found.launch >= 0, inside, -1)
    return np.append(positions.to_numpy(), -1)[inside]


@dataclass(frozen=True, slots=True)
class _Axis:
    """One time axis after the other, a thread each, so that one search serves all threads.

    `threads` are the numbers of the threads of the host events, by position. The axis is kept with
    the trace and does not hold it: the two would only be freed by the garbage collector.
    """

    low: int
    width: int
    threads: Ints

    @classmethod
    def of(cls, trace: Trace) -> _Axis:
        host, work = trace.host, trace.work
        low = min(int(host[s.START_NS].min()), int(work[s.START_NS].min()))
        high = max(int((frame[s.START_NS] + frame[s.DURATION_NS]).max()) for frame in (host, work))
        return cls(low, high - low + 2, thread_numbers(trace, host))

    def place(self, thread: Ints, time: Ints) -> Ints:
        return thread * self.width + (time - self.low)

    def ends_of(self, events: pd.DataFrame) -> tuple[Ints, Ints]:
        thread = self.threads[events.index]
        begin, end = extent(events)
        return self.place(thread, begin), self.place(thread, end)

    def union(self, events: pd.DataFrame, *, everywhere: bool) -> intervals.Spans:
        """The time within `events`; overhead of the profiler has no thread and holds for all."""
        start, end = self.ends_of(events)
        if everywhere:
            placeless = (events[s.CATEGORY] == OVERHEAD).to_numpy()
            free = events[placeless]
            at, till = extent(free)
            many = int(self.threads.max()) + 1
            every = np.repeat(np.arange(many), at.size)
            start = np.append(start[~placeless], self.place(every, np.tile(at, many)))
            end = np.append(end[~placeless], self.place(every, np.tile(till, many)))
        return intervals.union(start, end)


def _within(found: _Gaps, windows: pd.DataFrame) -> tuple[Ints, Ints, Ints]:
    """The pieces of gaps that lie in the windows of their device: (gap, start, end)."""
    pieces = [np.empty((3, 0), dtype=np.int64)]
    for device, low, high in windows.itertuples(index=False):
        gap = np.flatnonzero((found.device == device) & (found.end > low) & (found.start < high))
        cut = np.maximum(found.start[gap], low), np.minimum(found.end[gap], high)
        pieces.append(np.stack((gap, *cut)))
    gap, start, end = np.concatenate(pieces, axis=1)
    return gap, start, end
