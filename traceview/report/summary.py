"""One recording on two screens: is the GPU working, what does it wait for, what does that cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Field, Section, Table
from traceview.metrics.gaps import idle
from traceview.metrics.kernels import kernels
from traceview.metrics.launches import launch_apis, launches
from traceview.metrics.memory import memory_at_peak, memory_peaks
from traceview.metrics.steps import REASONS, steps
from traceview.metrics.syncs import sync_sites, syncs
from traceview.metrics.utilization import devices, streams
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Trace
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
        *_host_sections(figures, shown),
        *_memory_section(figures, shown),
        coverage_section(trace),
    )
    lead = tuple(_lead(figures)) or ("No device work, no launches, no memory events.",)
    return Document("summary", title(trace), lead, sections, _data(trace, figures))


def _lead(figures: _Figures) -> Iterator[str]:
    for device in figures.devices.itertuples():
        window, busy = device.window_ns, device.busy_ns
        share = units.percent(busy / window) if window else "all"
        name = f"GPU {device.device}" if len(figures.devices) > 1 else "GPU"
        yield f"{name} busy {share} of {units.text(window, Unit.NS)}{_waiting(figures, device)}."
    if len(figures.apis):
        count, time = int(figures.apis[s.COUNT].sum()), int(figures.apis[s.HOST_NS].sum())
        yield f"{count:,} launch calls take {units.text(time, Unit.NS)} of host time{_pressure(figures)}."
    blocking = figures.syncs[figures.syncs[s.KIND] != "pageable_copy"]
    if len(blocking):
        top = figures.sites.iloc[0]
        under = "" if pd.isna(top[s.OP]) else f" under {top[s.OP]}"
        blocked = units.text(int(blocking[s.BLOCKED_NS].sum()), Unit.NS)
        yield f"{len(blocking):,} blocking calls hold the host {blocked}, most {top[s.CALL]}{under}."
    for peak in figures.peaks[figures.peaks[s.DEVICE_TYPE] != 0].itertuples():
        yield f"Peak allocated {units.text(peak.peak_allocated_bytes, Unit.BYTES)}{_before(peak)}."


def _waiting(figures: _Figures, device: Any) -> str:
    causes = figures.idle[figures.idle[s.DEVICE_ID] == device.device]
    if causes.empty or not device.idle_ns:
        return ""
    share = units.percent(device.idle_ns / device.window_ns)
    top = causes.iloc[0]
    part = units.percent(top[s.NS] / device.idle_ns, 0)
    return f"; idle {share}, {part} of it {top[s.CAUSE]}"


def _pressure(figures: _Figures) -> str:
    pressed = int(figures.apis[s.BACK_PRESSURE_NS].sum())
    return f", {units.text(pressed, Unit.NS)} of it back-pressure" if pressed else ""


def _before(peak: Any) -> str:
    if pd.isna(peak.baseline_bytes):
        return " above an unknown baseline"
    return f", {units.text(peak.baseline_bytes, Unit.BYTES)} of it before recording"


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
    yield Section("Device time", (), (table("devices", figures.devices, fields),))
    if len(figures.idle):
        fields = {
            s.DEVICE_ID: field(s.DEVICE_ID, "GPU"),
            s.CAUSE: field(s.CAUSE, "cause"),
            s.GAPS: field(s.GAPS, "gaps"),
            s.NS: field(s.NS, "idle"),
        }
        lines = ("What the idle GPU waits for; `traceview gaps` explains the causes.",)
        yield Section("Idle by cause", lines, (table("idle", figures.idle, fields, shown),))
    fields = {
        s.NAME: field(s.NAME, "name", stretch=True),
        s.COUNT: field(s.COUNT, "count"),
        s.BUSY_NS: field(s.BUSY_NS, "busy"),
        s.MEDIAN_NS: field(s.MEDIAN_NS, "median"),
    }
    yield Section("Busiest kernels", (), (table("kernels", figures.kernels, fields, shown),))


def _step_section(frame: pd.DataFrame) -> Iterator[Section]:
    if frame.empty:
        return
    used = frame[frame[s.EXCLUDED].isna()]
    lines = [f"{len(used)} of {len(frame)} steps count.", *excluded_lines(frame)]
    yield Section("Steps", tuple(lines), (spread(used),))


def excluded_lines(frame: pd.DataFrame) -> list[str]:
    """Which steps do not count, and why."""
    excluded = frame[frame[s.EXCLUDED].notna()]
    return [
        f"Not counted: {', '.join(group[s.STEP])} ({REASONS[reason]})."
        for reason, group in excluded.groupby(s.EXCLUDED, sort=True)
    ]


def spread(used: pd.DataFrame) -> Table:
    """Smallest, median and largest of a step's figures."""
    rows = []
    for name, column in (
        ("host", s.HOST_NS),
        ("device period", s.DEVICE_PERIOD_NS),
        ("GPU busy", s.BUSY_NS),
    ):
        known = used[column].dropna()
        if len(known):
            rows.append((name, int(known.min()), int(known.median()), int(known.max())))
    fields = (Field("a step"), *(Field(name, Unit.NS) for name in ("least", "median", "most")))
    return Table("steps", fields, tuple(rows))


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
    if len(figures.sites):
        fields = {
            s.CALL: field(s.CALL, "call", stretch=True),
            s.OP: field(s.OP, "op", stretch=True),
            s.COUNT: field(s.COUNT, "count"),
            s.BLOCKED_NS: field(s.BLOCKED_NS, "blocked"),
            s.DEVICE_IDLE_NS: field(s.DEVICE_IDLE_NS, "GPU idle"),
        }
        yield Section("Blocking calls", (), (table("syncs", figures.sites, fields, shown),))


def _memory_section(figures: _Figures, shown: int) -> Iterator[Section]:
    for peak in figures.peaks[figures.peaks[s.DEVICE_TYPE] != 0].itertuples():
        held = figures.at_peak[
            (figures.at_peak[s.DEVICE_TYPE] == peak.device_type)
            & (figures.at_peak[s.MEMORY_DEVICE] == peak.device_id)
        ]
        fields = {
            s.GROUP: field(s.GROUP, "alive at the peak, by op", stretch=True),
            s.HELD: field(s.HELD, "held"),
        }
        reserved = ""
        if not pd.isna(peak.peak_reserved_bytes):
            reserved = f"; reserved up to {units.text(peak.peak_reserved_bytes, Unit.BYTES)}"
        line = f"Device {peak.device_id}: peak {units.text(peak.peak_allocated_bytes, Unit.BYTES)}"
        yield Section(
            "Memory",
            (f"{line}{reserved}.",),
            (table(f"memory_{peak.device_id}", held, fields, shown),),
        )


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
                figures.streams[figures.streams[s.DEVICE_ID] == device["device"]],
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
            {"name": api.pop("call"), **api} for api in records(figures.apis, s.LAUNCH_APIS.columns)
        ],
    }


def _sync_data(figures: _Figures) -> dict[str, Any]:
    copies = figures.syncs[s.KIND] == "pageable_copy"
    calls = figures.syncs[~copies]
    return {
        "count": len(calls),
        "blocked_ns": int(calls[s.BLOCKED_NS].sum()),
        "device_idle_ns": int(calls[s.DEVICE_IDLE_NS].sum()),
        "sites": records(
            figures.sites[figures.sites[s.KIND] != "pageable_copy"], s.SYNC_SITES.columns
        ),
        "pageable_copies": {
            "count": int(copies.sum()),
            "host_ns": int(figures.syncs.loc[copies, s.BLOCKED_NS].sum()),
        },
    }


def _memory_data(figures: _Figures) -> list[dict[str, Any]]:
    result = []
    for peak in records(figures.peaks, s.MEMORY_PEAKS.columns):
        held = figures.at_peak[
            (figures.at_peak[s.DEVICE_TYPE] == peak["device_type"])
            & (figures.at_peak[s.MEMORY_DEVICE] == peak["device_id"])
        ]
        at_peak = records(held, (s.GROUP, s.HELD))
        result.append({"device": peak["device_id"], **peak, "at_peak": at_peak})
    return result
