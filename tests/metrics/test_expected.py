"""Real recordings against figures worked out independently: equal to the ns and the byte."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from places import SHARED

import traceview
from traceview import schema as s
from traceview.report import summary
from traceview.trace import CPU, Trace

EXPECTED = SHARED / "EXPECTED.jsonl"
FOLDERS = ("h200", "h200_published_shape")
FIGURES = [
    json.loads(line)
    for line in (EXPECTED.read_text(encoding="utf-8").splitlines() if EXPECTED.is_file() else ())
]
PEAKS = [
    file
    for file in sorted(SHARED.glob("*/*.truth.json"))
    if "profiled_max_memory_allocated" in json.loads(file.read_text(encoding="utf-8"))
]
DEVICE = (s.DEVICE_ID, s.WINDOW_NS, s.BUSY_NS, s.IDLE_NS, s.KERNEL_NS, s.MEMCPY_NS, s.MEMSET_NS,
          s.EVENTS, s.UNLINKED_EVENTS, s.UNLINKED_NS)  # fmt: skip
MEMORY = (s.DEVICE_TYPE, s.MEMORY_DEVICE, s.PEAK_ALLOCATED, s.BASELINE, s.PEAK_RESERVED, s.EVENTS)
STEP = (s.STEP, s.HOST_NS, s.DEVICE_EVENTS, s.BUSY_NS, s.DEVICE_PERIOD_NS)

Row = Mapping[str, Any]


def recording(expected: Row) -> Path:
    files = (SHARED / folder / str(expected["file"]) for folder in FOLDERS)
    return next(file for file in files if file.is_file())


def rows(frame: pd.DataFrame, columns: tuple[s.Column, ...]) -> list[Row]:
    plain = frame[list(columns)].astype(object)
    records = plain.where(plain.notna(), None).to_dict("records")
    return [{str(key): value for key, value in record.items()} for record in records]


def picked(source: list[Row], columns: tuple[s.Column, ...]) -> list[Row]:
    return [{str(column): row[column] for column in columns} for row in source]


def from_second(steps: list[Row]) -> list[Row]:
    """The first period is cut off by leaked work in some files and not in others."""
    return [{**row, s.DEVICE_PERIOD_NS: None} if n == 0 else row for n, row in enumerate(steps)]


@pytest.mark.parametrize("expected", FIGURES, ids=lambda row: row["file"].split(".")[0])
def test_frames(expected: Row, load: Callable[[Path], Trace]) -> None:
    trace = load(recording(expected))
    devices = traceview.devices(trace)
    assert rows(devices, DEVICE) == picked(expected["devices"], DEVICE)
    totals = traceview.kernels(trace)[s.TOTAL_NS].sum()
    assert totals == sum(device["sum_ns"] for device in expected["devices"])
    assert rows(traceview.memory_peaks(trace), MEMORY) == picked(expected["memory"], MEMORY)
    steps = rows(traceview.steps(trace), STEP)
    assert from_second(steps) == picked(expected["per_step"], STEP)
    apis = traceview.launch_apis(trace)
    assert dict(zip(apis[s.CALL], apis[s.COUNT], strict=True)) == expected["launch"]["apis"]
    assert apis[s.HOST_NS].sum() == expected["launch"]["host_ns"]
    calls = traceview.syncs(trace)
    by_name = calls[calls[s.KIND] == "synchronize"].groupby(s.CALL)[s.BLOCKED_NS]
    assert {
        name: {"count": len(times), "blocked_ns": times.sum()} for name, times in by_name
    } == expected["sync_calls"]


@pytest.mark.parametrize("expected", FIGURES, ids=lambda row: row["file"].split(".")[0])
def test_summary(expected: Row, load: Callable[[Path], Trace]) -> None:
    trace = load(recording(expected))
    data = json.loads(traceview.show.summary(trace, "json"))
    assert data["schema"] == summary.SCHEMA
    assert data["trace"]["events"] == expected["events"]
    assert picked(data["devices"], DEVICE) == picked(expected["devices"], DEVICE)
    assert picked(data["memory"], MEMORY) == picked(expected["memory"], MEMORY)
    assert from_second(picked(data["steps"], STEP)) == picked(expected["per_step"], STEP)
    assert len(data["steps"]) == expected["steps"]
    launch = data["launch"]
    assert {api["name"]: api["count"] for api in launch["apis"]} == expected["launch"]["apis"]
    for key in ("count", "host_ns"):
        assert launch[key] == expected["launch"][key]
    waits = [site for site in data["sync"]["sites"] if site["kind"] == "synchronize"]
    for name, call in expected["sync_calls"].items():
        for key, value in call.items():
            assert sum(site[key] for site in waits if site["call"] == name) == value
    assert {site["call"] for site in waits} == set(expected["sync_calls"])
    for device in data["devices"]:
        causes = [row["ns"] for row in data["idle"] if row["device"] == device["device"]]
        assert sum(causes) == device["idle_ns"]
    assert sum(kernel["busy_ns"] for kernel in data["kernels"]) == sum(
        device["busy_ns"] for device in data["devices"]
    )


@pytest.mark.parametrize("truth", PEAKS, ids=lambda file: file.name.split(".")[0])
def test_peak_is_what_torch_measured(truth: Path, load: Callable[[Path], Trace]) -> None:
    file = truth.with_name(truth.name.replace(".truth.json", ".pt.trace.json.gz"))
    trace = load(file)
    peaks = traceview.memory_peaks(trace)
    on_gpu = peaks[peaks[s.DEVICE_TYPE] != CPU]
    measured = json.loads(truth.read_text(encoding="utf-8"))["profiled_max_memory_allocated"]
    recorded = "profile_memory" in trace.metadata.options
    assert on_gpu[s.PEAK_ALLOCATED].tolist() == ([measured] if recorded else [])
