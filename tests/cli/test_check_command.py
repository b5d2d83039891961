"""`traceview check`: answers, exit codes, both formats."""

import json
from pathlib import Path

import pytest
import sides
from cli.commandline import traceview


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return sides.write(tmp_path, "trace")


@pytest.mark.parametrize(
    ("claims", "options", "code"),
    [
        (["gpu_busy < 1 ms"], [], 0),
        (["gpu_busy < 1 ms", "gpu_busy > 1 ms"], [], 3),
        (["peak_allocated < 1 GiB"], [], 3),
        (["peak_allocated < 1 GiB"], ["--allow-unknown"], 0),
        (["peak_allocated < 1 GiB", "gpu_busy > 1 ms"], ["--allow-unknown"], 3),
        (["gpu_bsy < 1 ms"], [], 1),
        ([], [], 2),
    ],
)
def test_how_it_ends(trace: Path, claims: list[str], options: list[str], code: int) -> None:
    asked = [part for claim in claims for part in ("--that", claim)]
    assert traceview("check", trace, *asked, *options).returncode == code


def test_json_has_each_claim_in_the_base_unit(trace: Path) -> None:
    ended = traceview("check", trace, "--that", "gpu_busy < 100 us", "--format", "json")
    (found,) = json.loads(ended.stdout)["checks"]
    assert (found["answer"], found["value"], found["unit"]) == ("fails", 550_000, "ns")
    assert "trace.json" in found["origin"]


def test_two_sides_are_named(tmp_path: Path, trace: Path) -> None:
    after = sides.write(tmp_path, "after", gemm=300, copies=0)
    both = ["--before", trace, "--after", after]
    claim = ["--that", 'ratio("gpu_busy") < 0.8']
    assert traceview("check", *both, *claim).returncode == 0
    assert traceview("check", trace, "--before", trace, *claim).returncode == 2
    one = traceview("check", trace, *claim)
    assert (one.returncode, one.stderr.count("\n")) == (1, 1)


def test_list_needs_no_trace_and_has_unit_and_meaning() -> None:
    shown = json.loads(traceview("check", "--list", "--format", "json").stdout)["metrics"]
    known = {metric["name"]: metric for metric in shown}
    assert known["gpu_idle_ratio"]["unit"] == "share"
    assert known['annotation("NAME").busy_ratio']["meaning"]
    assert "ratio(METRIC)" in known


@pytest.mark.parametrize("named", [("trace",), ("--before", "trace"), ("--after", "trace")])
def test_a_noise_profile_of_one_side_is_a_usage_error(trace: Path, named: tuple[str, ...]) -> None:
    given = [trace if part == "trace" else part for part in named]
    ended = traceview("check", *given, "--that", "gpu_busy < 1 ms", "--noise", trace)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--noise compares two sides" in ended.stderr.splitlines()[-1]
