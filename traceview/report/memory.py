"""How high the memory peaks, who holds it there, and what comes and goes in a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Field, Section
from traceview.metrics import memory as metric
from traceview.metrics.steps import steps
from traceview.owners import Ownership
from traceview.report import pictures
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table, values
from traceview.trace import CPU, Trace, of_accelerators
from traceview.units import Unit

SCHEMA = "traceview.memory/1"
_TYPES = {CPU: "CPU", 1: "CUDA", 6: "HIP", 12: "XPU", 13: "MPS", 18: "MTIA", 20: "custom"}
"""c10 device types (format notes, 7.1)."""
_WAYS = {
    "site": "by op and annotation",
    "annotation": "by annotation, backward included",
    "module": "by module, backward included",
    "size": "by size of the block",
}


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many rows of a table text shows."""
    peaks, timeline = metric.memory_peaks(trace), metric.memory_timeline(trace)
    by_step, failures = metric.memory_steps(trace, steps(trace)), metric.memory_failures(trace)
    owned = Ownership.of(trace)
    held = {way: metric.memory_at_peak(trace, way, owned=owned) for way in _WAYS}
    sections = (
        *_failure_section(failures),
        *_peak_section(peaks),
        *_curve_section(timeline),
        *_held_sections(held, limit),
        *_step_section(by_step, limit),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "peaks": records(peaks, s.MEMORY_PEAKS.columns),
        "at_peak": records(held["site"], s.AT_PEAK.columns),
        "at_peak_by": {
            way: records(frame, s.AT_PEAK.columns) for way, frame in held.items() if way != "site"
        },
        "steps": records(by_step, s.MEMORY_STEPS.columns),
        "failures": records(failures, s.MEMORY_FAILURES.columns),
        "fragmentation": _fragmentation(timeline),
    }
    lead = tuple(_lead(peaks, held["site"], timeline, by_step)) or (_nothing(len(failures)),)
    return Document("memory", title(trace), lead, sections, data)


def _lead(
    peaks: pd.DataFrame, held: pd.DataFrame, timeline: pd.DataFrame, by_step: pd.DataFrame
) -> Iterator[str]:
    if peaks.empty:
        return
    top = peaks.sort_values(s.DEVICE_TYPE, kind="stable").iloc[-1]
    text = _size(top[s.PEAK_ALLOCATED])
    if pd.isna(top[s.BASELINE]):
        text = f"at least {text}, above an unknown start"
    owners = values(_on(held, top), (s.GROUP, s.HELD))
    most = next((f"; the largest part of it: {_size(size)} {owner}" for owner, size in owners), "")
    yield f"Peak allocated {text}{most}."
    at = _on(timeline, top)
    at_peak = at[at[s.TIME_NS] == top[s.PEAK_AT_NS]][s.FRAGMENTATION].max()
    if not pd.isna(at_peak) and top[s.DEVICE_TYPE] != CPU:
        yield f"{_size(at_peak)} are reserved and not allocated at the peak."
    mine = _on(by_step, top)
    if len(mine):
        churn = int(mine[s.CHURN_ALLOCATED].median())
        yield f"A step allocates {_size(churn)} in all (median of {len(mine):,})."


def _nothing(failed: int) -> str:
    if failed:
        return f"No allocation succeeded while recording: {failed:,} failed for want of memory."
    return "No memory events: record with profile_memory=True."


def _size(value: Any) -> str:
    return units.text(int(value), Unit.BYTES)


def _on(frame: pd.DataFrame, device: pd.Series) -> pd.DataFrame:
    """The rows of one memory device."""
    kind, number = int(device[s.DEVICE_TYPE]), int(device[s.MEMORY_DEVICE])
    return frame.loc[(frame[s.DEVICE_TYPE] == kind) & (frame[s.MEMORY_DEVICE] == number)]


def _fragmentation(timeline: pd.DataFrame) -> list[dict[str, Any]]:
    """The most that was reserved and not allocated on each device."""
    devices = timeline.groupby([s.DEVICE_TYPE, s.MEMORY_DEVICE])
    most = devices[[s.FRAGMENTATION]].max().reset_index()
    return records(most, (s.DEVICE_TYPE, s.MEMORY_DEVICE, s.FRAGMENTATION))


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """With the device in words, `CUDA 0`, in the place of its type."""
    names = [
        _TYPES.get(kind, f"type {kind}") + (f" {number}" if number >= 0 else "")
        for kind, number in values(frame, (s.DEVICE_TYPE, s.MEMORY_DEVICE))
        if isinstance(kind, int) and isinstance(number, int)
    ]
    return frame.assign(**{s.DEVICE_TYPE: pd.array(names, dtype="string")})


_ON = {s.DEVICE_TYPE: Field("device")}


def _peak_section(peaks: pd.DataFrame) -> Iterator[Section]:
    fields = _ON | {
        s.PEAK_ALLOCATED: field(s.PEAK_ALLOCATED, "peak"),
        s.BASELINE: field(s.BASELINE, "before recording"),
        s.PEAK_RESERVED: field(s.PEAK_RESERVED, "reserved"),
        s.PEAK_AT_NS: field(s.PEAK_AT_NS, "at"),
        s.EVENTS: field(s.EVENTS, "events"),
    }
    named = _named(peaks)
    unknown = values(named[named[s.BASELINE].isna().to_numpy()], (s.DEVICE_TYPE,))
    starts = [f"{name}: its peak is at least this, above an unknown start." for (name,) in unknown]
    frees = [
        f"{count:,} frees of blocks allocated before recording, {_size(freed)} in all."
        for count, freed in values(peaks, (s.UNKNOWN_FREES, s.UNKNOWN_FREED))
        if count
    ]
    if len(peaks):
        rows = table("memory_peaks", named, fields)
        yield Section("Peaks", (*starts, *frees), (rows,))


def _curve_section(timeline: pd.DataFrame) -> Iterator[Section]:
    """How full each device is over time; the host's own memory only where there is no other."""
    drawn = []
    others = of_accelerators(timeline)
    timeline = others if len(others) else timeline
    for _, mine in timeline.groupby([s.DEVICE_TYPE, s.MEMORY_DEVICE], sort=True):
        name = _named(mine.head(1))[s.DEVICE_TYPE].iloc[0]
        known = mine[mine[s.ALLOCATED].notna().to_numpy()]
        if len(known):
            drawn.append(
                partial(pictures.line, f"Allocated on {name}", known, s.TIME_NS, s.ALLOCATED)
            )
    if drawn:
        yield Section("Over time", pictures=tuple(drawn))


def _held_sections(held: Mapping[str, pd.DataFrame], limit: int | None) -> Iterator[Section]:
    fields = _ON | {
        s.GROUP: field(s.GROUP, "owner", stretch=True),
        s.HELD: field(s.HELD, "held"),
    }
    for way, frame in held.items():
        if frame.empty or frame[s.GROUP].isin([*_UNTOLD, metric.OUTSIDE.get(way, "")]).all():
            continue
        name = "memory_at_peak" if way == "site" else f"memory_at_peak_by_{way}"
        shown = limit or (12 if way == "site" else 6)
        rows = table(name, _named(frame), fields, shown)
        drawn = (partial(pictures.bars, "Held at the peak", frame, s.GROUP, s.HELD),)
        yield Section(f"Alive at the peak, {_WAYS[way]}", (), (rows,), drawn, folded=way != "site")


_UNTOLD = (metric.BEFORE_RECORDING, metric.NO_ADDRESSES)


def _step_section(by_step: pd.DataFrame, limit: int | None) -> Iterator[Section]:
    fields = {
        s.STEP: field(s.STEP, "step", stretch=True),
        **_ON,
        s.PEAK_ALLOCATED: field(s.PEAK_ALLOCATED, "peak"),
        s.AT_BEGIN: field(s.AT_BEGIN, "at its begin"),
        s.AT_END: field(s.AT_END, "at its end"),
        s.CHURN_ALLOCATED: field(s.CHURN_ALLOCATED, "allocated in it"),
        s.TEMPORARY: field(s.TEMPORARY, "of that freed in it"),
    }
    mine = of_accelerators(by_step)
    if len(mine):
        rows = table("memory_steps", _named(mine), fields, limit or 6)
        yield Section("Steps", (), (rows,))


def _failure_section(failures: pd.DataFrame) -> Iterator[Section]:
    fields = _ON | {
        s.TIME_NS: field(s.TIME_NS, "at"),
        s.BYTES: field(s.BYTES, "asked for"),
        s.ALLOCATED: field(s.ALLOCATED, "allocated"),
        s.RESERVED: field(s.RESERVED, "reserved"),
        s.OP: field(s.OP, "op", stretch=True),
    }
    if len(failures):
        rows = table("memory_failures", _named(failures), fields)
        yield Section("Out of memory", ("These allocations failed.",), (rows,))
