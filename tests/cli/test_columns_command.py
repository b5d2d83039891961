"""`traceview columns` knows every column of every frame."""

import json

from cli.commandline import traceview

from traceview import schema
from traceview.schema import Schema


def test_every_schema_is_there_in_order_with_all_its_columns() -> None:
    shown = json.loads(traceview("columns", "--format", "json").stdout)
    schemas = [value for value in vars(schema).values() if isinstance(value, Schema)]
    assert [frame["name"] for frame in shown["frames"]] == [known.name for known in schemas]
    for frame, known in zip(shown["frames"], schemas, strict=True):
        assert [tuple(column.values()) for column in frame["columns"]] == [
            (str(column), column.dtype, column.unit.value, column.meaning)
            for column in known.columns
        ]


def test_no_meaning_is_cut() -> None:
    words = traceview("columns").stdout.split()
    schemas = [value for value in vars(schema).values() if isinstance(value, Schema)]
    columns = [column for known in schemas for column in known.columns]
    assert [
        word for column in columns for word in column.meaning.split() if word not in words
    ] == []
