"""The recordings that come with the project are what they say, and their README says it too."""

import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest
from places import ROOT, SAME_PACKAGE

from traceview import kineto
from traceview.metrics.memory import memory_peaks
from traceview.metrics.steps import steps
from traceview.metrics.utilization import devices
from traceview.workload import declared

SAMPLES = ROOT / "sample_traces"
README = SAMPLES / "README.md"
RECORDINGS = sorted(SAMPLES.rglob("*.json.gz"))
BETWEEN_KERNELS_NS = 1500
"""What the events count and busy time does not, for the shortest steps."""


def test_the_folder_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 8 * 10**6


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.relative_to(SAMPLES).as_posix())
def test_a_recording_agrees_with_what_was_measured_outside_of_it(path: Path) -> None:
    trace = kineto.load(path)
    told = declared(trace.metadata.properties)
    assert told is not None, "was not made by `traceview capture`"
    assert devices(trace)["unlinked_events"].tolist() == [0]
    peaks = memory_peaks(trace)
    on_gpu = peaks.loc[peaks["device_type"] == 1, "peak_allocated_bytes"].tolist()
    assert on_gpu in ([told.recorded.peak_allocated_bytes], [])  # a graph allocates nothing
    if told.outside.queued:
        busy, outside = steps(trace)["busy_ns"].mean(), median(told.outside.event_ns)
        assert abs(busy - outside) <= 0.02 * outside + BETWEEN_KERNELS_NS
        assert told.work.ran == (told.work.variant["backend"],)
        wrong = told.work.variant["backend"] == "unmasked"
        assert told.numerics.verdict == ("wrong" if wrong else "correct")


def test_the_readme_has_the_table_of_the_recordings() -> None:
    table = subprocess.run(
        [sys.executable, "scripts/describe_samples.py"],
        cwd=ROOT, capture_output=True, check=True, encoding="utf-8", env=SAME_PACKAGE,
    ).stdout  # fmt: skip
    readme = README.read_text(encoding="utf-8")
    assert table in readme
