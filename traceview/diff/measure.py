"""What one recording contributes to a comparison: totals over its steady windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from traceview import intervals
from traceview import schema as s
from traceview.calls import PAGEABLE_COPY
from traceview.metrics.gaps import idle
from traceview.metrics.launches import launches
from traceview.metrics.memory import memory_peaks
from traceview.metrics.steps import steady_windows, step_of_work, steps
from traceview.metrics.syncs import syncs
from traceview.trace import CPU, Trace


@dataclass(frozen=True, slots=True)
class Measured:
    """Totals of one recording over the steps that count, of all its devices together, ns.

    `work` is the device work in the windows, cut to them, with columns of DEVICE and BUSY_NS, its
    exclusive share; `idle` is idle time by cause. `used` are the steps that count; without steps
    `count` is 1 and a figure is of the whole window. A figure is None where it was not recorded.
    """

    trace: Trace
    used: pd.DataFrame
    all_steps: int
    count: int
    window_ns: int
    busy_ns: int
    work: pd.DataFrame
    idle: pd.Series
    host_step_ns: int | None
    launch_overhead_ns: int | None
    sync_stall_ns: int | None
    peaks: pd.DataFrame

    @property
    def has_device(self) -> bool:
        """Whether any device work was recorded."""
        return len(self.work) > 0

    @property
    def peak_bytes(self) -> int | None:
        """The largest peak of an accelerator; of the CPU where no accelerator allocates."""
        peaks = self.peaks
        accelerators = peaks[peaks[s.DEVICE_TYPE] != CPU]
        chosen = accelerators if len(accelerators) else peaks
        return int(chosen[s.PEAK_ALLOCATED].max()) if len(chosen) else None


def first_is_unfit(trace: Trace) -> bool:
    """Whether the first step of a recording does not count."""
    table = steps(trace)
    return len(table) > 1 and bool(table[s.EXCLUDED].notna().iloc[0])


def measure(trace: Trace, *, without_first: bool = False) -> Measured:
    """Totals over the steady windows of a recording."""
    windows, used = steady_windows(trace, without_first=without_first)
    work = _work_within(trace, windows)
    causes = idle(trace, windows)
    has_host = len(trace.host) > 0
    per_process = used.groupby(used[s.PROCESS].astype("str")).size()
    return Measured(
        trace=trace,
        used=used,
        all_steps=len(steps(trace)),
        count=int(per_process.max()) if len(used) else 1,
        window_ns=int((windows[s.END_NS] - windows[s.START_NS]).sum()),
        busy_ns=int(work[s.BUSY_NS].sum()),
        work=work,
        idle=causes.groupby(s.CAUSE)[s.NS].sum(),
        host_step_ns=int(used[s.HOST_NS].median()) if len(used) else None,
        launch_overhead_ns=_launch_overhead(trace, used) if has_host else None,
        sync_stall_ns=_sync_stall(trace, used) if has_host else None,
        peaks=memory_peaks(trace),
    )


def _work_within(trace: Trace, windows: pd.DataFrame) -> pd.DataFrame:
    """Device work cut to the windows of its device, with its exclusive share and its step."""
    work = trace.work.assign(step=step_of_work(trace))
    start = work[s.START_NS].to_numpy()
    end = start + work[s.DURATION_NS].to_numpy()
    device = work[s.DEVICE_ID].to_numpy()
    pieces = []
    for number, low, high in windows.itertuples(index=False):
        rows = np.flatnonzero((device == number) & (end > low) & (start < high))
        begin, finish = intervals.clip(start[rows], end[rows], low, high)
        pieces.append(
            work.iloc[rows].assign(
                **{s.START_NS: begin, s.DURATION_NS: finish - begin},
                **{s.BUSY_NS: intervals.shares(begin, finish)},
            )
        )
    empty = work.iloc[:0].assign(**{s.BUSY_NS: np.empty(0, dtype=np.int64)})
    return pd.concat(pieces, ignore_index=True) if pieces else empty


def _launch_overhead(trace: Trace, used: pd.DataFrame) -> int:
    """Host time in the launch calls of the steps that count, back-pressure apart."""
    calls = launches(trace)
    inside = _inside(calls[s.START_NS], used)
    return int((calls[s.DURATION_NS] - calls[s.BACK_PRESSURE_NS])[inside].sum())


def _sync_stall(trace: Trace, used: pd.DataFrame) -> int:
    """Host time in the blocking calls of the steps that count."""
    calls = syncs(trace)
    inside = _inside(calls[s.START_NS], used) & (calls[s.KIND] != PAGEABLE_COPY).to_numpy()
    return int(calls.loc[inside, s.BLOCKED_NS].sum())


def _inside(times: pd.Series, used: pd.DataFrame) -> np.ndarray:
    """Which times lie in a step that counts; all of them where there are no steps."""
    if used.empty:
        return np.ones(len(times), dtype=bool)
    begin = used[s.START_NS].to_numpy()
    return intervals.innermost(begin, begin + used[s.HOST_NS].to_numpy(), times) >= 0
