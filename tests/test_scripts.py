"""Each analysis runs as a user runs it, and answers its question."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import H200, TraceBuilder

ROOT = Path(__file__).parents[1]
ANALYSES = ("top_gaps", "latency_by_queue_depth", "memory_by_op", "step_variance")
SAMPLES = sorted((ROOT / "sample_traces").glob("*.json.gz"))
LACKING = {
    ("memory_by_op", "graph_replay.json.gz"): "no memory events in this trace: record with"
    " profile_memory=True",
}
"""What a sample does not hold that an analysis needs: a graph allocates nothing."""
MIB = 1 << 20


def run(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """What `python scripts/SCRIPT.py ARGUMENTS` printed."""
    return subprocess.run(
        [sys.executable, "-W", "error", ROOT / "scripts" / f"{script}.py", *arguments],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three steps that end with waiting for data: for 4, 20 and 30 us."""
    t = TraceBuilder(deviceProperties=[H200])
    start = 0
    for number, wait in enumerate((4, 20, 30)):
        t.step(number, start, 20 + wait)
        t.op("aten::mm", start, 8)
        t.memory(start + 1, 4 * MIB, 4 * MIB, address=1)
        t.launch(start + 2, "gemm", start + 6, 10)
        t.launch(start + 4, "relu", start + 16, 5)
        t.memory(start + 19, -4 * MIB, 0, address=1)
        t.annotation("data", start + 20, wait)
        start += 20 + wait
    return t.write(tmp_path_factory.mktemp("traces") / "trace.json.gz")


@pytest.mark.parametrize(
    ("script", "answers"),
    [
        ("top_gaps", ("data", "unobserved", "1.000")),
        ("latency_by_queue_depth", ("50% of the launches met an empty queue",)),
        ("memory_by_op", ("aten::mm", "12.00", "peak 4.0 MiB")),
        (
            "step_variance",
            ("ProfilerStep#2 takes 0.025 ms longer than ProfilerStep#0", "+0.000 ms busy"),
        ),
    ],
)
def test_it_answers_its_question(recording: Path, script: str, answers: tuple[str, ...]) -> None:
    ended = run(script, recording)
    assert (ended.returncode, ended.stderr) == (0, "")
    for answer in answers:
        assert answer in ended.stdout, ended.stdout


@pytest.mark.parametrize("script", ANALYSES)
def test_a_recording_that_lacks_what_it_needs_is_one_sentence(tmp_path: Path, script: str) -> None:
    t = TraceBuilder()
    t.op("aten::mm", 0, 5)
    ended = run(script, t.write(tmp_path / "trace.json"))
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("script", [*ANALYSES, "benchmark"])
def test_a_missing_file_is_one_sentence(tmp_path: Path, script: str) -> None:
    ended = run(script, tmp_path / "none.json")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert "there is no such file" in ended.stderr


@pytest.mark.parametrize("script", [*ANALYSES, "benchmark", "sample_experiments"])
def test_a_missing_argument_shows_the_usage(script: str) -> None:
    ended = run(script)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"usage: {script}.py")


def test_each_is_under_60_lines() -> None:
    for script in ANALYSES:
        lines = (ROOT / "scripts" / f"{script}.py").read_text().count("\n")
        assert lines < 60, script


def test_there_are_samples() -> None:
    assert SAMPLES


@pytest.mark.parametrize("script", ANALYSES)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name.split(".")[0])
def test_it_runs_on_every_sample(script: str, sample: Path) -> None:
    ended = run(script, sample)
    if lacking := LACKING.get((script, sample.name)):
        assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"{lacking}\n")
    else:
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout
