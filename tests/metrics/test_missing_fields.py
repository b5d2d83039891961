"""What a recorder left out of its events is missing, and nothing fails for it (format notes, 6)."""

import pandas as pd
import pytest
from builders import TraceBuilder
from metrics.everything import METRICS, figures, noted
from report.everything import REPORTS
from sparse import full

import traceview
from traceview import schema as s

FIELDS = ("name", "cat", "pid", "tid", "ts", "dur", "args", "ph")


def lacking(field: str, every: int) -> TraceBuilder:
    """The full recording in which one event in `every` lacks the field."""
    t = full()
    for event in t.events[::every]:
        event.pop(field, None)
    return t


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("every", [1, 2])
def test_every_metric_and_report_works_without_a_field(field: str, every: int) -> None:
    trace = lacking(field, every).trace()
    for metric in METRICS.values():
        metric(trace)
    for report in REPORTS.values():
        assert report(trace, width=80)


@pytest.mark.parametrize("field", FIELDS)
def test_no_event_is_lost_without_a_count(field: str) -> None:
    t = lacking(field, 1)
    trace = t.trace()
    kept = len(trace.host) + len(trace.device) + len(trace.memory)
    # An instant is a memory event by its name only.
    instants = sum("dur" not in event for event in t.events) if field == "name" else 0
    assert kept + trace.metadata.dropped == len(t.events) - instants


@pytest.mark.parametrize("field", ["pid", "tid"])
def test_what_no_event_names_is_one_for_all(field: str) -> None:
    t = full()
    for event in t.events:
        if event["cat"] != "kernel":
            del event[field]
    found, expected = figures(t.trace()), figures(full().trace())
    for name, frame in expected.items():
        without = [column for column in frame if column not in {s.PROCESS, s.THREAD}]
        pd.testing.assert_frame_equal(found[name][without], frame[without])


def test_ops_without_a_name_are_told_from_all_others() -> None:
    t = full()
    del t.events[1]["name"]
    trace = t.trace()
    counted = traceview.ops(trace).set_index(s.OP)[s.CALLS]
    assert counted.to_dict() == {"aten::mm": 2, "(no name)": 1}
    assert noted(trace, "missing_name")[0] == 1


def test_events_without_a_category_are_counted_and_have_none() -> None:
    t = full()
    del t.events[0]["cat"]
    found = traceview.recorded(t.trace())
    assert found[s.ENTRIES].sum() == len(t.events)
    assert found[s.CATEGORY].isna().sum() == 1
