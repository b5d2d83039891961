"""What a runtime or driver call does to its thread: block, copy, allocate, load.

Names by vendor (format notes, 4.1 and 5). `cudaEventQuery` and `cudaStreamWaitEvent` do not block.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.context import covering, thread_numbers
from traceview.trace import ANNOTATION, LAUNCHING, OP, STEP_PREFIX, SYNC_RECORD, Trace, named

SYNCHRONIZE = "synchronize"
BLOCKING_COPY = "blocking_copy"
PAGEABLE_COPY = "pageable_copy"

_SYNCHRONIZES = re.compile(
    r"(?:cuda|hip)(?:Device|Stream|Event|Thread)Synchronize(?:_ptsz|_v\d+)*"
    r"|(?:cu|hip)(?:Ctx|Stream|Event)Synchronize(?:_ptsz|_v\d+)*"
    r"|ur(?:QueueFinish|EventWait)"
    r"|ze(?:CommandQueue|Fence|Event|CommandList)(?:Host)?Synchronize"
)
_DEVICE_SYNCHRONIZE = re.compile(r"(?:cuda|hip)DeviceSynchronize|cuCtxSynchronize")
_COPIES = re.compile(r"(?:cuda|cu|hip)Memcpy(?!.*Async)\w*")
_ASYNC_COPIES = re.compile(r"(?:cuda|cu|hip)Memcpy\w*Async\w*")
_PAGEABLE = re.compile("Page?able")
_ALLOCATES = re.compile(
    r"(?:cuda|hip)(?:Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister)\w*"
    r"|cuMem(?:Alloc|Free|Create|Map|Unmap|Release|AddressReserve|AddressFree|SetAccess|Host)\w*"
    r"|urUSM(?:Host|Device|Shared)?(?:Alloc|Free)\w*"
)
_LOADS = re.compile(r"(?:cu|hip)(?:Module|Library)(?:Load|GetFunction|Unload)\w*")
_LAUNCHES = re.compile(
    r"(?:cuda|hip|cu)(?:\w*Launch(?:Cooperative)?Kernel\w*|Memcpy\w*|Memset\w*|GraphLaunch\w*)"
)
"""Calls that start device work whenever they succeed."""
_COMPILES = ("dynamo_timed", "compile_fx")
_RECORDS_EVENT = re.compile(r"(?:cuda|hip|cu)EventRecord\w*")
_WAITS_ON_EVENT = re.compile(r"(?:cuda|hip|cu)StreamWaitEvent(?:_ptsz|_v\d+)*")


def blocking(trace: Trace) -> pd.Series:
    """The kind of each blocking call, by position in the host frame.

    SYNCHRONIZE, BLOCKING_COPY, or PAGEABLE_COPY: an asynchronous copy from or to pageable memory,
    told by the name of the copy. The profiler's own closing synchronize is not among them.
    """
    return trace.derived(_blocking).copy(deep=False)


def _blocking(trace: Trace) -> pd.Series:
    staged = _calls(trace, _ASYNC_COPIES).index.intersection(pd.Index(_pageable_copies(trace)))
    copies, waits = _calls(trace, _COPIES).index, _calls(trace, _SYNCHRONIZES).index
    kinds = [PAGEABLE_COPY] * len(staged) + [BLOCKING_COPY] * len(copies)
    kinds += [SYNCHRONIZE] * len(waits)
    positions = staged.append([copies, waits])
    kind = pd.Series(kinds, index=positions, dtype="string").sort_index()
    return kind.drop(closing_synchronize(trace).index)


def without_staging(calls: pd.DataFrame) -> pd.DataFrame:
    """Of blocking calls those that surely block: no copies of pageable memory, which may stall."""
    return calls[(calls[s.KIND] != PAGEABLE_COPY).to_numpy()]


def closing_synchronize(trace: Trace) -> pd.DataFrame:
    """The device synchronize with which the profiler closes a recording: one host row a process.

    The last such call, if it stands in no op and in no profiler step, and the process launches
    nothing after it (format notes, 4.2).
    """
    return trace.derived(_closing_synchronize).copy(deep=False)


def _closing_synchronize(trace: Trace) -> pd.DataFrame:
    calls = _calls(trace, _DEVICE_SYNCHRONIZE)
    last = calls.groupby(calls[s.PROCESS].astype("str")).tail(1)
    if last.empty:
        return last
    process, start = last[s.PROCESS].astype("str"), last[s.START_NS].to_numpy()
    work = trace.work
    launching = work[s.LAUNCH].groupby(work[s.PROCESS].astype("str")).max()
    later = process.map(launching).fillna(-1).to_numpy(dtype=np.int64) > last.index
    in_op = covering(trace, OP, thread_numbers(trace, last), start) >= 0
    in_step = [_in_a_step(trace, *at) for at in zip(process, start.tolist(), strict=True)]
    program: NDArray[np.bool_] = later | in_op | np.array(in_step)
    return last.drop(index=last.index[program])


def allocating(trace: Trace) -> pd.DataFrame:
    """The calls that allocate or free device or pinned memory."""
    return _calls(trace, _ALLOCATES)


def loading(trace: Trace) -> pd.DataFrame:
    """The calls that load code onto a device."""
    return _calls(trace, _LOADS)


def compiling(trace: Trace) -> pd.DataFrame:
    """The ranges in which a compiler of the program runs."""
    return trace.host_of(
        OP, ANNOTATION, called=lambda name: any(sign in name for sign in _COMPILES)
    )


def without_work(trace: Trace) -> pd.DataFrame:
    """The launch calls whose device work is not in the file; none where no device work is."""
    return trace.derived(_without_work).copy(deep=False)


def _without_work(trace: Trace) -> pd.DataFrame:
    calls, work = _calls(trace, _LAUNCHES), trace.work
    if work.empty:
        return calls.iloc[:0]
    owned = pd.MultiIndex.from_arrays([work[s.PROCESS].astype("str"), work[s.CORRELATION]])
    mine = pd.MultiIndex.from_arrays([calls[s.PROCESS].astype("str"), calls[s.CORRELATION]])
    return calls[~mine.isin(owned) & calls[s.CORRELATION].notna().to_numpy()]


def sync_records(trace: Trace) -> pd.DataFrame:
    """What the recording says of the streams of each call that waits, by its correlation."""
    records = trace.host_of(SYNC_RECORD)
    known = records[records[s.CORRELATION].notna()].drop_duplicates(s.CORRELATION)
    return known.set_index(s.CORRELATION)


def event_records(trace: Trace) -> pd.DataFrame:
    """The calls that record an event on a stream."""
    return _calls(trace, _RECORDS_EVENT)


def event_waits(trace: Trace) -> pd.DataFrame:
    """The calls that make a stream wait for an event of another."""
    return _calls(trace, _WAITS_ON_EVENT)


def _calls(trace: Trace, pattern: re.Pattern[str]) -> pd.DataFrame:
    """The runtime and driver calls whose name the pattern matches whole."""
    return trace.host_of(*LAUNCHING, called=lambda name: pattern.fullmatch(name) is not None)


def _pageable_copies(trace: Trace) -> NDArray[np.int64]:
    """Positions of the calls that launched a copy of pageable memory."""
    work = trace.work
    pageable = named(work, lambda name: _PAGEABLE.search(name) is not None)
    return work.loc[pageable, s.LAUNCH].dropna().to_numpy(dtype=np.int64)


def _in_a_step(trace: Trace, process: str, time: int) -> bool:
    steps = trace.host_of(ANNOTATION, OP, called=lambda name: name.startswith(STEP_PREFIX))
    own = steps[steps[s.PROCESS].astype("str") == process]
    end = own[s.START_NS] + own[s.DURATION_NS]
    return bool(((own[s.START_NS] <= time) & (time < end)).any())
