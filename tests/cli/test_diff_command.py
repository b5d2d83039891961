"""`traceview diff`: what its options do to its end."""

import json
from pathlib import Path

import pytest
from cli.commandline import traceview
from cli.recordings import recording


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return recording(tmp_path / "before.json")


def test_strict_ends_with_4_where_the_two_cannot_be_compared(before: Path, tmp_path: Path) -> None:
    after = recording(tmp_path / "after.json", device="GPU B")
    lax, strict = traceview("diff", before, after), traceview("diff", before, after, "--strict")
    assert (lax.returncode, strict.returncode) == (0, 4)
    assert strict.stdout == lax.stdout
    assert strict.stderr == ""


def test_strict_ends_well_where_they_can(before: Path) -> None:
    assert traceview("diff", before, before, "--strict").returncode == 0


def test_margins_reach_the_verdicts_as_shares(before: Path, tmp_path: Path) -> None:
    after = recording(tmp_path / "after.json", duration_us=510)
    arguments = ["diff", before, after, "--format", "json"]
    for margin, verdict in (("1%", "regressed"), ("4", "same")):
        shown = json.loads(traceview(*arguments, "--margin", f"gpu_busy={margin}").stdout)
        busy = next(row for row in shown["quantities"] if row["quantity"] == "gpu_busy")
        assert (busy["margin"], busy["verdict"]) == (float(margin.strip("%")) / 100, verdict)


def test_an_unknown_quantity_names_the_known_ones(before: Path) -> None:
    ended = traceview("diff", before, before, "--margin", "speed=5")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "gpu_busy" in ended.stderr
