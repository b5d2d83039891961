"""What a trace says of itself, read by anyone: parts may be missing or of another shape."""

import pytest

from traceview.workload import SCHEMA, Numerics, Outside, Work, Workload, declared

FULL = {
    "schema": SCHEMA,
    "command": "traceview capture attention",
    "workload": {"name": "attention", "text": "B1", "problem": {"batch": 1}, "ran": ["flash"]},
    "options": {"steps": 20, "profile_memory": True},
    "environment": {"torch": "2.11.0", "power_w": 121.5},
    "outside": {"cold_start_ns": 5, "event_ns": [1, 2, 3], "peak_allocated_bytes": 7},
    "numerics": {
        "verdict": "wrong",
        "text": "no",
        "cases": [{"case": "c", "verdict": "wrong", "errors": [{"tensor": "out", "error": None}]}],
    },
}


def test_all_of_it_is_read() -> None:
    told = declared({"traceview": FULL})
    assert told is not None
    assert told.work == Work("attention", "B1", {"batch": 1}, {}, ("flash",))
    assert told.outside.event_ns == (1, 2, 3)
    assert told.environment["power_w"] == 121.5
    assert told.numerics.cases[0].errors[0].error is None


@pytest.mark.parametrize("part", ["workload", "options", "environment", "outside", "numerics"])
@pytest.mark.parametrize(
    "damage", [None, 3, "text", [1], {"event_ns": "x", "verdict": 1, "name": 2}]
)
def test_a_damaged_part_is_empty_and_the_others_are_read(part: str, damage: object) -> None:
    told = declared({"traceview": FULL | {part: damage}})
    assert told is not None
    assert told.command == FULL["command"]
    assert part == "outside" or told.outside.cold_start_ns == 5
    assert part != "outside" or told.outside == Outside()
    assert part != "numerics" or told.numerics == Numerics()


def test_only_the_schema_has_to_be_there() -> None:
    assert declared({"traceview": {"schema": SCHEMA}}) == Workload()


@pytest.mark.parametrize("stamp", [None, "text", [], {}, {"schema": "traceview.capture/2"}])
def test_what_is_not_ours_says_nothing(stamp: object) -> None:
    assert declared({"traceview": stamp}) is None
    assert declared({}) is None
