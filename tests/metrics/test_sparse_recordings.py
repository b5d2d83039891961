"""Every metric works on a recording that lacks what it is about."""

from collections.abc import Callable

import pandas as pd
import pytest
from builders import TraceBuilder
from metrics.everything import METRICS
from sparse import PAIRS, SPARSE, cpu_only, device_only, empty, no_launches, no_memory_events

import traceview
from traceview import schema as s

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
