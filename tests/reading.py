"""Reading as tests do it: with either decoder, compared value by value."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from traceview.kineto import native
from traceview.kineto.columns import Events, SparseTexts, Texts
from traceview.kineto.decode import PythonDecoder
from traceview.kineto.entries import Decoder
from traceview.kineto.read import read

DENSE = ("phase", "name", "category", "process", "thread")
TIMES = ("start_ns", "start_known", "duration_ns", "duration_known")


def native_decoder() -> Decoder:
    library = native.library()
    if library is None:
        pytest.skip("the native decoder was not built")
    return native.NativeDecoder(library)


DECODERS: Mapping[str, Callable[[], Decoder]] = {
    "native": native_decoder,
    "python": PythonDecoder,
}


def both(path: Path) -> Events:
    """What both decoders read, after checking that it is the same."""
    first = read(path, decoder=native_decoder())
    assert_equal(first, read(path, decoder=PythonDecoder()))
    return first


def plain(texts: Texts) -> list[str | None]:
    return [None if code < 0 else texts.values[code] for code in texts.codes.tolist()]


def sparse(column: SparseTexts) -> dict[int, str | None]:
    return dict(zip(column.rows.tolist(), plain(column.texts), strict=True))


def assert_equal(one: Events, other: Events) -> None:
    """Equal in every value, count and note."""
    assert_same_columns(one, other)
    assert one.properties == other.properties
    assert (one.dropped, one.repaired) == (other.dropped, other.repaired)
    assert one.notes == other.notes


def assert_same_columns(one: Events, other: Events) -> None:
    for name in DENSE:
        assert plain(getattr(one, name)) == plain(getattr(other, name)), name
    for name in TIMES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.whole_microseconds == other.whole_microseconds
    for name in {**one.integers, **other.integers}:
        assert integers(one, name) == integers(other, name), name
    for name in {**one.texts, **other.texts}:
        assert texts(one, name) == texts(other, name), name


def integers(events: Events, name: str) -> dict[int, Any]:
    column = events.integers.get(name)
    if column is None:
        return {}
    return dict(zip(column.rows.tolist(), column.values.tolist(), strict=True))


def texts(events: Events, name: str) -> dict[int, str | None]:
    column = events.texts.get(name)
    return {} if column is None else sparse(column)


def counts(events: Events) -> dict[str, int | None]:
    return {note.code: note.count for note in events.notes}
