"""Work and the calls that launched it, where a file holds several processes or broken times."""

from __future__ import annotations

from typing import Any

import plain_reader
import pytest

from traceview import schema as s
from traceview.kineto.assemble import assemble
from traceview.metrics.launches import launches
from traceview.metrics.utilization import devices
from traceview.trace import Trace


def call(at: int, correlation: int, process: int = 100) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": process,
        "tid": process, "ts": at, "dur": 5, "args": {"correlation": correlation},
    }  # fmt: skip


def kernel(at: int, length: int, correlation: int, device: int = 0) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "ts": at, "dur": length,
        "args": {"correlation": correlation, "device": device, "stream": 7},
    }  # fmt: skip


def trace(*events: dict[str, Any]) -> Trace:
    return assemble(plain_reader.from_document({"traceEvents": list(events)}))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            (call(1000, 1, 100), kernel(1010, 10, 1, 0), call(2000, 1, 200),
             kernel(2012, 10, 1, 1)), id="colliding correlations, a device each",
        ),
        pytest.param(
            (call(1000, 1, 100), kernel(1010, 10, 1), call(1030, 2, 200), kernel(1042, 10, 2)),
            id="one device, distinct correlations",
        ),
        pytest.param(
            (call(1000, 1, 100), kernel(1010, 10, 1), call(1030, 1, 200), kernel(1042, 10, 1)),
            id="one device, colliding correlations",
        ),
    ],
)  # fmt: skip
def test_each_process_keeps_its_work(events: tuple[dict[str, Any], ...]) -> None:
    merged = trace(*events)
    assert merged.work[s.PROCESS].astype("str").tolist() == ["100", "200"]
    assert merged.work[s.LAUNCH].tolist() == [0, 1]
    assert launches(merged)[s.LATENCY_NS].tolist() == [10_000, 12_000]
    assert [note.code for note in merged.metadata.notes] == ["merged_processes"]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param((kernel(0, 0, 77),), id="no time at all"),
        pytest.param((kernel(1012, -4, 77),), id="negative duration"),
        pytest.param((kernel(1012, 7_441_632_000_000_000, 77),), id="236 years (HTA #325)"),
        pytest.param((kernel(9_000_000_000, 4, 77),), id="hours after the recording"),
        pytest.param((kernel(-9_000_000_000, 4, 77),), id="hours before it (rocprofiler #84)"),
        pytest.param(({**kernel(1012, 4, 77), "dur": None},), id="no duration"),
    ],
)
def test_a_broken_record_is_listed_and_in_no_figure(broken: tuple[dict[str, Any], ...]) -> None:
    found = trace(call(1000, 1), kernel(1010, 10, 1), *broken)
    assert devices(found)[s.WINDOW_NS].tolist() == [10_000]
    assert [(note.code, note.count) for note in found.metadata.notes] == [("corrupt_records", 1)]


def test_no_event_is_lost_in_silence() -> None:
    timeless = {"ph": "X", "cat": "kernel", "name": "k", "dur": 10, "pid": 0, "tid": 7}
    backwards = {**call(1030, 9), "dur": -5}
    found = trace(call(1000, 1), kernel(1010, 10, 1), timeless, backwards)
    assert found.metadata.dropped == 1
    notes = {note.code: note.count for note in found.metadata.notes}
    assert notes == {"missing_time": 1, "negative_duration": 1}
