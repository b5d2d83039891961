"""What one recording contributes to a comparison: totals over its steady windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import intervals
from traceview import schema as s
from traceview.calls import without_staging
from traceview.kernel_names import is_communication
from traceview.metrics.gaps import idle
from traceview.metrics.launches import launches
from traceview.metrics.memory import memory_peaks
from traceview.metrics.steps import steady_windows, steps
from traceview.metrics.syncs import syncs
from traceview.owners import owners
from traceview.trace import MEMCPY, Trace, extent, named, of_accelerators
from traceview.workload import Workload, declared


@dataclass(frozen=True, slots=True)
class Measured:
    """Totals of one recording over the steps that count, of all its devices together, ns.

    `work` is the device work in the windows, cut to them, with columns of DEVICE and BUSY_NS, its
    exclusive share, and the paths of its owner; `idle` is idle time by cause. `used` are the steps
    that count; without steps `count` is 1 and a figure is of the whole window. `typical` are
    medians over the steps, by quantity; a figure is missing or None where it was not recorded.
    """

    trace: Trace
    used: pd.DataFrame
    all_steps: int
    count: int
    window_ns: int
    busy_ns: int
    work: pd.DataFrame
    idle: pd.Series
    launch_overhead_ns: int | None
    sync_stall_ns: int | None
    peaks: pd.DataFrame
    typical: Mapping[str, float]

    @property
    def declared(self) -> Workload | None:
        """What the recording says of itself; None if it says nothing."""
        return declared(self.trace.metadata.properties)

    @property
    def has_device(self) -> bool:
        """Whether any device work was recorded."""
        return len(self.work) > 0

    @property
    def events_per_step(self) -> float:
        """Pieces of device work launched in a step that counts; of all where there are no steps."""
        if len(self.used):
            return float(self.used[s.DEVICE_EVENTS].mean())
        return float(len(self.trace.work))

    @property
    def peak_bytes(self) -> int | None:
        """The largest peak of an accelerator; of the CPU where no accelerator allocates."""
        peaks = self._chosen_peaks
        return int(peaks[s.PEAK_ALLOCATED].max()) if len(peaks) else None

    @property
    def peak_known(self) -> bool:
        """Whether `peak_bytes` is exact; above an unknown baseline it is a lower bound."""
        return bool(self._chosen_peaks[s.BASELINE].notna().all())

    @property
    def _chosen_peaks(self) -> pd.DataFrame:
        peaks = self.peaks
        accelerators = of_accelerators(peaks)
        return accelerators if len(accelerators) else peaks


PROFILED = ("gpu_busy", "device_period", "host_step", "launch_overhead")
"""Quantities that runs of a program spread around by a factor, not by an amount."""


def total(recording: Measured, quantity: str) -> int | None:
    """A quantity summed over the steps that count, ns; None where it was not recorded."""
    return {
        "gpu_busy": recording.busy_ns,
        "device_period": recording.window_ns,
        "gpu_idle": recording.window_ns - recording.busy_ns,
        "launch_overhead": recording.launch_overhead_ns,
        "sync_stall": recording.sync_stall_ns,
    }.get(quantity)


def typical(recording: Measured, quantity: str) -> float | None:
    """A quantity of the median step, which one slow step does not move, ns; or bytes.

    The whole window's where there are no steps; None where it was not recorded.
    """
    if quantity == "peak_allocated":
        return recording.peak_bytes
    if len(recording.used):
        return recording.typical.get(quantity)
    return total(recording, quantity)


def first_is_unfit(trace: Trace) -> bool:
    """Whether the first step of a recording does not count."""
    table = steps(trace)
    return len(table) > 1 and bool(table[s.EXCLUDED].notna().iloc[0])


def measure(trace: Trace, *, without_first: bool = False) -> Measured:
    """Totals over the steady windows of a recording."""
    windows, used = steady_windows(trace, without_first=without_first)
    work = _work_within(trace, windows)
    causes = idle(trace, windows)
    window_ns = int((windows[s.END_NS] - windows[s.START_NS]).sum())
    launch_ns = _by_step(*_launch_overhead(trace), used)
    sync_ns = _by_step(*_sync_stall(trace), used)
    has_host = len(trace.host) > 0
    per_process = used.groupby(used[s.PROCESS].astype("str")).size()
    return Measured(
        trace=trace,
        used=used,
        all_steps=len(steps(trace)),
        count=int(per_process.max()) if len(used) else 1,
        window_ns=window_ns,
        busy_ns=int(work[s.BUSY_NS].sum()),
        work=work,
        idle=causes.groupby(s.CAUSE)[s.NS].sum(),
        launch_overhead_ns=int(launch_ns.sum()) if has_host else None,
        sync_stall_ns=int(sync_ns.sum()) if has_host else None,
        peaks=memory_peaks(trace),
        typical=_medians(used, launch_ns, sync_ns, has_work=len(work) > 0) if len(used) else {},
    )


def _medians(
    used: pd.DataFrame, launch_ns: intervals.Ints, sync_ns: intervals.Ints, *, has_work: bool
) -> dict[str, float]:
    """The median step of one recording, by quantity."""
    per_step = {
        "host_step": used[s.HOST_NS],
        "launch_overhead": pd.Series(launch_ns),
        "sync_stall": pd.Series(sync_ns),
    }
    if has_work:
        per_step["gpu_busy"] = used[s.BUSY_NS]
        per_step["device_period"] = used[s.DEVICE_PERIOD_NS].dropna().astype("int64")
        idle_ns = used[s.DEVICE_PERIOD_NS] - used[s.BUSY_NS]
        per_step["gpu_idle"] = idle_ns.dropna().astype("int64")
    return {name: float(figures.median()) for name, figures in per_step.items() if len(figures)}


def _work_within(trace: Trace, windows: pd.DataFrame) -> pd.DataFrame:
    """Device work cut to the windows of its device, with its exclusive share and its owner."""
    owned = owners(trace)
    paths = (s.ANNOTATION_PATH, s.MODULE_PATH, s.OP_PATH, s.OWNER_OP)
    work = trace.work.assign(**{column: owned[column] for column in paths})
    work = work.assign(**{s.ACCOMPANIED: _accompanied(work)})
    start, end = extent(work)
    device = work[s.DEVICE_ID].to_numpy()
    pieces = []
    for number, low, high in windows.itertuples(index=False):
        inside = (end > low) & (start < high) | (start == end) & (low <= start) & (end <= high)
        rows = np.flatnonzero((device == number) & inside)
        begin, finish = intervals.clip(start[rows], end[rows], low, high)
        pieces.append(
            work.iloc[rows].assign(
                **{s.START_NS: begin, s.DURATION_NS: finish - begin},
                **{s.BUSY_NS: intervals.shares(begin, finish)},
            )
        )
    empty = work.iloc[:0].assign(**{s.BUSY_NS: np.empty(0, dtype=np.int64)})
    return pd.concat(pieces, ignore_index=True) if pieces else empty


def _accompanied(work: pd.DataFrame) -> NDArray[np.bool_]:
    """Which kernels overlap communication or a copy on their device, which slows them down."""
    moves = named(work, is_communication) | (work[s.CATEGORY] == MEMCPY).to_numpy()
    start, end = extent(work)
    device = work[s.DEVICE_ID].to_numpy()
    result = np.zeros(len(work), dtype=bool)
    for number in np.unique(device):
        mine = device == number
        moving = intervals.union(start[mine & moves], end[mine & moves])
        kernels = mine & ~moves
        result[kernels] = intervals.overlap(moving, start[kernels], end[kernels]) > 0
    return result


def _launch_overhead(trace: Trace) -> tuple[intervals.Ints, intervals.Ints]:
    """When each launch call began and what it cost, back-pressure apart."""
    calls = launches(trace)
    cost = calls[s.DURATION_NS].to_numpy() - calls[s.BACK_PRESSURE_NS].to_numpy()
    return calls[s.START_NS].to_numpy(), cost


def _sync_stall(trace: Trace) -> tuple[intervals.Ints, intervals.Ints]:
    """When each blocking call began and how long it blocked."""
    calls = without_staging(syncs(trace))
    return calls[s.START_NS].to_numpy(), calls[s.BLOCKED_NS].to_numpy()


def _by_step(times: intervals.Ints, cost: intervals.Ints, used: pd.DataFrame) -> intervals.Ints:
    """Cost summed over each step that counts; in one sum where there are no steps."""
    if used.empty:
        return np.array([cost.sum()], dtype=np.int64)
    begin = used[s.START_NS].to_numpy()
    place = intervals.innermost(begin, begin + used[s.HOST_NS].to_numpy(), times)
    result = np.zeros(len(used), dtype=np.int64)
    np.add.at(result, place[place >= 0], cost[place >= 0])
    return result
