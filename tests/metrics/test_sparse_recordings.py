"""Every metric works on a recording that lacks what it is about."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from builders import TraceBuilder
from metrics.everything import METRICS
from sparse import (
    PAIRS,
    SPARSE,
    cpu_only,
    device_only,
    empty,
    full,
    no_launches,
    no_memory_events,
)

import traceview
from traceview import schema as s
from traceview.report import summary

SCHEMAS = {schema.name: schema for schema in vars(s).values() if isinstance(schema, s.Schema)}


@pytest.mark.parametrize("make", SPARSE)
@pytest.mark.parametrize("name", METRICS)
def test_every_metric_keeps_its_schema(name: str, make: Callable[[], TraceBuilder]) -> None:
    frame = METRICS[name](make().trace())
    assert isinstance(frame, pd.DataFrame)
    if name in SCHEMAS:
        promised = {str(column): column.dtype for column in SCHEMAS[name].columns}
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == promised


@pytest.mark.parametrize(("make", "other"), PAIRS)
def test_every_two_can_be_compared(
    make: Callable[[], TraceBuilder], other: Callable[[], TraceBuilder]
) -> None:
    compared = traceview.diff(make().trace(), other().trace())
    if make is other:
        assert set(compared.quantities[s.VERDICT]) == {"same"}
    assert len(compared.quantities) == 7


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (empty, "no_host_events"),
        (cpu_only, "no_device_work"),
        (device_only, "no_host_events"),
        (no_launches, "no_launches"),
        (no_memory_events, "no_memory_events"),
    ],
)
def test_what_is_missing_is_said(make: Callable[[], TraceBuilder], code: str) -> None:
    assert code in traceview.coverage(make().trace())[s.CODE].tolist()


WHOLE = '{"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 2}'


@pytest.mark.parametrize(
    ("text", "cut_off"),
    [
        (f"[{WHOLE}]", False),
        (f"[{WHOLE},\n", False),  # a list of events that stands alone may stay open
        (f"[{WHOLE}, {WHOLE[:20]}", True),
        (f'{{"traceEvents": [{WHOLE}]', False),  # all events are there
        (f'{{"traceEvents": [{WHOLE}, "a": 1}}', False),
        (f'{{"traceEvents": [{WHOLE},\n', True),
        (f'{{"traceEvents": [{WHOLE}, {WHOLE[:20]}', True),
    ],
)
def test_a_file_is_cut_off_that_ends_before_its_events(
    text: str, cut_off: bool, tmp_path: Path
) -> None:
    file = tmp_path / "trace.json"
    file.write_text(text)
    assert traceview.load(file).metadata.cut_off is cut_off


def test_of_a_file_that_is_cut_off_no_option_is_advised(tmp_path: Path) -> None:
    whole = full().write(tmp_path / "whole.json")
    text = whole.read_text()
    cut = tmp_path / "cut.json"
    cut.write_text(text[: text.index("kernel")])
    trace = traceview.load(cut)
    notes = traceview.coverage(trace)
    (said,) = notes[notes[s.CODE] == "no_device_work"][s.NOTE]
    assert said == "no device work: the file is cut off: device work may lie in the missing part"
    assert summary.document(trace).lead[0].startswith("The file is cut off")
    reasons = traceview.diff(trace, traceview.load(whole)).reasons
    assert "before: the file is cut off, and a part is missing" in [r.text for r in reasons]
