"""`traceview columns`: every column of every frame."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options

if TYPE_CHECKING:
    from traceview.cli.output import Output
    from traceview.document import Document, Table
    from traceview.schema import Schema

HELP = """What does each column of the frames mean?

Prints every column of every frame that the library hands out: its name, its dtype, its unit
and its meaning. Missing values are missing (pd.NA), never -1 or 0.

\b
Examples:
  traceview columns
  traceview columns -o columns.md
"""


@click.command("columns", help=HELP)
@output_options
def command(output: Output) -> None:
    """Send the reference of all columns."""
    from traceview import schema  # noqa: PLC0415 -- help has no time for pandas

    output.write(document(schema.schemas().values()))


def document(schemas: Collection[Schema]) -> Document:
    """The reference of `schemas`, a section each."""
    from traceview.document import Document, Section  # noqa: PLC0415

    return Document(
        name="columns",
        title="Columns of the frames",
        lead=("Times are integers of ns from the trace's own start, sizes integers of bytes.",),
        sections=tuple(
            Section(schema.name, (f"{schema.meaning}.",), (_table(schema),)) for schema in schemas
        ),
        data={
            "schema": "traceview.columns/1",
            "frames": [
                {
                    "name": schema.name,
                    "meaning": schema.meaning,
                    "columns": [
                        {
                            "name": str(column),
                            "dtype": column.dtype,
                            "unit": column.unit.value,
                            "meaning": column.meaning,
                        }
                        for column in schema.columns
                    ],
                }
                for schema in schemas
            ],
        },
    )


def _table(schema: Schema) -> Table:
    from traceview.document import Field, Table  # noqa: PLC0415

    return Table(
        schema.name,
        (Field("column"), Field("dtype"), Field("unit"), Field("meaning", prose=True)),
        tuple(
            (str(column), column.dtype, column.unit.value, column.meaning)
            for column in schema.columns
        ),
    )
