"""The records that the project ships, against the recordings that they are of."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from traceview import kineto
from traceview.experiment import Verdict, entries, observe
from traceview.experiment.record import Recording

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "sample_traces" / "experiments"
RECORDS = {entry.path.stem: entry for entry in entries([SHIPPED])}
EXPECTED = {
    "attention-inplace-mask": Verdict.CONFIRMED,
    "attention-flash": Verdict.CONFIRMED,
    "extra-matmul-is-free": Verdict.REFUTED,
    "training-step-rerun": Verdict.CANNOT_TELL,
    "cudnn-for-flash": Verdict.CONFIRMED,
}
WITH_RECORDINGS = "cudnn-for-flash"


def test_all_are_there_and_whole() -> None:
    assert {name: e.record.verdict for name, e in RECORDS.items() if e.record} == EXPECTED
    assert [fault for entry in RECORDS.values() for fault in entry.faults] == []


def test_each_says_whether_it_was_predicted_before_its_recordings() -> None:
    orders = {
        name: e.record.observed.prediction
        for name, e in RECORDS.items()
        if e.record and e.record.observed
    }
    late = dict.fromkeys(EXPECTED.keys() - {WITH_RECORDINGS}, "written after")
    assert orders == {**late, WITH_RECORDINGS: "written before"}


def test_the_recordings_that_come_along_give_the_same_record_again() -> None:
    record = RECORDS[WITH_RECORDINGS].record
    assert record is not None and record.observed is not None  # noqa: PT018
    folder = SHIPPED / "recordings" / WITH_RECORDINGS
    both = [
        [kineto.load(next(folder.rglob(recording.name))) for recording in side]
        for side in (record.observed.recordings.before, record.observed.recordings.after)
    ]
    again = observe(record.plan, *both, late=False).observed
    assert again is not None
    at = record.observed.recorded_at
    assert replace(again, recorded_at=at, numbers_sha256="") == replace(
        record.observed, recorded_at=at, numbers_sha256=""
    )


def test_the_readme_says_what_the_records_say() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| experiment | effect on GPU busy |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    records = [RECORDS[name].record for name in EXPECTED]
    assert len(rows) == len(records)
    for (_, effect, verdict), record in zip(rows, records, strict=True):
        assert record is not None and record.observed is not None  # noqa: PT018
        assert verdict == record.verdict
        name = "device_period" if "device period" in effect else "gpu_busy"
        (seen,) = (each for each in record.observed.quantities if each.quantity == name)
        said = re.findall(r"\d+\.\d+", effect)
        known = [seen.ratio, *(seen.interval or ())][: len(said)]
        for shown, value in zip(said, known, strict=True):
            assert value is not None
            assert shown == f"{value:.{len(shown.partition('.')[2])}f}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - {WITH_RECORDINGS}))
def test_the_recordings_say_so_again(name: str, shared: Path) -> None:
    record = RECORDS[name].record
    assert record is not None and record.observed is not None  # noqa: PT018
    seen = record.observed
    both = [
        [kineto.load(found(shared, recording)) for recording in side]
        for side in (seen.recordings.before, seen.recordings.after)
    ]
    again = observe(record.plan, *both, late=True)
    assert (again.verdict, again.observed is None) == (record.verdict, False)
    assert again.observed is not None
    assert again.observed.recordings == seen.recordings
    assert again.observed.differences == seen.differences
    for old, new in zip(seen.claims, again.observed.claims, strict=True):
        assert (new.claim, new.answer) == (old.claim, old.answer)
        assert new.value == pytest.approx(old.value)


def found(shared: Path, recording: Recording) -> Path:
    (path,) = shared.glob(f"h200*/{recording.name}")
    return path
