"""What is put into a trace comes out of it, whatever the profiler's writer does to it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.capture.stamp import sealed, stamp
from traceview.workload import Recorded, declared

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def through_the_writer(text: str) -> str:
    """The change that the profiler makes to metadata."""
    return text.replace("\\", "/").replace("\n", "")


@given(ANY_JSON)
def test_a_stamp_survives_the_writer(value: object) -> None:
    text = sealed(stamp({"value": value}), 7)
    assert through_the_writer(text) == text
    assert set(json.loads(text)) == {"schema", "value", "recorded"}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ('say "hi"', "say 'hi'"),
        ("C:\\runs", "C:/runs"),
        ("two\nlines", "two lines"),
        ("é", "é"),
        (float("nan"), None),
        (True, True),
    ],
)
def test_what_json_would_escape_is_replaced(value: object, read: object) -> None:
    assert json.loads(stamp({"value": value}))["value"] == read


def test_the_recorded_peak_comes_last() -> None:
    told = declared({"traceview": json.loads(sealed(stamp({}), 123))})
    assert told is not None
    assert told.recorded == Recorded(123)
