"""`traceview diff`: what its options do to its end."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.commandline import traceview


def recording(file: Path, device: str, duration: int) -> Path:
    """Three kernels, each launched in a step of its own, on a device of this name."""
    events: list[dict[str, Any]] = []
    for step in range(3):
        start = 1000 * step
        name = f"ProfilerStep#{step}"
        at = {"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": 900, "name": name}
        events += [
            at | {"cat": "user_annotation"},
            at | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 10, "dur": 5,
                  "args": {"correlation": step + 1}},
            at | {"cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": start + 20,
                  "dur": duration,
                  "args": {"correlation": step + 1, "device": 0, "stream": 7}},
        ]  # fmt: skip
    properties = [{"id": 0, "name": device}]
    content = {"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return recording(tmp_path / "before.json", "GPU A", 500)


def test_strict_ends_with_4_where_the_two_cannot_be_compared(before: Path, tmp_path: Path) -> None:
    after = recording(tmp_path / "after.json", "GPU B", 300)
    lax, strict = traceview("diff", before, after), traceview("diff", before, after, "--strict")
    assert (lax.returncode, strict.returncode) == (0, 4)
    assert strict.stdout == lax.stdout
    assert strict.stderr == ""


def test_strict_ends_well_where_they_can(before: Path) -> None:
    assert traceview("diff", before, before, "--strict").returncode == 0


def test_margins_reach_the_verdicts_as_shares(before: Path, tmp_path: Path) -> None:
    after = recording(tmp_path / "after.json", "GPU A", 510)
    arguments = ["diff", before, after, "--format", "json"]
    for margin, verdict in (("1%", "regressed"), ("4", "same")):
        shown = json.loads(traceview(*arguments, "--margin", f"gpu_busy={margin}").stdout)
        busy = next(row for row in shown["quantities"] if row["quantity"] == "gpu_busy")
        assert (busy["margin"], busy["verdict"]) == (float(margin.strip("%")) / 100, verdict)


def test_an_unknown_quantity_names_the_known_ones(before: Path) -> None:
    ended = traceview("diff", before, before, "--margin", "speed=5")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "gpu_busy" in ended.stderr
