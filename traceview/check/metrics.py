"""What a claim can be about: named metrics of one recording, each with its unit and meaning.

Times, counts and bytes are those of the mean step among the steps that count, the same figures as
in a diff; of the whole window where a recording has no steps. A metric that a recording does not
supply is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from statistics import median

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import busy, intervals, units
from traceview import schema as s
from traceview.calls import without_staging
from traceview.diff.judge import BUSY_SD, HOST_SD, LAUNCH_SD, MARGINS, PERIOD_SD
from traceview.diff.measure import Measured, total, typical
from traceview.kernel_names import is_communication, short
from traceview.metrics.gaps import CAUSES
from traceview.metrics.launches import launch_apis, launches
from traceview.metrics.memory import memory_at_peak
from traceview.metrics.syncs import sync_sites, syncs
from traceview.metrics.utilization import devices
from traceview.trace import KERNEL, MEMCPY, MEMSET, named, of_accelerators
from traceview.units import Unit

Value = int | float | str | None
Rows = NDArray[np.bool_]
_Of = Callable[[Measured, str], Value]
_Origin = Callable[[Measured, str], str]
PART_SD = 0.04
"""Run-to-run sd of the logarithm of the GPU time of one kernel, op or annotation: every one of the
same-program pairs measured on an H200 lies within the interval that it makes, kernels of under a
microsecond included."""
_MOST = 2
"""How many parts an explanation names."""
_NOT_DECLARED = "the recording does not say: `traceview capture` records it"
_NO_HOST = "no host events were recorded: record with ProfilerActivity.CPU"
_NO_MEMORY = "no memory events were recorded: record with profile_memory=True"


@dataclass(frozen=True, slots=True)
class Metric:
    """A named figure of one recording.

    `of` takes the recording and the argument of the selector, "" without one. `origin` says where
    the figure comes from, `lacking` why it may be missing. `sd` is the run-to-run sd of its
    logarithm, None for what runs of a program do not change.
    """

    name: str
    unit: Unit
    meaning: str
    of: _Of
    origin: _Origin
    lacking: str = "no device work was recorded"
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class Selector:
    """A part of a recording by a name: what can be measured of it.

    `names` are all there are, where that is known before a recording is read.
    """

    name: str
    meaning: str
    fields: Mapping[str, Metric]
    names: tuple[str, ...] = ()


def _a_step(recording: Measured, quantity: str) -> float | None:
    """A quantity of the mean step, as a diff has it."""
    if quantity in ("host_step", "peak_allocated"):
        return typical(recording, quantity)
    if quantity.startswith(("gpu_", "device_")) and not recording.has_device:
        return None
    sum_ns = total(recording, quantity)
    return None if sum_ns is None else sum_ns / recording.count


def _quantity(name: str, unit: Unit, meaning: str, origin: _Origin, sd: float | None) -> Metric:
    lacking = {
        "host_step": "the recording has no steps",
        "launch_overhead": _NO_HOST,
        "sync_stall": _NO_HOST,
        "peak_allocated": _NO_MEMORY,
    }.get(name, "no device work was recorded: record with ProfilerActivity.CUDA")

    def of(recording: Measured, _argument: str) -> Value:
        return _a_step(recording, name)

    return Metric(name, unit, meaning, of, origin, lacking, sd)


def _largest(parts: pd.Series, count: int, unit: Unit) -> str:
    """The largest of some parts, a step, in words."""
    top = parts[parts > 0].sort_values(ascending=False, kind="stable").head(_MOST)
    shown = (f"{name} {units.text(value / count, unit)}" for name, value in top.items())
    return "most of it " + ", ".join(shown) if len(top) else ""


def _busiest(recording: Measured, _argument: str) -> str:
    return _largest(_by_kernel(recording.work), recording.count, Unit.NS)


def _by_kernel(work: pd.DataFrame) -> pd.Series:
    sums = work.groupby(s.NAME, observed=True)[s.BUSY_NS].sum()
    return sums.rename(index=lambda name: short(str(name)))


def _waits(recording: Measured, _argument: str) -> str:
    return _largest(recording.idle, recording.count, Unit.NS)


def _busy_and_idle(recording: Measured, argument: str) -> str:
    busy = units.text(recording.busy_ns / recording.count, Unit.NS)
    return f"busy {busy}; idle: {_waits(recording, argument) or 'none'}"


def _launching(recording: Measured, _argument: str) -> str:
    apis = launch_apis(recording.trace)
    return _largest(apis.set_index(s.CALL)[s.COUNT], recording.count, Unit.COUNT)


def _blocking(recording: Measured, _argument: str) -> str:
    sites = without_staging(sync_sites(recording.trace))
    if sites.empty:
        return ""
    first = sites.iloc[0]
    under = "" if pd.isna(first[s.OP]) else f" under {first[s.OP]}"
    return f"most of it {first[s.CALL]}{under}"


def _holding(recording: Measured, _argument: str) -> str:
    held = of_accelerators(memory_at_peak(recording.trace))
    return _largest(held.groupby(s.GROUP)[s.HELD].sum(), 1, Unit.BYTES)


def _steps_used(recording: Measured, _argument: str) -> str:
    if not recording.all_steps:
        return "the whole window: the recording has no steps"
    return f"{len(recording.used)} of {recording.all_steps} steps count"


def _busy_ratio(recording: Measured, _argument: str) -> Value:
    return recording.busy_ns / recording.window_ns if recording.window_ns else None


def _idle_ratio(recording: Measured, argument: str) -> Value:
    busy = _busy_ratio(recording, argument)
    return 1 - busy if isinstance(busy, float) else None


def _launches(recording: Measured, _argument: str) -> Value:
    if recording.trace.host.empty:
        return None
    if len(recording.used):
        return _whole(int(recording.used[s.LAUNCHES].sum()), recording.count)
    return len(launches(recording.trace))


def _device_events(recording: Measured, _argument: str) -> Value:
    if not recording.has_device:
        return None
    if len(recording.used):
        return _whole(int(recording.used[s.DEVICE_EVENTS].sum()), recording.count)
    return len(recording.work)


def _whole(sum_of_steps: int, count: int) -> int | float:
    """A mean that is a whole number where it is one."""
    whole, rest = divmod(sum_of_steps, count)
    return sum_of_steps / count if rest else whole


def _sync_count(recording: Measured, _argument: str) -> Value:
    if recording.trace.host.empty:
        return None
    calls = without_staging(syncs(recording.trace))
    return _whole(_in_used_steps(recording, calls), recording.count)


def _in_used_steps(recording: Measured, calls: pd.DataFrame) -> int:
    """How many calls begin in a step that counts; all of them where there are no steps."""
    used = recording.used
    if used.empty:
        return len(calls)
    begin = used[s.START_NS].to_numpy()
    ends = begin + used[s.HOST_NS].to_numpy()
    return int((intervals.innermost(begin, ends, calls[s.START_NS].to_numpy()) >= 0).sum())


def _latency(recording: Measured, _argument: str) -> Value:
    known = launches(recording.trace)[s.LATENCY_NS].dropna()
    return float(known.median()) if len(known) else None


def _steps(recording: Measured, _argument: str) -> Value:
    return len(recording.used)


def _unlinked(recording: Measured, _argument: str) -> Value:
    table = devices(recording.trace)
    events = int(table[s.EVENTS].sum())
    return int(table[s.UNLINKED_EVENTS].sum()) / events if events else None


def _reserved(recording: Measured, _argument: str) -> Value:
    known = of_accelerators(recording.peaks)[s.PEAK_RESERVED].dropna()
    return int(known.max()) if len(known) else None


def _of_category(category: str) -> _Of:
    def of(recording: Measured, _argument: str) -> Value:
        return _busy_with(recording, (recording.work[s.CATEGORY] == category).to_numpy())

    return of


def _communication(recording: Measured, _argument: str) -> Value:
    return _busy_with(recording, named(recording.work, is_communication))


def _busy_with(recording: Measured, rows: Rows) -> float | None:
    """How long the devices are busy with some of the work, a step."""
    if not recording.has_device:
        return None
    return busy.union(recording.work[rows]) / recording.count


def _numerics(recording: Measured, _argument: str) -> Value:
    told = recording.declared
    return told.numerics.verdict if told else None


def _numerics_text(recording: Measured, _argument: str) -> str:
    told = recording.declared
    return told.numerics.text if told else ""


def _outside(recording: Measured, _argument: str) -> Value:
    told = recording.declared
    return median(told.outside.event_ns) if told and told.outside.event_ns else None


def _cold(recording: Measured, _argument: str) -> Value:
    told = recording.declared
    return told.outside.cold_start_ns if told else None


_LISTED = (
    _quantity("gpu_busy", Unit.NS, "GPU time in which work ran", _busiest, BUSY_SD),
    _quantity("device_period", Unit.NS, "from one step's last GPU work to the next one's",
              _busy_and_idle, PERIOD_SD),
    _quantity("gpu_idle", Unit.NS, "device period less GPU busy", _waits, PERIOD_SD),
    _quantity("host_step", Unit.NS, "the host's range of the median step", _steps_used, HOST_SD),
    _quantity("launch_overhead", Unit.NS, "host time in launch calls, back-pressure apart",
              _launching, LAUNCH_SD),
    _quantity("sync_stall", Unit.NS, "host time in blocking calls", _blocking, HOST_SD),
    _quantity("peak_allocated", Unit.BYTES, "most allocated at one time", _holding, None),
    Metric("peak_reserved", Unit.BYTES, "most that the allocator held from the driver", _reserved,
           _holding, _NO_MEMORY),
    Metric("gpu_busy_ratio", Unit.SHARE, "GPU busy as a share of the device period", _busy_ratio,
           _busy_and_idle, sd=PERIOD_SD),
    Metric("gpu_idle_ratio", Unit.SHARE, "GPU idle as a share of the device period", _idle_ratio,
           _waits, sd=PERIOD_SD),
    Metric("kernel_time", Unit.NS, "union of kernels", _of_category(KERNEL), _busiest,
           sd=BUSY_SD),
    Metric("memcpy_time", Unit.NS, "union of copies", _of_category(MEMCPY), _busiest, sd=PART_SD),
    Metric("memset_time", Unit.NS, "union of memsets", _of_category(MEMSET), _busiest,
           sd=PART_SD),
    Metric("communication_time", Unit.NS, "union of communication kernels", _communication,
           _busiest, sd=HOST_SD),
    Metric("device_events", Unit.COUNT, "pieces of GPU work launched", _device_events,
           _steps_used),
    Metric("launches", Unit.COUNT, "launch calls", _launches, _launching, _NO_HOST),
    Metric("syncs", Unit.COUNT, "blocking calls", _sync_count, _blocking, _NO_HOST),
    Metric("launch_latency", Unit.NS, "median time from a launch call to the start of its work",
           _latency, _launching, "no launch has its work in the file", HOST_SD),
    Metric("unlinked_ratio", Unit.SHARE, "share of GPU work without a launch in the file",
           _unlinked, _steps_used),
    Metric("steps", Unit.COUNT, "steps that count, in the whole recording", _steps, _steps_used),
    Metric("cold_start", Unit.NS, "the first call, without the profiler", _cold, _steps_used,
           _NOT_DECLARED, HOST_SD),
    Metric("outside_step", Unit.NS, "a step by CUDA events, without the profiler", _outside,
           _steps_used, _NOT_DECLARED, PART_SD),
    Metric("numerics", Unit.TEXT, "whether the result is right: correct, wrong or unchecked",
           _numerics, _numerics_text, _NOT_DECLARED),
)  # fmt: skip
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _LISTED}
"""The metrics of a whole recording by name; those of a diff (MARGINS) are among them."""
if missing := MARGINS.keys() - METRICS.keys():
    raise AssertionError(f"quantities of a diff without a metric: {missing}")


_Rows = Callable[[Measured, str], Rows | None]


def _on_path(column: s.Column) -> _Rows:
    """The work under a name on its path, at whatever depth; None where nothing bears the name."""

    def rows(recording: Measured, argument: str) -> Rows | None:
        paths = recording.work[column].astype("category").cat
        wanted = f"/{argument}/"
        inside = np.array([*(wanted in f"/{path}/" for path in paths.categories), False])
        found = np.asarray(inside[paths.codes.to_numpy()], dtype=bool)
        return found if found.any() else None

    return rows


def _or_no_rows(rows: _Rows) -> _Rows:
    """The same where nothing of that name means none of it: an op, a kernel."""

    def found(recording: Measured, argument: str) -> Rows | None:
        mask = rows(recording, argument)
        return np.zeros(len(recording.work), dtype=bool) if mask is None else mask

    return found


def _kernels(recording: Measured, argument: str) -> Rows:
    return named(recording.work, lambda name: argument in name)


def _names_on(column: s.Column) -> Callable[[Measured], set[str]]:
    def names(recording: Measured) -> set[str]:
        paths = recording.work[column].dropna().unique()
        return {name for path in paths for name in str(path).split("/")}

    return names


def _kernel_names(recording: Measured) -> set[str]:
    return {short(str(name)) for name in recording.work[s.NAME].unique()}


def _fields(kind: str, rows: _Rows, names: Callable[[Measured], set[str]]) -> dict[str, Metric]:
    """What can be measured of a selection of device work."""

    def busy(recording: Measured, argument: str) -> float | None:
        mask = rows(recording, argument) if recording.has_device else None
        return None if mask is None else int(recording.work.loc[mask, s.BUSY_NS].sum())

    def a_step(recording: Measured, argument: str) -> Value:
        sum_ns = busy(recording, argument)
        return None if sum_ns is None else sum_ns / recording.count

    def of_period(recording: Measured, argument: str) -> Value:
        sum_ns = busy(recording, argument)
        return sum_ns / recording.window_ns if sum_ns is not None and recording.window_ns else None

    def of_busy(recording: Measured, argument: str) -> Value:
        sum_ns = busy(recording, argument)
        return sum_ns / recording.busy_ns if sum_ns is not None and recording.busy_ns else None

    def count(recording: Measured, argument: str) -> Value:
        mask = rows(recording, argument) if recording.has_device else None
        return None if mask is None else _whole(int(mask.sum()), recording.count)

    def origin(recording: Measured, argument: str) -> str:
        mask = rows(recording, argument)
        if mask is not None and mask.any():
            return _largest(_by_kernel(recording.work[mask]), recording.count, Unit.NS)
        near = get_close_matches(argument, names(recording), 1)
        return f"there is none{f'; the nearest name is {near[0]}' if near else ''}"

    lacking = f"no GPU work of that {kind} was recorded"
    return {
        "busy": Metric("busy", Unit.NS, "its GPU time; parts that overlap share theirs", a_step,
                       origin, lacking, PART_SD),
        "busy_ratio": Metric("busy_ratio", Unit.SHARE, "its GPU time over the device period",
                             of_period, origin, lacking, PERIOD_SD),
        "busy_share": Metric("busy_share", Unit.SHARE, "its GPU time over all GPU time", of_busy,
                             origin, lacking, PART_SD),
        "count": Metric("count", Unit.COUNT, "its pieces of GPU work", count, origin, lacking),
    }  # fmt: skip


def _idle_fields() -> dict[str, Metric]:
    """What can be measured of a cause of idle time."""

    def time(recording: Measured, argument: str) -> Value:
        if not recording.has_device:
            return None
        return int(recording.idle.get(argument, 0)) / recording.count

    def ratio(recording: Measured, argument: str) -> Value:
        if not recording.window_ns:
            return None
        return int(recording.idle.get(argument, 0)) / recording.window_ns

    return {
        "time": Metric("time", Unit.NS, "idle GPU time of this cause", time, _waits, sd=PERIOD_SD),
        "ratio": Metric("ratio", Unit.SHARE, "the same over the device period", ratio, _waits,
                        sd=PERIOD_SD),
    }  # fmt: skip


def _selector(
    name: str, meaning: str, rows: _Rows, names: Callable[[Measured], set[str]]
) -> Selector:
    return Selector(name, meaning, _fields(name, rows, names))


SELECTORS: Mapping[str, Selector] = {
    selector.name: selector
    for selector in (
        _selector("annotation", "GPU work launched in record_function(NAME), its backward too",
                  _on_path(s.ANNOTATION_PATH), _names_on(s.ANNOTATION_PATH)),
        _selector("module", "GPU work launched in an nn.Module, its backward too",
                  _on_path(s.MODULE_PATH), _names_on(s.MODULE_PATH)),
        _selector("op", "GPU work launched in an op, such as aten::copy_",
                  _or_no_rows(_on_path(s.OP_PATH)), _names_on(s.OP_PATH)),
        _selector("kernel", "GPU work whose name contains the text, copies and memsets too",
                  _kernels, _kernel_names),
        Selector("idle", "idle time of a cause; `traceview gaps --help` explains them",
                 _idle_fields(), CAUSES),
    )
}  # fmt: skip
"""The parts of a recording that a claim can be about."""
