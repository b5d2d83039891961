"""A record edited by hand is read, with what was changed, or is one sentence with its line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from traceview.experiment import Entry, Record, entries, find
from traceview.render import render
from traceview.report import experiment as report

STORED = Path(__file__).parents[2] / "sample_traces" / "experiments" / "attention-inplace-mask.md"
_, FRONT, BODY = STORED.read_text(encoding="utf-8").split("---\n", 2)
WHOLE = find([STORED.parent], STORED.stem)
DATA: dict[str, Any] = yaml.load(FRONT, yaml.CSafeLoader)
WRONG = (None, "", "x", -1, 10**400, float("nan"), True, ["x"], {"x": 1})

Place = tuple[str | int, ...]


def places(data: object, place: Place = ()) -> Iterator[Place]:
    """Where every value is; of each list in its first item."""
    yield place
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*place, key))
    elif isinstance(data, list) and data:
        yield from places(data[0], (*place, 0))


def edited(data: Any, place: Place, value: object) -> Any:
    if not place:
        return value
    copy = data.copy()
    copy[place[0]] = edited(data[place[0]], place[1:], value)
    return copy


def read(folder: Path, place: Place, value: object) -> Entry:
    front = yaml.dump(edited(DATA, place, value), Dumper=yaml.CSafeDumper, sort_keys=False)
    (folder / "x.md").write_text(f"---\n{front}---\n{BODY}", encoding="utf-8")
    (entry,) = entries([folder])
    return entry


KEYS = [*(("observed", key) for key in DATA["observed"]), *((key,) for key in DATA)]


@pytest.mark.parametrize("key", KEYS, ids=lambda place: place[-1])
def test_an_edit_is_told_or_changes_nothing(tmp_path: Path, key: Place) -> None:
    data: Any = DATA["observed"] if len(key) > 1 else DATA
    inner = [] if key == ("observed",) else list(places(data[key[-1]], key))
    for place in inner or [key]:
        for value in WRONG:
            entry = read(tmp_path, place, value)
            assert entry.problems or means(entry.record) == means(WHOLE.record), (place, value)
            for problem in entry.problems:
                assert problem.line > 0
                assert "\n" not in problem.text
            assert_shown(entry)


def means(record: Record | None) -> object:
    """What a record says, apart from the words around it."""
    return record and (record.plan.digest, record.observed, record.verdict)


def assert_shown(entry: Entry) -> None:
    for document in (report.document(entry), report.overview([entry])):
        render(document, "json")
        render(document, "text", width=80)


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("observed", "claims", 0, "unit"), "nss", "claims.0.unit: invalid enum value 'nss'"),
        (("observed", "claims", 0, "unit"), "ns", "is count, not ns"),
        (("observed", "claims", 0, "claim"), "gpu_bsy < 1", "did you mean gpu_busy?"),
        (("observed", "claims", 0, "value"), "many", "is about a number: many"),
        (("observed", "claims", 0, "low"), float("inf"), "claims.0.low: that is no figure"),
        (("observed", "quantities", 0, "quantity"), "gpu_bsy", "did you mean gpu_busy?"),
        (("observed", "quantities", 0, "verdict"), "better", "invalid enum value 'better'"),
        (("observed", "undecided"), ["speed"], "no quantity speed; there are gpu_busy"),
    ],
)
def test_damage_is_one_sentence_with_its_line(
    tmp_path: Path, place: Place, value: object, says: str
) -> None:
    entry = read(tmp_path, place, value)
    assert entry.record is None
    (problem,) = entry.problems
    assert says in problem.text
    assert problem.line > 20


def test_a_tag_that_does_not_fit_is_damage(tmp_path: Path) -> None:
    for tagged in ("!!bool perhaps", "!!int ''", "!!timestamp soon", "!!binary \N{SNOWMAN}"):
        (tmp_path / "x.md").write_text(f"---\nschema: {tagged}\n---\n", encoding="utf-8")
        (entry,) = entries([tmp_path])
        assert entry.record is None
        assert "is no plain data" in entry.problems[0].text
