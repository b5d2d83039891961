"""Verdicts and attributions on real recordings whose truth is known, from outside the project."""

from __future__ import annotations

import functools
import itertools
import random
from pathlib import Path

import pandas as pd
import pytest

from traceview import schema as s
from traceview.diff import Comparability, TraceDiff, diff
from traceview.kineto import load
from traceview.trace import Trace

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
REPEATS, H200, PUBLIC = TRACES / "h200_repeats", TRACES / "h200", TRACES / "public"
pytestmark = [
    pytest.mark.skipif(not TRACES.is_dir(), reason="the recordings are not part of the project"),
    pytest.mark.slow,
]
SAME = {
    "flash": [REPEATS / f"flash_{i}.pt.trace.json.gz" for i in (1, 2, 3)]
    + [H200 / "attn_flash.pt.trace.json.gz"],
    "naive": [REPEATS / f"naive_{i}.pt.trace.json.gz" for i in (1, 2, 3)]
    + [H200 / "attn_naive.pt.trace.json.gz"],
    "train": [REPEATS / f"train_{i}.pt.trace.json.gz" for i in (1, 2, 3)],
    "flashx": [REPEATS / f"flashx_{i}.pt.trace.json.gz" for i in (1, 2, 3)],
    "trainx": [REPEATS / f"trainx_{i}.pt.trace.json.gz" for i in (1, 2, 3)],
}
CLAIMS = {"improved", "regressed"}


@functools.lru_cache(maxsize=24)
def trace(path: Path) -> Trace:
    return load(path)


def verdicts(compared: TraceDiff) -> dict[str, str]:
    frame = compared.quantities
    return dict(zip(frame[s.QUANTITY], frame[s.VERDICT], strict=True))


def row(compared: TraceDiff, quantity: str) -> pd.Series:
    frame = compared.quantities
    found: pd.Series = frame[frame[s.QUANTITY] == quantity].iloc[0]
    return found


@pytest.mark.parametrize("kind", SAME)
@pytest.mark.parametrize("runs", [1, 2])
def test_no_change_is_called_one(kind: str, runs: int) -> None:
    for before in itertools.combinations(SAME[kind], runs):
        rest = [path for path in SAME[kind] if path not in before]
        for after in itertools.combinations(rest, runs):
            compared = diff([trace(p) for p in before], [trace(p) for p in after])
            claims = {name: v for name, v in verdicts(compared).items() if v in CLAIMS}
            assert not claims, (before, after)


@pytest.mark.parametrize(("before", "after"), [("flash", "flashx"), ("train", "trainx")])
def test_known_extra_work_is_found_in_each_pair(before: str, after: str) -> None:
    for first in SAME[before][:3]:
        for second in SAME[after]:
            found = verdicts(diff(trace(first), trace(second)))
            assert found["gpu_busy"] == "regressed"
            assert found["device_period"] not in CLAIMS
            assert found["host_step"] not in CLAIMS


@pytest.mark.parametrize(
    ("before", "after", "truth"), [("flash", "flashx", 1.040), ("train", "trainx", 1.028)]
)
def test_three_recordings_a_side_hold_the_truth(before: str, after: str, truth: float) -> None:
    sides = ([trace(p) for p in SAME[kind][:3]] for kind in (before, after))
    compared = diff(*sides)
    busy = row(compared, "gpu_busy")
    assert busy[s.VERDICT] == "regressed"
    assert busy[s.BASIS] == "measured"
    assert busy[s.INTERVAL_LOW] < truth < busy[s.INTERVAL_HIGH]
    assert verdicts(compared)["device_period"] not in CLAIMS
    assert verdicts(compared)["host_step"] not in CLAIMS


def test_same_program_on_a_v100_is_not_told_apart() -> None:
    first, second = (trace(PUBLIC / f"v100_resnet50_workers0_{run}.json.gz") for run in ("a", "b"))
    found = verdicts(diff(first, second))
    assert not CLAIMS & set(found.values())
    assert found["gpu_busy"] == "same"


def test_data_loader_is_the_first_row() -> None:
    first = trace(PUBLIC / "v100_resnet50_workers0_a.json.gz")
    for run in ("a", "b"):
        second = trace(PUBLIC / f"v100_resnet50_workers4_{run}.json.gz")
        top = diff(first, second).attribution.iloc[0]
        assert (top[s.PART], top[s.PATH]) == ("idle", "dataloader")


def test_eager_attention_replaces_the_fused_kernels() -> None:
    compared = diff(
        trace(H200 / "train_sdpa.pt.trace.json.gz"),
        trace(H200 / "train_eager_attn.pt.trace.json.gz"),
    )
    busy = row(compared, "gpu_busy")
    assert busy[s.VERDICT] == "regressed"
    assert busy[s.RATIO] == pytest.approx(1.70, abs=0.01)
    assert verdicts(compared)["gpu_idle"] == "cannot_tell"
    replaced = compared.attribution[compared.attribution[s.CHANGE] == "replaced"].iloc[0]
    before, after = str(replaced[s.LABEL]).split(" -> ")
    assert "_cudnn_attention_forward" in before
    assert "_softmax" in after
    assert "bmm" in after
    members = compared.replaced
    for side, column in (("before", s.BEFORE_NS), ("after", s.AFTER_NS)):
        mine = members[(members[s.SIDE] == side) & (members[s.ROW] == replaced.name)]
        assert mine[s.NS].sum() == replaced[column]


@pytest.mark.parametrize("backend", ["flash", "efficient", "cudnn", "naive", "compiled"])
def test_math_attention_is_replaced(backend: str) -> None:
    compared = diff(
        trace(H200 / "attn_math.pt.trace.json.gz"), trace(H200 / f"attn_{backend}.pt.trace.json.gz")
    )
    top = compared.attribution.iloc[0]
    assert top[s.CHANGE] == "replaced"
    assert verdicts(compared)["gpu_busy"] == "improved"


def test_other_hardware_is_not_comparable() -> None:
    compared = diff(
        trace(PUBLIC / "tl_h100_qwen05b.json.gz"), trace(PUBLIC / "tl_mi300_qwen05b.json.gz")
    )
    assert compared.comparable is Comparability.NO
    assert compared.reasons[0].code == "hardware_differs"
    matched = compared.attribution
    shared = matched[(matched[s.PART] == "busy") & (matched[s.CHANGE] != "only_before")]
    assert shared[s.REGION].str.contains("aten::").any()
    assert set(verdicts(compared).values()) - {"cannot_tell"} <= {"regressed", "improved", "same"}


def test_rows_add_up_and_mirror_on_random_pairs() -> None:
    """Any two recordings, related or not: sums are exact, and swapping the sides mirrors all."""
    paths = [p for p in sorted(TRACES.glob("*/*.json.gz")) if p.stat().st_size < 2_000_000]
    rng = random.Random(20)  # noqa: S311 - picks test cases
    for first, second in (rng.sample(paths, 2) for _ in range(25)):
        forth = diff(trace(first), trace(second))
        back = diff(trace(second), trace(first))
        period = row(forth, "device_period")[s.DELTA]
        total = int(forth.attribution[s.DELTA_NS].sum())
        assert pd.isna(period) or total == period, (first, second)
        assert total == -int(back.attribution[s.DELTA_NS].sum())
        mirror = {"improved": "regressed", "regressed": "improved"}
        flipped = {name: mirror.get(v, v) for name, v in verdicts(forth).items()}
        assert flipped == verdicts(back), (first, second)
        swap = {"only_before": "only_after", "only_after": "only_before"}
        left, right = forth.attribution, back.attribution
        renamed = right.assign(
            **{s.CHANGE: right[s.CHANGE].replace(swap), s.DELTA_NS: -right[s.DELTA_NS]}
        )
        sums = [frame.groupby([s.PART, s.CHANGE])[s.DELTA_NS].sum() for frame in (left, renamed)]
        assert sums[0].equals(sums[1]), (first, second)
