"""Diffs of real recordings of which the answer is known."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from sides import mirrored

import traceview
from traceview import schema as s
from traceview.diff import Comparability, TraceDiff
from traceview.trace import Trace

Load = Callable[[Path], Trace]
NAIVE_PEAK, FLASH_PEAK = 2_319_450_112, 235_930_624


@pytest.fixture(scope="module")
def pair(shared: Path, load: Load) -> tuple[Trace, Trace]:
    naive, flash = (
        load(shared / "h200" / f"attn_{name}.pt.trace.json.gz") for name in ("naive", "flash")
    )
    return naive, flash


def verdicts(compared: TraceDiff) -> dict[str, str]:
    frame = compared.quantities
    return dict(zip(frame[s.QUANTITY], frame[s.VERDICT], strict=True))


def facts(compared: TraceDiff) -> dict[str, tuple[str, str]]:
    frame = compared.structure
    sides = zip(frame["before"], frame["after"], strict=True)
    return dict(zip(frame["fact"], sides, strict=True))


def test_naive_to_flash(pair: tuple[Trace, Trace]) -> None:
    compared = traceview.diff(*pair)
    assert compared.comparable is not Comparability.NO
    data = json.loads(traceview.show.diff(*pair, format="json"))
    quantities = {row["quantity"]: row for row in data["quantities"]}
    rows = data["attribution"]["rows"]
    assert (
        sum(row["delta_ns"] for row in rows)
        == data["attribution"]["total_delta_ns"]
        == quantities["device_period"]["delta"]
        == quantities["gpu_busy"]["delta"] + quantities["gpu_idle"]["delta"]
    )
    assert verdicts(compared)["gpu_busy"] == "improved"
    assert verdicts(compared)["peak_allocated"] == "improved"
    assert quantities["peak_allocated"]["before"] == NAIVE_PEAK
    assert quantities["peak_allocated"]["after"] == FLASH_PEAK
    on_gpu = [row for row in data["memory"] if row["device_type"] == 1]
    assert [(row["before_bytes"], row["after_bytes"]) for row in on_gpu] == [
        (NAIVE_PEAK, FLASH_PEAK)
    ]


def test_a_recording_with_itself(pair: tuple[Trace, Trace]) -> None:
    for trace in pair:
        compared = traceview.diff(trace, trace)
        assert set(verdicts(compared).values()) == {"same"}
        assert not compared.quantities[s.DELTA].fillna(0).any()
        assert not compared.attribution[s.DELTA_NS].any()
        assert "same recording" in traceview.show.diff(trace, trace)


def test_the_other_way_round(pair: tuple[Trace, Trace]) -> None:
    there, back = traceview.diff(*pair), traceview.diff(*reversed(pair))
    for left, right in zip(
        there.quantities.to_dict("records"), back.quantities.to_dict("records"), strict=True
    ):
        assert left["delta"] == -right["delta"]
        assert mirrored(left["verdict"]) == right["verdict"]
        if left["before"] and left["after"]:
            assert left["ratio"] * right["ratio"] == pytest.approx(1)
    deltas = [sorted(x.attribution[s.DELTA_NS].abs()) for x in (there, back)]
    assert deltas[0] == deltas[1]


def test_masking_in_place_saves_one_copy_and_nothing_else(shared: Path, load: Load) -> None:
    folder = shared / "h200_published_shape"
    compared = traceview.diff(
        *(load(folder / f"{name}.pt.trace.json.gz") for name in ("naive", "inplace"))
    )
    changed = facts(compared)
    assert changed.pop("device events") == ("10", "9")
    assert changed.pop("launch calls") == ("10", "9")
    (copy,) = (fact for fact in changed if "Memcpy DtoD" in fact)
    assert changed.pop(copy) == ("1", "0")
    assert all("cudaMemcpyAsync" in fact for fact in changed)


@pytest.mark.parametrize("name", ["math", "naive"])
def test_leaked_warm_up_work_is_named_and_in_no_step(name: str, shared: Path, load: Load) -> None:
    folder = shared / "h200_published_shape"
    leaky, clean = (load(folder / f"{file}.pt.trace.json.gz") for file in (name, f"{name}_sync"))
    notes = traceview.coverage(leaky).set_index(s.CODE)
    assert "leaked_warmup" in notes.index
    assert "leaked_warmup" not in traceview.coverage(clean)[s.CODE].tolist()
    steps, again = traceview.steps(leaky), traceview.steps(clean)
    assert steps[s.DEVICE_EVENTS].tolist() == again[s.DEVICE_EVENTS].tolist()
    assert steps[s.BUSY_NS].sum() == pytest.approx(again[s.BUSY_NS].sum(), rel=0.02)
    assert traceview.devices(leaky)[s.BUSY_NS].sum() > steps[s.BUSY_NS].sum()
    text = traceview.show.summary(leaky)
    assert "before the recording" in " ".join(text.split())


REPEATS = ("flash", "naive", "train")


@pytest.mark.parametrize("program", REPEATS)
@pytest.mark.parametrize(("one", "other"), [(1, 2), (1, 3), (2, 3)])
def test_the_same_program_recorded_twice_is_never_another(
    program: str, one: int, other: int, shared: Path, load: Load
) -> None:
    folder = shared / "h200_repeats"
    compared = traceview.diff(
        *(load(folder / f"{program}_{number}.pt.trace.json.gz") for number in (one, other))
    )
    assert set(verdicts(compared).values()) <= {"same", "cannot_tell"}
    assert verdicts(compared)["gpu_busy"] == "same"


@pytest.mark.parametrize(
    ("program", "extra", "percent"), [("flash", "flashx", 4.0), ("train", "trainx", 2.8)]
)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_known_extra_is_found_in_the_busy_time(
    program: str, extra: str, percent: float, number: int, shared: Path, load: Load
) -> None:
    folder = shared / "h200_repeats"
    compared = traceview.diff(
        *(load(folder / f"{name}_{number}.pt.trace.json.gz") for name in (program, extra))
    )
    frame = compared.quantities
    busy = frame[frame[s.QUANTITY] == "gpu_busy"].iloc[0]
    assert busy[s.VERDICT] == "regressed"
    assert 100 * (busy[s.RATIO] - 1) == pytest.approx(percent, abs=0.5)


def test_no_missing_value_is_in_a_row_that_adds_up(pair: tuple[Trace, Trace]) -> None:
    compared = traceview.diff(*pair)
    assert not compared.attribution[[s.BEFORE_NS, s.AFTER_NS, s.DELTA_NS]].isna().any(axis=None)
    assert pd.api.types.is_integer_dtype(compared.attribution[s.DELTA_NS])
