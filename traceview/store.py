"""Frames to files and back: Parquet, Arrow and CSV, with exact dtypes.

A file names its schema, CSV by its columns alone. What is read is checked against it, so that a
frame from a file is as good as one from a metric.

In CSV a missing value is nothing and an empty text is `""`. A text that a spreadsheet would run as
a formula gets an apostrophe before it, as does one that begins with one; reading takes it off.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from traceview.errors import FileError, UsageError
from traceview.schema import Column, Schema, schemas

FORMATS = {"parquet": ".parquet", "arrow": ".arrow", "csv": ".csv"}
"""The formats, each with the ending of its files."""
_SCHEMA = b"traceview.schema"
_FORMULA = "^[=+\\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]"
"""What makes a spreadsheet run a cell (https://owasp.org/www-community/attacks/CSV_Injection), and
the apostrophe itself."""
_ESCAPED = f"^'({_FORMULA[1:]})"


def write(frame: pd.DataFrame, schema: Schema, path: str | Path, format: str | None = None) -> None:  # noqa: A002
    """Write a frame of `schema` to `path`, in `format`, else in the one that its ending names.

    Raises ColumnError when the frame is not of that schema, UsageError for an unknown format.
    """
    table = _table(schema.check(frame)[list(schema.columns)], schema)
    chosen = format or format_of(path)
    if chosen not in FORMATS:
        raise UsageError(f"no format {chosen!r} of frames; there are {', '.join(FORMATS)}")
    try:
        if chosen == "parquet":
            pa.parquet.write_table(table, path, compression="zstd")
        elif chosen == "arrow":
            with pa.ipc.new_file(str(path), table.schema) as file:
                file.write_table(table)
        else:
            options = pa.csv.WriteOptions(quoting_style="needed")
            pa.csv.write_csv(_as_text(table), path, options)
    except OSError as error:
        raise FileError(str(path), f"cannot be written: {error.strerror or error}") from error


def read(path: str | Path, schema: Schema | None = None) -> pd.DataFrame:
    """The frame in the file at `path`, with the dtypes of its schema.

    `schema` is needed only where a CSV file could be of several. Raises FileError when the file is
    no frame of traceview, ColumnError when it lacks columns.
    """
    chosen = format_of(path)
    try:
        table = _from_csv(path) if chosen == "csv" else _from_arrow(path, chosen)
        found = schema or _schema_of(path, table)
        if chosen == "csv":
            table = _from_text(table, found)
    except FileNotFoundError:
        raise FileError(str(path), "there is no such file") from None
    except (pa.ArrowException, OSError) as error:
        problem = str(error).partition("\n")[0]
        raise FileError(str(path), f"cannot be read as {chosen}: {problem}") from None
    frame = table.to_pandas(ignore_metadata=True, types_mapper=_NULLABLE.get)
    return found.check(frame.assign(**_restored(frame, found, str(path))))


_NULLABLE = {
    pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype(), pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}  # fmt: skip
"""So that a column with missing values does not turn into floats on the way."""


def _restored(frame: pd.DataFrame, schema: Schema, path: str) -> dict[str, pd.Series]:
    """The columns of the schema with its dtypes."""
    result = {}
    for column in schema.columns:
        if column not in frame:
            continue
        try:
            result[str(column)] = frame[column].astype(pd.api.types.pandas_dtype(column.dtype))
        except (ValueError, TypeError):
            problem = f"the column {column} holds what is no {column.dtype}"
            raise FileError(path, problem) from None
    return result


def format_of(path: str | Path) -> str:
    """The format that the ending of a file's name asks for."""
    for name, ending in FORMATS.items():
        if str(path).lower().endswith(ending):
            return name
    endings = ", ".join(FORMATS.values())
    raise UsageError(f"{path}: the ending names no format of frames; use one of {endings}")


def _table(frame: pd.DataFrame, schema: Schema) -> pa.Table:
    fields = [
        pa.field(str(column), _type(column), metadata={"unit": column.unit.value,
                                                       "meaning": column.meaning})
        for column in schema.columns
    ]  # fmt: skip
    arrow = pa.schema(fields, metadata={_SCHEMA: schema.name.encode()})
    return pa.Table.from_pandas(frame, schema=arrow, preserve_index=False).replace_schema_metadata(
        {_SCHEMA: schema.name.encode()}
    )


def _type(column: Column) -> pa.DataType:
    if column.dtype == "category":
        return pa.dictionary(pa.int32(), pa.string())
    return pa.string() if column.dtype == "string" else pa.type_for_alias(column.dtype.lower())


def _from_arrow(path: str | Path, chosen: str) -> pa.Table:
    if chosen == "parquet":
        return pa.parquet.read_table(path)
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _from_csv(path: str | Path) -> pa.Table:
    header = pa.csv.open_csv(path, parse_options=_PARSING).schema.names
    options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    return pa.csv.read_csv(path, parse_options=_PARSING, convert_options=options)


_PARSING = pa.csv.ParseOptions(newlines_in_values=True)


def _schema_of(path: str | Path, table: pa.Table) -> Schema:
    named = (table.schema.metadata or {}).get(_SCHEMA, b"").decode()
    if named in schemas():
        return schemas()[named]
    alike = [schema for schema in schemas().values() if list(schema.columns) == table.schema.names]
    if len(alike) == 1:
        return alike[0]
    if alike:
        names = ", ".join(schema.name for schema in alike)
        raise UsageError(f"{path}: may be any of {names}; say which")
    raise FileError(str(path), "is no frame of traceview: its columns are of no schema")


def _as_text(table: pa.Table) -> pa.Table:
    columns = []
    for column in table.columns:
        plain = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        if pa.types.is_string(plain.type):
            risky = pc.match_substring_regex(plain, _FORMULA)
            plain = pc.if_else(risky, pc.binary_join_element_wise("'", plain, ""), plain)
        columns.append(plain)
    return pa.table(columns, names=table.schema.names)


def _from_text(table: pa.Table, schema: Schema) -> pa.Table:
    known = {str(column): column for column in schema.columns}
    columns = []
    for name, values in zip(table.schema.names, table.columns, strict=True):
        kind = _type(known[name]) if name in known else pa.string()
        if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
            plain = pc.replace_substring_regex(values, _ESCAPED, "\\1", max_replacements=1)
            columns.append(plain)
        else:
            columns.append(values.cast(kind))
    return pa.table(columns, names=table.schema.names)
