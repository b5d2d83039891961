"""What launching device work costs the host, and how long work waits after its launch."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import intervals
from traceview import schema as s
from traceview.context import thread_numbers
from traceview.owners import Ownership, categorical
from traceview.trace import LAUNCHING, Trace, extent

_FULL_QUEUE = 1000
"""CUDA holds 1024 launches a channel; a call that meets about as many waits for a place."""
_LONG_CALL_NS = 20_000
"""A launch call takes 2 to 10 us under the profiler; one this long that sees work end meanwhile,
on a device busy throughout, waited for a place."""


def launches(trace: Trace) -> pd.DataFrame:
    """One row a launch call, in order of time; columns as schema.LAUNCH_LIST.

    A launch is any runtime or driver event whose correlation has device work, one to many for
    graphs. back_pressure_ns is the whole call where the device was busy throughout and its queue
    full, else 0: such time is the device's cost and not the launch's.
    """
    work = trace.work
    linked = work[work[s.LAUNCH].notna()]
    position = linked[s.LAUNCH].to_numpy(dtype=np.int64)
    called = _called(trace)
    place = np.searchsorted(called.index.to_numpy(), position)
    first = np.full(len(called), np.iinfo(np.int64).max)
    np.minimum.at(first, place, linked[s.START_NS].to_numpy())
    begin = called[s.START_NS].to_numpy()
    latency = first - begin
    depth, pressed = _queue(trace, linked, called, place)
    unknown = (latency < 0) | (first == np.iinfo(np.int64).max)
    return s.LAUNCH_LIST.frame(
        {
            s.NAME: called[s.NAME],
            s.PROCESS: called[s.PROCESS],
            s.THREAD: called[s.THREAD],
            s.START_NS: begin,
            s.DURATION_NS: called[s.DURATION_NS],
            s.DEVICE_EVENTS: np.bincount(place, minlength=len(called)),
            s.LATENCY_NS: pd.arrays.IntegerArray(np.where(unknown, 0, latency), unknown),
            s.QUEUE_DEPTH: depth,
            s.BACK_PRESSURE_NS: np.where(pressed, called[s.DURATION_NS].to_numpy(), 0),
            s.WORK_NS: intervals.union_lengths(place, *extent(linked), len(called)),
        }
    )


def launch_apis(trace: Trace) -> pd.DataFrame:
    """Launch calls by API, most host time first; columns as schema.LAUNCH_APIS."""
    calls = launches(trace)
    named = calls.assign(**{s.NAME: calls[s.NAME].astype("string")})
    by_name = named.groupby(s.NAME, dropna=False, sort=True)
    frame = s.LAUNCH_APIS.frame(
        {
            s.CALL: by_name.size().index.to_numpy(dtype=object),
            s.COUNT: by_name.size().to_numpy(),
            s.HOST_NS: by_name[s.DURATION_NS].sum().to_numpy(),
            s.BACK_PRESSURE_NS: by_name[s.BACK_PRESSURE_NS].sum().to_numpy(),
            s.MEDIAN_LATENCY_NS: np.floor(by_name[s.LATENCY_NS].median()).astype("Int64"),
        }
    )
    return frame.sort_values(s.HOST_NS, ascending=False, kind="stable", ignore_index=True)


def launch_owners(trace: Trace) -> pd.DataFrame:
    """Launch calls by innermost op and annotation, most host time first.

    Columns as schema.LAUNCH_OWNERS. Calls that are `shorter` launch work that does not last as long
    as they do: such work cannot keep a device busy from one thread, only fewer and larger pieces
    or a graph can.
    """
    calls = launches(trace)
    owned = Ownership.of(trace)
    moments = owned.at(thread_numbers(trace, _called(trace)), calls[s.START_NS])
    names = trace.host[s.NAME].cat.categories
    op = np.append(owned.nodes.name, -1)[owned.op_at(moments.node)]
    calls[s.OP] = categorical(op, names).astype("string")
    paths = categorical(owned.annotations.of(moments), owned.annotations.texts)
    calls[s.LAUNCH_ANNOTATIONS] = paths.astype("string")
    calls[s.SHORTER] = shorter_than_their_launch(calls)
    places = calls.groupby([s.OP, s.LAUNCH_ANNOTATIONS], dropna=False, sort=True)
    keys = places.size().index.to_frame(index=False)
    frame = s.LAUNCH_OWNERS.frame(
        {
            s.OP: keys[s.OP],
            s.LAUNCH_ANNOTATIONS: keys[s.LAUNCH_ANNOTATIONS],
            s.COUNT: places.size().to_numpy(),
            s.HOST_NS: places[s.DURATION_NS].sum().to_numpy(),
            s.WORK_NS: places[s.WORK_NS].sum().to_numpy(),
            s.SHORTER: places[s.SHORTER].sum().to_numpy(),
            s.BACK_PRESSURE_NS: places[s.BACK_PRESSURE_NS].sum().to_numpy(),
            s.MEDIAN_LATENCY_NS: np.floor(places[s.LATENCY_NS].median()).astype("Int64"),
        }
    )
    return frame.sort_values(s.HOST_NS, ascending=False, kind="stable", ignore_index=True)


def shorter_than_their_launch(calls: pd.DataFrame) -> NDArray[np.bool_]:
    """Which rows of `launches` launch work shorter than the call, when no queue held it up."""
    brief = calls[s.WORK_NS] < calls[s.DURATION_NS]
    return (brief & (calls[s.BACK_PRESSURE_NS] == 0)).to_numpy(dtype=bool)


def queue(trace: Trace) -> pd.DataFrame:
    """How much work waits on each device over time; columns as schema.QUEUE.

    Work counts from the begin of its launch call until it starts. Work without a launch in the
    file, or that starts before its launch, is not in it.
    """
    work = trace.work
    linked = work[work[s.LAUNCH].notna()]
    launched = trace.host[s.START_NS].to_numpy()[linked[s.LAUNCH].to_numpy(dtype=np.int64)]
    started = linked[s.START_NS].to_numpy()
    device = linked[s.DEVICE_ID].to_numpy()
    waits = started > launched
    times = np.concatenate((launched[waits], started[waits]))
    change = np.repeat([1, -1], int(waits.sum()))
    both = np.concatenate((device[waits], device[waits]))
    table = pd.DataFrame({s.DEVICE_ID: both, s.TIME_NS: times, s.DEPTH: change})
    steps = table.groupby([s.DEVICE_ID, s.TIME_NS], sort=True)[s.DEPTH].sum()
    depth = steps.groupby(level=0).cumsum()
    keys = depth.index.to_frame(index=False)
    return s.QUEUE.frame(
        {
            s.DEVICE_ID: keys[s.DEVICE_ID],
            s.TIME_NS: keys[s.TIME_NS],
            s.DEPTH: depth.to_numpy(),
        }
    )


def _called(trace: Trace) -> pd.DataFrame:
    """The host events that launched work: all calls with a key that work has."""
    calls = trace.host_of(*LAUNCHING)
    work = trace.work
    owner = work.loc[work[s.LAUNCH].notna(), [s.PROCESS, s.CORRELATION]].drop_duplicates()
    keys = pd.MultiIndex.from_arrays([owner[s.PROCESS].astype("str"), owner[s.CORRELATION]])
    mine = pd.MultiIndex.from_arrays([calls[s.PROCESS].astype("str"), calls[s.CORRELATION]])
    return calls[mine.isin(keys) & calls[s.CORRELATION].notna().to_numpy()]


def _queue(
    trace: Trace, linked: pd.DataFrame, called: pd.DataFrame, place: NDArray[np.intp]
) -> tuple[intervals.Ints, NDArray[np.bool_]]:
    """Work waiting on the call's device when it began, and whether the call met a full queue."""
    begin, end = extent(called)
    depth = np.zeros(len(called), dtype=np.int64)
    pressed = np.zeros(len(called), dtype=bool)
    device = np.zeros(len(called), dtype=np.int64)
    device[place] = linked[s.DEVICE_ID].to_numpy()
    work = trace.work
    for number in np.unique(device):
        calls = device == number
        mine = linked[s.DEVICE_ID].to_numpy() == number
        launched = np.sort(begin[place[mine]])
        started = np.sort(linked[s.START_NS].to_numpy()[mine])
        depth[calls] = np.maximum(
            np.searchsorted(launched, begin[calls])
            - np.searchsorted(started, begin[calls], "right"),
            0,
        )
        on_device = work[work[s.DEVICE_ID] == number]
        pressed[calls] = _saturated(on_device, begin[calls], end[calls], depth[calls])
    return depth, pressed


def _saturated(
    work: pd.DataFrame, begin: intervals.Ints, end: intervals.Ints, depth: intervals.Ints
) -> NDArray[np.bool_]:
    """Whether the device was busy throughout each call, with its queue full."""
    start, finish = extent(work)
    busy = intervals.overlap(intervals.union(start, finish), begin, end) == end - begin
    finish.sort()
    freed = np.searchsorted(finish, end, "right") > np.searchsorted(finish, begin, "right")
    waited = (end - begin >= _LONG_CALL_NS) & freed
    return np.asarray(busy & (end > begin) & ((depth >= _FULL_QUEUE) | waited))
