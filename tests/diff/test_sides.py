"""Sides of several recordings, what may stand on one, and what the two have to have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import H200, TraceBuilder

from traceview import schema as s
from traceview.diff import Comparability, TraceDiff, diff
from traceview.diff.noise import load_profile, profile
from traceview.errors import FileError, UsageError
from traceview.report import diff as diff_report
from traceview.report.noise import document
from traceview.trace import Trace


def recording(
    kernel: int = 100,
    shape: int = 64,
    dtype: str = "float",
    host: int = 200,
    name: str = "gemm",
    **properties: Any,
) -> Trace:
    """Four steps of one op on an input of a shape; `kernel` us on the GPU, `host` us a step."""
    t = TraceBuilder(deviceProperties=[H200], **properties)
    for number in range(4):
        begin = number * host
        t.step(number, begin, host)
        t.add(
            ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=1, ts=begin + 5, dur=20,
            args={"External id": number + 1, "Input Dims": [[shape, shape], [shape, shape]],
                  "Input type": [dtype, dtype]},
        )  # fmt: skip
        t.launch(begin + 10, name, begin + 30, kernel)
    return t.trace()


def codes(compared: TraceDiff) -> set[str]:
    return {reason.code for reason in compared.reasons}


def test_three_recordings_a_side_are_their_own_measure() -> None:
    before = [recording(kernel) for kernel in (100, 101, 102)]
    after = [recording(kernel) for kernel in (120, 121, 122)]
    compared = diff(before, after)
    busy = compared.quantities.iloc[0]
    assert (busy[s.BASIS], busy[s.VERDICT]) == ("measured", "regressed")
    assert busy[s.BEFORE] == 101_000
    assert busy[s.INTERVAL_LOW] < 121 / 101 < busy[s.INTERVAL_HIGH]


def test_only_what_the_intervals_come_from_is_named() -> None:
    before = [recording(kernel) for kernel in (100, 101, 102)]
    compared = diff(before, [recording(kernel) for kernel in (120, 121, 122)])
    lines = diff_report.document(compared).sections[0].lines
    (said,) = (line for line in lines if line.startswith("Known"))
    assert said.startswith("Known from the spread of these recordings (95 %)")


def test_a_recording_against_itself_has_nothing_to_attribute() -> None:
    titles = [
        section.title for section in diff_report.document(diff(recording(), recording())).sections
    ]
    assert not [title for title in titles if title.startswith("Where the")]
    other = diff_report.document(diff(recording(), recording(101))).sections
    assert [section.title for section in other if section.title.startswith("Where the")]


def test_the_order_of_recordings_changes_nothing() -> None:
    before = [recording(kernel) for kernel in (100, 101, 102)]
    after = [recording(kernel) for kernel in (104, 103, 105)]
    forth = diff(before, after)
    shuffled = diff(before[::-1], [after[1], after[2], after[0]])
    assert forth.quantities.equals(shuffled.quantities)
    assert forth.attribution.equals(shuffled.attribution)


def test_ranks_are_no_repeated_recordings() -> None:
    ranks = [recording(100 + r, distributedInfo={"rank": r, "world_size": 2}) for r in (0, 1)]
    with pytest.raises(UsageError, match="ranks 0, 1"):
        diff(ranks, recording())


def test_a_recording_stands_once_on_a_side() -> None:
    with pytest.raises(UsageError, match="twice"):
        diff([recording(), recording()], recording(101))
    with pytest.raises(UsageError, match="no recording before"):
        diff([], recording())


def test_same_ops_on_other_shapes_are_not_comparable() -> None:
    compared = diff(recording(shape=64), recording(shape=128))
    assert compared.comparable is Comparability.NO
    (reason,) = (r for r in compared.reasons if r.code == "shapes_differ")
    assert "[[64, 64], [64, 64]] against [[128, 128], [128, 128]]" in reason.text
    assert set(compared.quantities[s.VERDICT]) <= {"cannot_tell"}


def test_same_ops_on_other_types_are_a_reservation() -> None:
    compared = diff(recording(dtype="float"), recording(dtype="c10::BFloat16"))
    assert compared.comparable is Comparability.WITH_RESERVATIONS
    assert "dtypes_differ" in codes(compared)


def declared(verdict: str = "correct", **problem: object) -> dict[str, Any]:
    return {
        "schema": "traceview.capture/1",
        "workload": {"name": "attention", "text": "attention", "problem": {"B": 4, **problem},
                     "variant": {}, "ran": []},
        "numerics": {"verdict": verdict, "text": "the result is wrong", "rule": "", "cases": []},
    }  # fmt: skip


def test_a_declared_workload_is_compared() -> None:
    same = diff(recording(traceview=declared()), recording(101, traceview=declared()))
    assert same.comparable is Comparability.YES
    other = diff(recording(traceview=declared()), recording(101, traceview=declared(B=8)))
    assert other.comparable is Comparability.NO
    assert "B 4 against 8" in other.reasons[0].text


def test_a_wrong_result_forbids_a_comparison_and_comes_first() -> None:
    wrong = recording(101, traceview=declared("wrong"))
    compared = diff(recording(traceview=declared()), wrong)
    assert compared.comparable is Comparability.NO
    assert compared.reasons[0].text == "after: the result is wrong"


def test_a_noise_profile_judges_single_recordings(tmp_path: Path) -> None:
    runs = [recording(kernel, host=host) for kernel, host in ((100, 200), (101, 204), (99, 196))]
    measured = profile(runs)
    assert measured.recordings == 3
    assert measured.sds["gpu_busy"] == pytest.approx(0.01, rel=0.01)
    file = tmp_path / "noise.json"
    file.write_text(json.dumps(measured.to_json()))
    compared = diff(recording(100), recording(130), noise=load_profile(str(file)))
    busy = compared.quantities.iloc[0]
    assert (busy[s.BASIS], busy[s.VERDICT]) == ("profile", "regressed")


def test_a_noise_profile_of_declared_variants_is_refused() -> None:
    def run(backend: str, kernel: int) -> Trace:
        stamp = declared()
        stamp["workload"]["variant"] = {"backend": backend}
        return recording(kernel, traceview=stamp)

    assert not profile([run("naive", 100), run("naive", 101), run("naive", 102)]).doubts
    with pytest.raises(UsageError, match="no recordings of one program: backend naive against fl"):
        profile([run("naive", 100), run("naive", 101), run("flash", 102)])


def test_a_noise_profile_of_other_kernels_is_doubted() -> None:
    measured = profile([recording(100), recording(101), recording(102, name="other")])
    assert measured.doubts == (
        "trace and trace may not be of one program: 2 kernels only in one of them.",
    )
    lead = document(measured).lead
    assert lead[:2] == (*measured.doubts, "3 recordings.")


@pytest.mark.parametrize("content", ["", "[]", '{"schema": "other/1"}', "{}", "no json"])
def test_what_is_no_profile_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "noise.json"
    file.write_text(content)
    with pytest.raises(FileError, match="no noise profile"):
        load_profile(str(file))
    with pytest.raises(FileError, match="cannot be read"):
        load_profile(str(tmp_path / "absent.json"))


def test_a_kernel_slower_only_beside_copies_is_told() -> None:
    """The same kernel, twice a step: alone 10 us on both sides, beside a copy 10 and 20 us."""

    def built(beside: int) -> Trace:
        t = TraceBuilder(deviceProperties=[H200])
        for number in range(3):
            begin = number * 200
            t.step(number, begin, 200)
            t.launch(begin + 1, "gemm", begin + 10, 10)
            t.launch(begin + 2, "gemm", begin + 40, beside)
            t.launch(begin + 3, "Memcpy HtoD (Pinned -> Device)", begin + 40, 30, stream=9)
        return t.trace()

    rows = diff(built(10), built(20)).attribution
    gemm = rows[rows[s.PATH] == "gemm"].iloc[0]
    assert (gemm[s.BEFORE_CALL_NS], gemm[s.AFTER_CALL_NS]) == (10_000, 15_000)
    assert (gemm[s.BEFORE_ALONE_NS], gemm[s.AFTER_ALONE_NS]) == (10_000, 10_000)
