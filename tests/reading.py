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
        assert_same_texts(getattr(one, name), getattr(other, name), name)
    for name in TIMES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.whole_microseconds == other.whole_microseconds
    assert one.integers.keys() == other.integers.keys()
    for name, column in one.integers.items():
        np.testing.assert_array_equal(column.rows, other.integers[name].rows, err_msg=name)
        np.testing.assert_array_equal(column.values, other.integers[name].values, err_msg=name)
        assert column.values.dtype == other.integers[name].values.dtype
    assert one.texts.keys() == other.texts.keys()
    for name, found in one.texts.items():
        np.testing.assert_array_equal(found.rows, other.texts[name].rows, err_msg=name)
        assert_same_texts(found.texts, other.texts[name].texts, name)


def assert_same_texts(one: Texts, other: Texts, name: str) -> None:
    """The same text everywhere, whatever the codes."""
    code_of = {value: code for code, value in enumerate(one.values)}
    assert len(code_of) == len(one.values)
    codes = np.array([*(code_of.get(value, -2) for value in other.values), -1])
    np.testing.assert_array_equal(one.codes, codes[other.codes], err_msg=name)


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
