"""Columns know what they are, and frames are made of exactly them."""

import pandas as pd
import pytest

from traceview import schema as s
from traceview.errors import ColumnError, TraceviewError
from traceview.units import Unit

SCHEMAS = list(s.schemas().values())


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_an_empty_frame_has_all_columns_with_their_types(schema: s.Schema) -> None:
    frame = schema.empty()
    assert list(frame.columns) == list(schema.columns)
    for column in schema.columns:
        assert str(frame[column].dtype) == column.dtype
        assert column.meaning
        assert isinstance(column.unit, Unit)


def test_schemas_have_names_of_their_own() -> None:
    constants = [value for value in vars(s).values() if isinstance(value, s.Schema)]
    assert len(SCHEMAS) == len(constants)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(
        ColumnError, match=r"streams: the frame lacks events; its columns are device, "
    ) as e:
        s.STREAMS.frame({s.DEVICE_ID: [0], s.STREAM: [7], s.BUSY_NS: [1]})
    assert isinstance(e.value, TraceviewError)


def test_missing_is_missing() -> None:
    frame = s.STREAMS.frame({s.DEVICE_ID: [0], s.STREAM: [None], s.BUSY_NS: [1], s.EVENTS: [1]})
    assert frame[s.STREAM].iloc[0] is pd.NA


def test_a_column_is_its_name() -> None:
    assert pd.DataFrame({"busy_ns": [3]})[s.BUSY_NS].tolist() == [3]
    assert s.BUSY_NS.unit is Unit.NS


def test_a_frame_of_rows_has_their_values_in_the_order_of_the_columns() -> None:
    frame = s.STREAMS.of_rows([(0, None, 5, 1), (1, 7, 6, 2)])
    assert frame.equals(
        s.STREAMS.frame(
            {s.DEVICE_ID: [0, 1], s.STREAM: [None, 7], s.BUSY_NS: [5, 6], s.EVENTS: [1, 2]}
        )
    )
    assert s.STREAMS.of_rows([]).equals(s.STREAMS.empty())
