"""The options that only the views by owner and the roofline have."""

import json
from pathlib import Path

import pandas as pd
import pytest
from builders import H200, MAIN, TraceBuilder
from cli.commandline import traceview


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Two products of different shapes under a frame."""
    t = TraceBuilder(deviceProperties=[H200])
    t.python("train.py(7): main", 0, 100)
    for start, size in ((10, 64), (30, 128)):
        t.add(ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=MAIN, ts=start, dur=9,
              args={"Input Dims": [[size, size]] * 2, "Input type": ["float"] * 2})  # fmt: skip
        t.launch(start + 1, "gemm", start + 50, 5)
    return t.write(tmp_path / "trace.json")


def test_collapsed_stacks_for_flame_graphs(recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "gpu.folded"
    assert traceview("stacks", recorded, "-o", file).returncode == 0
    assert file.read_text(encoding="utf-8") == "train.py(7): main;aten::mm;gemm 10000\n"
    printed = traceview("stacks", recorded, "--host", "--format", "folded").stdout
    assert printed == "train.py(7): main 82000\ntrain.py(7): main;aten::mm 18000\n"


def test_only_stacks_can_be_folded(recorded: Path, tmp_path: Path) -> None:
    ended = traceview("ops", recorded, "-o", tmp_path / "x.folded")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert traceview("ops", recorded, "--format", "folded").returncode == 2


def test_shapes_tell_ops_apart(recorded: Path, tmp_path: Path) -> None:
    whole, split = (
        json.loads(traceview("ops", recorded, *options, "--format", "json").stdout)["ops"]
        for options in ((), ("--shapes",))
    )
    assert [row["calls"] for row in whole] == [2]
    assert sorted(row["shapes"] for row in split) == [
        "[[128, 128], [128, 128]]",
        "[[64, 64], [64, 64]]",
    ]
    file = tmp_path / "ops.parquet"
    traceview("ops", recorded, "--shapes", "-o", file)
    assert len(pd.read_parquet(file)) == 2


def test_peaks_can_be_given(recorded: Path) -> None:
    def share(*options: str) -> float:
        ended = traceview("roofline", recorded, *options, "--format", "json")
        return float(json.loads(ended.stdout)["roofline"][0]["compute_share"])

    assert share("--peak", "fp32=133.8") == pytest.approx(share() / 2)
    assert traceview("roofline", recorded, "--peak", "fp32=fast").returncode == 2
    assert traceview("roofline", recorded, "--peak", "fp32=-1").returncode == 2
    refused = traceview("roofline", recorded, "--peak", "bf17=1")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)


def test_how_owners_are_known_is_printed(recorded: Path) -> None:
    for command in ("ops", "modules", "annotations", "stacks"):
        shown = traceview(command, recorded).stdout
        assert "2 pieces of work (10.00 us) have an owner by their launch calls" in shown
