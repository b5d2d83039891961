"""The records that the project ships, against the recordings that they are of."""

from pathlib import Path

import pytest

from traceview import kineto
from traceview.experiment import Entry, Verdict, entries, observe
from traceview.experiment.record import Recording

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "sample_traces" / "experiments"
RECORDS = {entry.path.stem: entry for entry in entries([SHIPPED])}
EXPECTED = {
    "attention-inplace-mask": Verdict.CONFIRMED,
    "attention-flash": Verdict.CONFIRMED,
    "extra-matmul-is-free": Verdict.REFUTED,
    "training-step-rerun": Verdict.CANNOT_TELL,
}


def test_all_four_are_there_and_whole() -> None:
    assert {name: e.record.verdict for name, e in RECORDS.items() if e.record} == EXPECTED
    assert [fault for entry in RECORDS.values() for fault in entry.faults] == []


def test_each_says_that_it_was_predicted_after_its_recordings() -> None:
    orders = {
        e.record.observed.prediction for e in RECORDS.values() if e.record and e.record.observed
    }
    assert orders == {"written after"}


@pytest.mark.slow
@pytest.mark.parametrize("entry", RECORDS.values(), ids=list(RECORDS))
def test_the_recordings_say_so_again(entry: Entry, shared: Path) -> None:
    record = entry.record
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
