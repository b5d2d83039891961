"""What a decoder of entries is, and how the entries that it hands on join its columns."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import SparseInts, SparseTexts, Texts
from traceview.kineto.values import UNSIGNED, Row


class Stop(enum.Enum):
    """Why a decoder stopped: the text ran out, the array was closed, the entry is not plain."""

    MORE = 0
    CLOSED = 1
    ODD = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """What a decoder found, one place an entry; a reserved place is missing everywhere."""

    phase: Texts
    name: Texts
    category: Texts
    process: Texts
    thread: Texts
    start_ns: NDArray[np.int64]
    start_known: NDArray[np.bool_]
    duration_ns: NDArray[np.int64]
    duration_known: NDArray[np.bool_]
    integers: dict[str, SparseInts]
    texts: dict[str, SparseTexts]


class Decoder(Protocol):
    """Takes entries off a text into columns.

    `scan` starts at an entry and takes each entry together with the comma or bracket behind it.
    It takes plain entries only: well-formed objects whose values have the common types. What it
    takes must equal `values.row`; any other entry it may leave, and stop there.
    """

    name: str

    @property
    def rows(self) -> int:
        """How many places there are."""

    def scan(self, data: bytes, position: int) -> tuple[int, Stop]:
        """Read entries from `position` on; where it stopped, and why."""

    def reserve(self) -> int:
        """An empty place for an entry that is read elsewhere."""

    def finish(self) -> Columns:
        """All that was taken."""


def joined(columns: Columns, rows: Mapping[int, Row]) -> Columns:
    """`columns` with `rows` in the places that were reserved for them."""
    if not rows:
        return columns
    places = np.array(sorted(rows), dtype=np.int64)
    entries = [rows[place] for place in places.tolist()]
    starts, durations = ([e.start_ns for e in entries], [e.duration_ns for e in entries])
    _set_times(columns.start_ns, columns.start_known, places, starts)
    _set_times(columns.duration_ns, columns.duration_known, places, durations)
    return replace(
        columns,
        phase=_with_texts(columns.phase, places, [e.phase for e in entries]),
        name=_with_texts(columns.name, places, [e.name for e in entries]),
        category=_with_texts(columns.category, places, [e.category for e in entries]),
        process=_with_texts(columns.process, places, [e.process for e in entries]),
        thread=_with_texts(columns.thread, places, [e.thread for e in entries]),
        integers=_with_integers(columns.integers, places, entries),
        texts=_with_sparse_texts(columns.texts, places, entries),
    )


def _set_times(
    values: NDArray[np.int64],
    known: NDArray[np.bool_],
    places: NDArray[np.int64],
    times: Sequence[int | None],
) -> None:
    values[places] = [time or 0 for time in times]
    known[places] = [time is not None for time in times]


def _with_texts(column: Texts, places: NDArray[np.int64], texts: Sequence[str | None]) -> Texts:
    codes, values = _encoded(column.values, texts)
    column.codes[places] = codes
    return Texts(column.codes, values)


def _encoded(
    values: tuple[str, ...], texts: Sequence[str | None]
) -> tuple[list[int], tuple[str, ...]]:
    """Codes of `texts`, and `values` with those behind it that it lacks."""
    code_of = {value: code for code, value in enumerate(values)}
    codes = [-1 if text is None else code_of.setdefault(text, len(code_of)) for text in texts]
    return codes, tuple(code_of)


def _with_integers(
    columns: Mapping[str, SparseInts], places: NDArray[np.int64], entries: Sequence[Row]
) -> dict[str, SparseInts]:
    result = dict(columns)
    for name in {name for entry in entries for name in entry.integers}:
        having = [i for i, entry in enumerate(entries) if name in entry.integers]
        dtype = np.uint64 if name in UNSIGNED else np.int64
        added = np.array([entries[i].integers[name] for i in having], dtype=dtype)
        old = result.get(name, SparseInts(np.empty(0, np.int64), np.empty(0, dtype)))
        result[name] = SparseInts(*_merged(old.rows, old.values, places[having], added))
    return result


def _with_sparse_texts(
    columns: Mapping[str, SparseTexts], places: NDArray[np.int64], entries: Sequence[Row]
) -> dict[str, SparseTexts]:
    result = dict(columns)
    none = SparseTexts(np.empty(0, np.int64), Texts(np.empty(0, np.int32), ()))
    for name in {name for entry in entries for name in entry.texts}:
        having = [i for i, entry in enumerate(entries) if name in entry.texts]
        old = result.get(name, none)
        codes, values = _encoded(old.texts.values, [entries[i].texts[name] for i in having])
        rows, merged = _merged(
            old.rows, old.texts.codes, places[having], np.array(codes, dtype=np.int32)
        )
        result[name] = SparseTexts(rows, Texts(merged, values))
    return result


def _merged(
    rows: NDArray[np.int64],
    values: NDArray[Any],
    more_rows: NDArray[np.int64],
    more_values: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Two sparse columns as one, by ascending row."""
    places = np.searchsorted(rows, more_rows)
    return np.insert(rows, places, more_rows), np.insert(values, places, more_values)
