"""What one step takes, on the host and on the device, and which steps count.

A step is a ProfilerStep range of the host; its device work is what was launched in it, on whatever
thread, whenever it ran. Where a recording has none, the annotation that repeats around most of the
launches stands in for it.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import busy, intervals
from traceview import schema as s
from traceview.calls import compiling, loading, without_work
from traceview.intervals import Ints
from traceview.trace import ANNOTATION, OP, OVERHEAD, STEP_PREFIX, Trace, extent

PROFILER_STEP, REPEATED = "profiler_step", "annotation"
LEAKED = "leaked_warmup"
BUFFER_REQUEST = "buffer_request"
NO_WORK = "no_device_work"
COMPILE = "compile"
MISSING = "missing_kernels"
OTHER_SIDE = "first_step_of_other_side"
REASONS = {
    LEAKED: "work launched before the recording ran into it",
    BUFFER_REQUEST: "the profiler allocated a buffer in it",
    NO_WORK: "no device work was launched in it",
    COMPILE: "code was compiled or loaded in it",
    MISSING: "device work of its launches is not in the file",
    OTHER_SIDE: "the first step does not count on the other side",
}
"""Why a step does not count, in words."""
_BUFFER_REQUEST = "Activity Buffer Request"
_UNKNOWN = -1
_NEVER = np.iinfo(np.int64).min


def steps(trace: Trace) -> pd.DataFrame:
    """One row a step, in order of time; columns as schema.STEPS.

    busy_ns is the union of the step's own device work; device_period_ns its last device end less
    that of the step before. The first step's period runs from its first device start, and is
    missing where work from before the recording ran into it. `excluded` names why a step is no
    sample of the steady state.
    """
    return trace.derived(_steps).copy(deep=False)


def _steps(trace: Trace) -> pd.DataFrame:
    ranges = _ranges(trace)
    work = trace.work
    step = step_of_work(trace, ranges)
    mine = step >= 0
    count = len(ranges)
    label = step[mine]
    last = np.full(count, _NEVER)
    np.maximum.at(last, label, extent(work)[1][mine])
    events = np.bincount(label, minlength=count)
    period, known = _periods(trace, ranges, step, last)
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=_UNKNOWN)[mine]
    calls = np.unique(np.stack((label, launch)), axis=1)[0]
    return s.STEPS.frame(
        {
            s.STEP: ranges[s.NAME].astype("string"),
            s.SOURCE: np.full(count, ranges.attrs["source"], dtype=object),
            s.PROCESS: ranges[s.PROCESS],
            s.START_NS: ranges[s.START_NS],
            s.HOST_NS: ranges[s.DURATION_NS],
            s.DEVICE_EVENTS: events,
            s.LAUNCHES: np.bincount(calls, minlength=count),
            s.BUSY_NS: busy.unions(work[mine], label, count),
            s.DEVICE_END_NS: pd.arrays.IntegerArray(np.where(events > 0, last, 0), events == 0),
            s.DEVICE_PERIOD_NS: pd.arrays.IntegerArray(np.where(known, period, 0), ~known),
            s.EXCLUDED: _excluded(trace, ranges, events),
        }
    )


def step_of_work(trace: Trace, ranges: pd.DataFrame | None = None) -> Ints:
    """For each piece of `trace.work` the number of the step that launched it; -1 for none."""
    if ranges is None:
        ranges = _ranges(trace)
    work = trace.work
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=_UNKNOWN)
    launched = np.append(trace.host[s.START_NS].to_numpy(), 0)[launch]
    result = np.full(len(work), _UNKNOWN)
    begin, end = extent(ranges)
    owner = ranges[s.PROCESS].astype("str").to_numpy()
    process = work[s.PROCESS].astype("str").to_numpy()
    for name in np.unique(owner):
        its, rows = np.flatnonzero(owner == name), np.flatnonzero((process == name) & (launch >= 0))
        found = intervals.innermost(begin[its], end[its], launched[rows])
        result[rows] = np.append(its, _UNKNOWN)[found]
    return result


def steady_windows(
    trace: Trace, *, without_first: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The part of each device's time that counts, and the steps in it.

    (columns as schema.WINDOWS, used rows of `steps`). The steps that are not excluded form runs of
    neighbours; each run gives a window, from the last device end before its first step to that of
    its last step. Without a step or work before, it begins with the first work of the step. Without
    steps the window is the device's whole window, and no step is returned. `without_first` leaves
    out the first step as well, where another recording had to.
    """
    table = steps(trace)
    work = trace.work
    step = step_of_work(trace)
    start, end = extent(work)
    owner = table[s.PROCESS].astype("str").to_numpy()
    usable = table[s.EXCLUDED].isna().to_numpy().copy()
    if without_first and usable[1:].any():
        usable[0] = False
    rows = []
    for device in np.unique(work[s.DEVICE_ID]):
        mine = (work[s.DEVICE_ID] == device).to_numpy()
        process = str(work.loc[mine, s.PROCESS].iloc[0])
        numbers = np.flatnonzero(owner == process)
        if numbers.size == 0:
            rows.append((int(device), int(start[mine].min()), int(end[mine].max())))
        for run in _runs(numbers, usable[numbers]):
            window = _window(start[mine], end[mine], step[mine], run)
            rows += [(int(device), *window)] if window else []
    return s.WINDOWS.of_rows(rows), table[usable]


def _window(start: Ints, end: Ints, step: Ints, run: NDArray[np.intp]) -> tuple[int, int] | None:
    """Begin and end of a run of steps on one device, or None where it ran nothing in them."""
    inside = np.isin(step, run)
    if not inside.any():
        return None
    first = int(start[inside].min())
    earlier = ((step >= 0) & (step < run[0])) | ((step == _UNKNOWN) & (start < first))
    finish = int(end[inside].max())
    return min(int(end[earlier].max()) if earlier.any() else first, finish), finish


def _runs(numbers: NDArray[np.intp], usable: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """The step numbers that are usable, split into runs of neighbours."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], usable, [False])).astype(np.int8)))
    return [numbers[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _ranges(trace: Trace) -> pd.DataFrame:
    """The host ranges that are the steps, in order of time; attrs["source"] says what they are."""
    found = trace.host_of(ANNOTATION, OP, called=lambda name: name.startswith(STEP_PREFIX))
    source = PROFILER_STEP
    if found.empty:
        found, source = _repeated(trace), REPEATED
    found = found.reset_index(drop=True)
    found.attrs["source"] = source
    return found


def _repeated(trace: Trace) -> pd.DataFrame:
    """The outermost annotation, digits aside, that repeats and holds most launches of the trace."""
    ranges = trace.host_of(ANNOTATION)
    names = ranges[s.NAME].astype("str").map(lambda name: re.sub(r"\d+", "#", name))
    launches = trace.work[s.LAUNCH].dropna().to_numpy(dtype=np.int64)
    host = trace.host
    when = host[s.START_NS].to_numpy()[launches]
    best, most = ranges.iloc[:0], (launches.size // 2 + 1, 0)
    for _, group in ranges.groupby(names, sort=True):
        begin, end = extent(group)
        disjoint = bool((begin[1:] >= end[:-1]).all())
        held = int((intervals.innermost(begin, end, when) >= 0).sum())
        rank = held, int((end - begin).sum())
        if len(group) > 1 and disjoint and rank > most:
            best, most = group, rank
    return best


def _periods(
    trace: Trace, ranges: pd.DataFrame, step: Ints, last: Ints
) -> tuple[Ints, NDArray[np.bool_]]:
    """Device period of each step, and whether it is known."""
    period = np.zeros(len(ranges), dtype=np.int64)
    known = last != _NEVER
    start = trace.work[s.START_NS].to_numpy()
    old = trace.leaked
    process_of_work = trace.work[s.PROCESS].astype("str").to_numpy()
    for process, group in ranges.groupby(ranges[s.PROCESS].astype("str")):
        numbers = group.index.to_numpy()[known[group.index]]
        if numbers.size == 0:
            continue
        period[numbers[1:]] = np.diff(last[numbers])
        if old[process_of_work == process].any():
            known[numbers[0]] = False
        else:
            period[numbers[0]] = last[numbers[0]] - start[step == numbers[0]].min()
    return period, known


def _excluded(trace: Trace, ranges: pd.DataFrame, events: Ints) -> pd.api.extensions.ExtensionArray:
    """Why each step does not count, the first reason that applies; missing where it does.

    What holds for every step is no reason against one of them.
    """
    reasons = np.full(len(ranges), None, dtype=object)
    for code, unfit in (
        (NO_WORK, events == 0),
        (LEAKED, _leaked_into(trace, ranges, events)),
        (BUFFER_REQUEST, _touched(ranges, _buffer_requests(trace))),
        (COMPILE, _touched(ranges, pd.concat([loading(trace), compiling(trace)]))),
        (MISSING, _incomplete(trace, ranges)),
    ):
        free = np.array([reason is None for reason in reasons], dtype=bool)
        if (free & ~unfit).any():
            reasons[free & unfit] = code
    return pd.array(reasons, dtype="string")


def _leaked_into(trace: Trace, ranges: pd.DataFrame, events: Ints) -> NDArray[np.bool_]:
    """The first step with work of each process that has work from before the recording."""
    old = trace.work.loc[trace.leaked, s.PROCESS].astype("str").unique()
    with_work = ranges[events > 0]
    first = with_work.groupby(with_work[s.PROCESS].astype("str")).head(1)
    hit = np.zeros(len(ranges), dtype=bool)
    hit[first.index[first[s.PROCESS].astype("str").isin(old)]] = True
    return hit


def _buffer_requests(trace: Trace) -> pd.DataFrame:
    return trace.host_of(OVERHEAD, called=lambda name: name == _BUFFER_REQUEST)


def _touched(ranges: pd.DataFrame, events: pd.DataFrame) -> NDArray[np.bool_]:
    """Which steps share an instant with one of these host events."""
    begin = events[s.START_NS].to_numpy()
    spans = intervals.union(begin, begin + np.maximum(events[s.DURATION_NS].to_numpy(), 1))
    start = ranges[s.START_NS].to_numpy()
    return intervals.overlap(spans, start, start + ranges[s.DURATION_NS].to_numpy()) > 0


def _incomplete(trace: Trace, ranges: pd.DataFrame) -> NDArray[np.bool_]:
    """Which steps have more launch calls without device work than steps usually have."""
    begin, end = extent(ranges)
    step = intervals.innermost(begin, end, without_work(trace)[s.START_NS])
    missing = np.bincount(step[step >= 0], minlength=len(ranges))
    return np.asarray(missing > np.median(missing)) if missing.any() else missing > 0
