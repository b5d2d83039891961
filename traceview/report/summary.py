"""One recording on a screen: is the GPU working, what does it wait for, what does that cost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.calls import without_staging
from traceview.document import Document, Field, Section, Table, Value
from traceview.metrics.gaps import idle, idle_sites
from traceview.metrics.kernels import kernels
from traceview.metrics.launches import launch_apis, launches
from traceview.metrics.memory import memory_at_peak, memory_peaks
from traceview.metrics.steps import REASONS, steps
from traceview.metrics.syncs import sync_sites, syncs
from traceview.metrics.utilization import devices, streams
from traceview.report import pictures, timeline
from traceview.report.causes import EXPLAINED
from traceview.report.heading import about, coverage_section, title
from traceview.report.opening import opening
from traceview.report.rows import field, records, table, values
from traceview.trace import Trace, of_accelerators
from traceview.units import Unit

SCHEMA = "traceview.summary/1"
_SHOWN = 6


class _Figures:
    """The frames that the summary is made of, each computed once."""

    def __init__(self, trace: Trace) -> None:
        self.devices = devices(trace)
        self.streams = streams(trace)
        self.steps = steps(trace)
        self.idle = idle(trace)
        self.idle_sites = idle_sites(trace)
        self.launches = launches(trace)
        self.apis = launch_apis(trace)
        self.syncs = syncs(trace)
        self.sites = sync_sites(trace)
        self.peaks = memory_peaks(trace)
        self.at_peak = memory_at_peak(trace)
        self.kernels = kernels(trace)


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many rows of a table text shows."""
    figures = _Figures(trace)
    shown = limit or _SHOWN
    sections = (
        *_device_sections(figures, shown),
        *_step_section(figures.steps),
        *timeline.section(trace),
        *_host_sections(figures, shown),
        *_memory_section(figures, shown),
        coverage_section(trace),
    )
    answers = tuple(_lead(figures)) or ("No device work, no launches, no memory events.",)
    lead = (*opening(trace), *answers)
    return Document("summary", title(trace), lead, sections, _data(trace, figures))


def _lead(figures: _Figures) -> Iterator[str]:
    several = len(figures.devices) > 1
    for device in records(figures.devices, s.DEVICES.columns):
        window, busy = device[s.WINDOW_NS], device[s.BUSY_NS]
        share = units.percent(busy / window) if window else "all"
        name = f"GPU {device[s.DEVICE_ID]}" if several else "GPU"
        waiting = _waiting(figures, device)
        yield f"{name} busy {share} of {units.text(window, Unit.NS)}{waiting}."
    if len(figures.apis):
        count, time = int(figures.apis[s.COUNT].sum()), int(figures.apis[s.HOST_NS].sum())
        cost = f"{units.text(time, Unit.NS)} of host time{_pressure(figures.apis)}"
        take = units.plural(count, "takes", "take")
        yield f"{units.counted(count, 'launch call')} {take} {cost}."
    yield from _blocking(figures)
    for peak in records(of_accelerators(figures.peaks), s.MEMORY_PEAKS.columns):
        top = units.text(peak[s.PEAK_ALLOCATED], Unit.BYTES)
        if peak[s.BASELINE] is None:
            yield f"Peak allocated at least {top}, above an unknown start."
        else:
            before = units.text(peak[s.BASELINE], Unit.BYTES)
            yield f"Peak allocated {top}, {before} of it before recording."


def _waiting(figures: _Figures, device: dict[str, Any]) -> str:
    """How much of the window is idle, most of it why, and where if it is one place above all."""
    causes, sites = (
        records(frame[frame[s.DEVICE_ID] == device[s.DEVICE_ID]], schema.columns)
        for frame, schema in ((figures.idle, s.IDLE), (figures.idle_sites, s.IDLE_SITES))
    )
    if not causes:
        return ""
    share = units.percent(device[s.IDLE_NS] / device[s.WINDOW_NS])
    part = units.percent(causes[0][s.NS] / device[s.IDLE_NS], 0)
    place = next(site for site in sites if site[s.CAUSE] == causes[0][s.CAUSE])
    where = ""
    if 2 * place[s.NS] > causes[0][s.NS]:
        named = (("in", s.CALL), ("under", s.OP), ("in", s.ANNOTATION), ("at", s.FRAME))
        where = "".join(f" {word} {place[key]}" for word, key in named if place[key])
    return f"; idle {share}, {part} of it: {EXPLAINED[causes[0][s.CAUSE]]}{where}"


def _pressure(apis: pd.DataFrame) -> str:
    pressed = int(apis[s.BACK_PRESSURE_NS].sum())
    return f", {units.text(pressed, Unit.NS)} of it back-pressure" if pressed else ""


def _blocking(figures: _Figures) -> Iterator[str]:
    sites = records(without_staging(figures.sites), s.SYNC_SITES.columns)
    if sites:
        count = sum(site[s.COUNT] for site in sites)
        blocked = units.text(sum(site[s.BLOCKED_NS] for site in sites), Unit.NS)
        under = f" under {sites[0][s.OP]}" if sites[0][s.OP] else ""
        most = f"{sites[0][s.CALL]}{under}"
        hold = units.plural(count, "holds", "hold")
        part = "most of it in" if count > 1 else "in"
        yield f"{units.counted(count, 'blocking call')} {hold} the host {blocked}, {part} {most}."


def _device_sections(figures: _Figures, shown: int) -> Iterator[Section]:
    if figures.devices.empty:
        return
    fields = {
        s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
        s.WINDOW_NS: field(s.WINDOW_NS, "window"),
        s.BUSY_NS: field(s.BUSY_NS, "busy"),
        s.IDLE_NS: field(s.IDLE_NS, "idle"),
        s.KERNEL_NS: field(s.KERNEL_NS, "kernel"),
        s.MEMCPY_NS: field(s.MEMCPY_NS, "memcpy"),
        s.COMMUNICATION_NS: field(s.COMMUNICATION_NS, "comm."),
        s.EVENTS: field(s.EVENTS, "events"),
    }
    yield Section("Device time", (), (table("devices", figures.devices, fields, adds_up=True),))
    if len(figures.idle):
        fields = {
            s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
            s.CAUSE: field(s.CAUSE, "cause"),
            s.GAPS: field(s.GAPS, "gaps"),
            s.NS: field(s.NS, "idle"),
        }
        lines = ("What the idle GPU waits for; `traceview gaps` explains the causes.",)
        drawn = partial(pictures.bars, "Idle time by cause", figures.idle, s.CAUSE, s.NS)
        rows = table("idle", figures.idle, fields, shown)
        yield Section("Idle by cause", lines, (rows,), (drawn,))
    fields = {
        s.NAME: field(s.NAME, "name", stretch=True),
        s.COUNT: field(s.COUNT, "count"),
        s.BUSY_NS: field(s.BUSY_NS, "busy"),
        s.MEDIAN_NS: field(s.MEDIAN_NS, "median"),
    }
    drawn = partial(pictures.bars, "Busy time by kernel", figures.kernels, s.NAME, s.BUSY_NS)
    rows = table("kernels", figures.kernels, fields, shown)
    yield Section("Busiest kernels", (), (rows,), (drawn,))


def _step_section(frame: pd.DataFrame) -> Iterator[Section]:
    if frame.empty:
        return
    used = frame[frame[s.EXCLUDED].isna()]
    lines = [f"{len(used)} of {len(frame)} steps count.", *excluded_lines(frame)]
    yield Section("Steps", tuple(lines), (spread(used),))


def excluded_lines(frame: pd.DataFrame) -> list[str]:
    """Which steps do not count, and why."""
    excluded = values(frame[frame[s.EXCLUDED].notna()], (s.STEP, s.EXCLUDED))
    return [
        f"Not counted: {', '.join(str(step) for step, why in excluded if why == reason)} ({text})."
        for reason, text in REASONS.items()
        if any(why == reason for _, why in excluded)
    ]


def spread(used: pd.DataFrame) -> Table:
    """Smallest, median and largest of a step's figures."""
    rows: list[tuple[Value, ...]] = []
    for name, column in (
        ("host", s.HOST_NS),
        ("device period", s.DEVICE_PERIOD_NS),
        ("GPU busy", s.BUSY_NS),
    ):
        known = used[column].dropna()
        if column == s.BUSY_NS and len(known) and not used[s.DEVICE_EVENTS].any():
            rows.append((name, None, None, None))
        elif len(known):
            rows.append((name, int(known.min()), int(known.median()), int(known.max())))
    fields = (Field("a step"), *(Field(name, Unit.NS) for name in ("least", "median", "most")))
    return Table("steps", fields, tuple(rows), row_units=(Unit.NS,) * len(rows))


def _host_sections(figures: _Figures, shown: int) -> Iterator[Section]:
    if len(figures.apis):
        fields = {
            s.CALL: field(s.CALL, "launch call", stretch=True),
            s.COUNT: field(s.COUNT, "count"),
            s.HOST_NS: field(s.HOST_NS, "host time"),
            s.BACK_PRESSURE_NS: field(s.BACK_PRESSURE_NS, "back-pressure"),
            s.MEDIAN_LATENCY_NS: field(s.MEDIAN_LATENCY_NS, "median latency"),
        }
        yield Section("Launches", (), (table("launches", figures.apis, fields, shown),))
    sites = without_staging(figures.sites)
    if len(sites):
        fields = {
            s.CALL: field(s.CALL, "call", stretch=True),
            s.OP: field(s.OP, "op", stretch=True),
            s.COUNT: field(s.COUNT, "count"),
            s.BLOCKED_NS: field(s.BLOCKED_NS, "blocked"),
            s.DEVICE_IDLE_NS: field(s.DEVICE_IDLE_NS, "GPU idle"),
        }
        yield Section("Blocking calls", (), (table("syncs", sites, fields, shown),))


def _memory_section(figures: _Figures, shown: int) -> Iterator[Section]:
    fields = {
        s.GROUP: field(s.GROUP, "alive at the peak, by op", stretch=True),
        s.HELD: field(s.HELD, "held"),
    }
    for peak in records(of_accelerators(figures.peaks), s.MEMORY_PEAKS.columns):
        number = peak[s.MEMORY_DEVICE]
        reserved = ""
        if peak[s.PEAK_RESERVED] is not None:
            reserved = f"; reserved up to {units.text(peak[s.PEAK_RESERVED], Unit.BYTES)}"
        least = "at least " if peak[s.BASELINE] is None else ""
        top = units.text(peak[s.PEAK_ALLOCATED], Unit.BYTES)
        line = f"Device {number}: peak {least}{top}"
        held = table(f"memory_{number}", _held(figures, peak), fields, shown)
        yield Section("Memory", (f"{line}{reserved}.",), (held,))


def _held(figures: _Figures, peak: dict[str, Any]) -> pd.DataFrame:
    """Who holds the bytes at the peak of one memory device."""
    frame = figures.at_peak
    mine = (frame[s.DEVICE_TYPE] == peak[s.DEVICE_TYPE]) & (
        frame[s.MEMORY_DEVICE] == peak[s.MEMORY_DEVICE]
    )
    held: pd.DataFrame = frame[mine.to_numpy()]
    return held


def _data(trace: Trace, figures: _Figures) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "trace": about(trace),
        "devices": _device_data(figures),
        "steps": records(figures.steps, s.STEPS.columns),
        "idle": records(figures.idle, s.IDLE.columns),
        "launch": _launch_data(figures),
        "sync": _sync_data(figures),
        "memory": _memory_data(figures),
        "kernels": records(figures.kernels, s.KERNELS.columns),
    }


def _device_data(figures: _Figures) -> list[dict[str, Any]]:
    return [
        {
            **device,
            "streams": records(
                figures.streams[figures.streams[s.DEVICE_ID] == device[s.DEVICE_ID]],
                (s.STREAM, s.BUSY_NS, s.EVENTS),
            ),
        }
        for device in records(figures.devices, s.DEVICES.columns)
    ]


def _launch_data(figures: _Figures) -> dict[str, Any]:
    latency = figures.launches[s.LATENCY_NS].dropna()
    return {
        "count": len(figures.launches),
        "host_ns": int(figures.launches[s.DURATION_NS].sum()),
        "back_pressure_ns": int(figures.launches[s.BACK_PRESSURE_NS].sum()),
        "median_latency_ns": int(latency.median()) if len(latency) else None,
        "apis": [
            {"name": api.pop(s.CALL), **api} for api in records(figures.apis, s.LAUNCH_APIS.columns)
        ],
    }


def _sync_data(figures: _Figures) -> dict[str, Any]:
    calls = without_staging(figures.syncs)
    return {
        "count": len(calls),
        "blocked_ns": int(calls[s.BLOCKED_NS].sum()),
        "device_idle_ns": int(calls[s.DEVICE_IDLE_NS].sum()),
        "sites": records(without_staging(figures.sites), s.SYNC_SITES.columns),
        "pageable_copies": {
            "count": len(figures.syncs) - len(calls),
            "host_ns": int(figures.syncs[s.BLOCKED_NS].sum() - calls[s.BLOCKED_NS].sum()),
        },
    }


def _memory_data(figures: _Figures) -> list[dict[str, Any]]:
    return [
        {
            "device": peak[s.MEMORY_DEVICE],
            **peak,
            "at_peak": records(_held(figures, peak), (s.GROUP, s.HELD)),
        }
        for peak in records(figures.peaks, s.MEMORY_PEAKS.columns)
    ]
