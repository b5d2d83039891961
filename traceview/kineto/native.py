"""The decoder in native code: the library built from _scan.cpp, through ctypes."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import (
    ASYNC_ID,
    INTEGER_ARGUMENTS,
    TEXT_ARGUMENTS,
    SparseInts,
    SparseTexts,
    Texts,
)
from traceview.kineto.entries import Columns, Stop
from traceview.kineto.values import INTEGER_KEYS, TEXT_KEYS, UNSIGNED, text

_DENSE: Final = ("phase", "name", "category", "process", "thread")
"""The fields that every entry may have, in the order of the scanner."""
_START, _DURATION = 0, 1
_INTEGERS: Final = {name: place for place, name in enumerate(INTEGER_ARGUMENTS)}
_TEXTS: Final = {
    name: place for place, name in enumerate((*TEXT_ARGUMENTS, ASYNC_ID), len(INTEGER_ARGUMENTS))
}
COLUMN_OF_KEY: Final = {key: _INTEGERS[name] for key, name in INTEGER_KEYS.items()} | {
    key: _TEXTS[name] for key, name in TEXT_KEYS.items()
}


@cache
def library() -> ctypes.CDLL | None:
    """The native code, or None where it was not built."""
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name("_scan" + suffix)
        if path.is_file():
            try:
                return _declared(ctypes.CDLL(str(path)))
            except OSError:  # built for another machine
                return None
    return None


def _declared(found: ctypes.CDLL) -> ctypes.CDLL:
    scanner, data = ctypes.c_void_p, ctypes.c_void_p
    i32, i64, u64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "scanner_new": (scanner, [data, data, i32, data, i32, i32]),
        "scanner_free": (None, [scanner]),
        "scan": (i32, [scanner, ctypes.c_char_p, u64, ctypes.POINTER(u64)]),
        "reserve": (i64, [scanner]),
        "rows": (u64, [scanner]),
        "take_dense": (None, [scanner, i32, data]),
        "take_times": (None, [scanner, i32, data, data]),
        "sparse_size": (u64, [scanner, i32]),
        "take_integers": (None, [scanner, i32, data, data]),
        "take_texts": (None, [scanner, i32, data, data]),
        "dictionary": (u64, [scanner, i32, data, data]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(found, "traceview_" + name)
        function.restype, function.argtypes = result, arguments
    return found


class NativeDecoder:
    """Takes entries off a text into columns; see `entries.Decoder`."""

    name = "native"

    def __init__(self, found: ctypes.CDLL) -> None:
        self._library = found
        self._scanner = _new_scanner(found)

    def __del__(self) -> None:
        self._library.traceview_scanner_free(self._scanner)

    @property
    def rows(self) -> int:
        """How many places there are."""
        return int(self._library.traceview_rows(self._scanner))

    def scan(self, data: bytes, position: int) -> tuple[int, Stop]:
        """Read entries from `position` on; where it stopped, and why."""
        at = ctypes.c_uint64(position)
        stop = self._library.traceview_scan(self._scanner, data, len(data), ctypes.byref(at))
        if stop < 0:
            raise MemoryError
        return at.value, Stop(stop)

    def reserve(self) -> int:
        """An empty place for an entry that is read elsewhere."""
        place = int(self._library.traceview_reserve(self._scanner))
        if place < 0:
            raise MemoryError
        return place

    def finish(self) -> Columns:
        """All that was taken."""
        dense = {name: self._dense(field) for field, name in enumerate(_DENSE)}
        start_ns, start_known = self._times(_START)
        duration_ns, duration_known = self._times(_DURATION)
        return Columns(
            phase=dense["phase"],
            name=dense["name"],
            category=dense["category"],
            process=dense["process"],
            thread=dense["thread"],
            start_ns=start_ns,
            start_known=start_known,
            duration_ns=duration_ns,
            duration_known=duration_known,
            integers={
                name: self._sparse_integers(column, unsigned=name in UNSIGNED)
                for name, column in _INTEGERS.items()
                if self._size(column)
            },
            texts={
                name: self._sparse_texts(column)
                for name, column in _TEXTS.items()
                if self._size(column)
            },
        )

    def _dense(self, field: int) -> Texts:
        codes = np.empty(self.rows, dtype=np.int32)
        self._library.traceview_take_dense(self._scanner, field, codes.ctypes.data)
        texts = [text(b'"%b"' % raw) if b"\\" in raw else raw.decode() for raw in self._raw(field)]
        return _distinct(codes, [value or "" for value in texts])

    def _times(self, clock: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        nanoseconds = np.empty(self.rows, dtype=np.int64)
        known = np.empty(self.rows, dtype=np.bool_)
        self._library.traceview_take_times(
            self._scanner, clock, nanoseconds.ctypes.data, known.ctypes.data
        )
        return nanoseconds, known

    def _size(self, column: int) -> int:
        return int(self._library.traceview_sparse_size(self._scanner, column))

    def _sparse_integers(self, column: int, *, unsigned: bool) -> SparseInts:
        size = self._size(column)
        rows = np.empty(size, dtype=np.int64)
        values = np.empty(size, dtype=np.uint64 if unsigned else np.int64)
        self._library.traceview_take_integers(
            self._scanner, column, rows.ctypes.data, values.ctypes.data
        )
        return SparseInts(rows, values)

    def _sparse_texts(self, column: int) -> SparseTexts:
        size = self._size(column)
        rows = np.empty(size, dtype=np.int64)
        codes = np.empty(size, dtype=np.int32)
        self._library.traceview_take_texts(
            self._scanner, column, rows.ctypes.data, codes.ctypes.data
        )
        texts = [text(raw) or "" for raw in self._raw(len(_DENSE) + column)]
        return SparseTexts(rows, _distinct(codes, texts))

    def _raw(self, column: int) -> list[bytes]:
        """The distinct texts of a column as they stand in the file."""
        content, ends = ctypes.c_void_p(), ctypes.c_void_p()
        count = self._library.traceview_dictionary(
            self._scanner, column, ctypes.byref(content), ctypes.byref(ends)
        )
        if not count or ends.value is None:
            return []
        bounds = [0, *(ctypes.c_uint64 * count).from_address(ends.value)]
        whole = ctypes.string_at(content, bounds[-1]) if content.value else b""
        return [whole[bounds[i] : bounds[i + 1]] for i in range(count)]


def _new_scanner(found: ctypes.CDLL) -> int:
    keys = (ctypes.c_char_p * len(COLUMN_OF_KEY))(*(key.encode() for key in COLUMN_OF_KEY))
    columns = (ctypes.c_int32 * len(COLUMN_OF_KEY))(*COLUMN_OF_KEY.values())
    unsigned = (ctypes.c_uint8 * len(_INTEGERS))(*(name in UNSIGNED for name in _INTEGERS))
    scanner = found.traceview_scanner_new(
        keys, columns, len(COLUMN_OF_KEY), unsigned, len(_INTEGERS), len(TEXT_ARGUMENTS)
    )
    if not scanner:
        raise MemoryError
    return int(scanner)


def _distinct(codes: NDArray[np.int32], texts: list[str]) -> Texts:
    """Codes of distinct texts: a character may have been written in two ways."""
    code_of: dict[str, int] = {}
    new = [code_of.setdefault(value, len(code_of)) for value in texts]
    if len(code_of) < len(new):
        codes = np.array([*new, -1], dtype=np.int32)[codes]
    return Texts(codes, tuple(code_of))
