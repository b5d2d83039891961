"""Every report, on any recording, in any format."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import TraceBuilder
from places import ROOT, SHARED
from report.everything import FORMATS, REPORTS, text
from sparse import PAIRS, SPARSE, full

from traceview import show
from traceview.trace import Trace

SAMPLES = ROOT / "sample_traces"
PAIR = ("attention_naive", "attention_flash")
PUBLIC = sorted((SHARED / "public").glob("*.json.gz"))
SCREENS = 2 * 50
"""Lines that a person reads before the answer is old."""


def sample(name: str, load: Callable[[Path], Trace]) -> Trace:
    return load(SAMPLES / f"{name}.json.gz")


@pytest.mark.parametrize("make", SPARSE)
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_says_something(name: str, make: Callable[[], TraceBuilder]) -> None:
    trace = make().trace()
    written = text(name, trace)
    assert written.endswith("\n")
    assert "nan" not in written.lower().split()
    json.loads(text(name, trace, "json"), parse_constant=pytest.fail)


@pytest.mark.parametrize("format_name", [f for f in FORMATS if f in {"text", "markdown", "csv"}])
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_every_format(name: str, format_name: str) -> None:
    assert text(name, full().trace(), format_name)


@pytest.mark.parametrize(("make", "other"), PAIRS)
def test_every_diff_says_something(
    make: Callable[[], TraceBuilder], other: Callable[[], TraceBuilder]
) -> None:
    sides = make().trace(), other().trace()
    assert show.diff(*sides)


@pytest.mark.parametrize("name", ["summary", *sorted(set(REPORTS) - {"summary"})])
@pytest.mark.parametrize("recording", PAIR)
def test_text_fits_the_terminal(name: str, recording: str, load: Callable[[Path], Trace]) -> None:
    lines = text(name, sample(recording, load)).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= SCREENS


@pytest.mark.parametrize(
    "name", ["summary", "gaps", "launches", "syncs", "memory", "kernels", "steps"]
)
@pytest.mark.parametrize("recording", PAIR)
def test_golden(
    name: str, recording: str, load: Callable[[Path], Trace], golden: Callable[[str, str], None]
) -> None:
    golden(f"{recording}.{name}.txt", text(name, sample(recording, load)))


def test_golden_diff(load: Callable[[Path], Trace], golden: Callable[[str, str], None]) -> None:
    naive, flash = (sample(name, load) for name in PAIR)
    written = show.diff(naive, flash)
    golden("diff.txt", written)
    assert max(map(len, written.splitlines())) <= 80
    assert len(written.splitlines()) <= SCREENS
    golden("diff_of_one_recording.txt", show.diff(naive, naive))


@pytest.mark.parametrize("make", SPARSE)
def test_golden_of_a_sparse_recording(
    make: Callable[[], TraceBuilder], golden: Callable[[str, str], None]
) -> None:
    golden(f"sparse/{make.__name__}.summary.txt", text("summary", make().trace()))


@pytest.mark.parametrize("file", PUBLIC, ids=lambda file: file.name.split(".")[0])
def test_public_recordings_are_summarized(file: Path, load: Callable[[Path], Trace]) -> None:
    trace = load(file)
    data = json.loads(text("summary", trace, "json"), parse_constant=pytest.fail)
    for device in data["devices"]:
        assert device["busy_ns"] + device["idle_ns"] == device["window_ns"]
        causes = [row["ns"] for row in data["idle"] if row["device"] == device["device"]]
        assert sum(causes) == device["idle_ns"]
    assert sum(kernel["busy_ns"] for kernel in data["kernels"]) == sum(
        device["busy_ns"] for device in data["devices"]
    )
    assert text("summary", trace)
