"""The decoder that needs no compiler: msgspec in pieces of about a megabyte, then columns.

It accepts only entries of the common types and leaves every other one to `values.row`, as the
native scan does; the two are held equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import ASYNC_ID, SparseInts, SparseTexts, Texts
from traceview.kineto.entries import Columns, Stop
from traceview.kineto.values import (
    INT64,
    INTEGER_KEYS,
    LINKED,
    TEXT_KEYS,
    UINT64,
    UNSIGNED,
    integer_text,
    nanoseconds,
    text,
)

Raw = msgspec.Raw
_LARGEST_PIECE: Final = 1 << 20
_SMALLEST_PIECE: Final = 1 << 8
_CUT = re.compile(rb'\}\s*,\s*(?=\{\s*")')
"""Between two entries; never inside a valid JSON string, for its quote would have to be escaped."""
_NOTHING: Final = Raw(b"")


def _attribute(key: str) -> str:
    return "a" + key.encode().hex()


_Scalar = int | str | None
_ARGUMENTS: Final = msgspec.defstruct(
    "Arguments",
    [(_attribute(key), _Scalar, None) for key in INTEGER_KEYS]
    + [(_attribute(key), Raw, _NOTHING) for key in TEXT_KEYS],
    rename={_attribute(key): key for key in (*INTEGER_KEYS, *TEXT_KEYS)},
    gc=False,
)


class _Entry(msgspec.Struct, gc=False):
    ph: str | None = None
    name: str | None = None
    cat: str | None = None
    pid: _Scalar = None
    tid: _Scalar = None
    ts: Raw = _NOTHING
    dur: Raw = _NOTHING
    id: Raw = _NOTHING
    id2: Raw = _NOTHING
    args: _ARGUMENTS | None = None  # type: ignore[valid-type]


_KEYS: Final = (*INTEGER_KEYS, *TEXT_KEYS)
_DEFAULTS: Final = (*(None for _ in INTEGER_KEYS), *(_NOTHING for _ in TEXT_KEYS))
_Arguments = dict[str, tuple[Any, ...]]
_ENTRIES: Final = msgspec.json.Decoder(list[_Entry])


class _NotPlainError(ValueError):
    """A piece holds a value that only `values.row` reads."""


class _Codes(dict[Any, int]):
    """Codes of texts in order of their first use; `text_of` makes the text of a key."""

    def __init__(self, text_of: Callable[[Any], str | None]) -> None:
        super().__init__()
        self._text_of = text_of
        self._code_of: dict[str, int] = {}

    def __missing__(self, key: Any) -> int:
        content = self._text_of(key)
        code = -1 if content is None else self._code_of.setdefault(content, len(self._code_of))
        self[key] = code
        return code

    @property
    def values_in_order(self) -> tuple[str, ...]:
        return tuple(self._code_of)


class _Sparse:
    """One argument: the places of the entries that have it, and its values or codes."""

    def __init__(self) -> None:
        self.rows: list[NDArray[np.int64]] = []
        self.values: list[NDArray[Any]] = []

    def add(self, rows: NDArray[np.int64], values: NDArray[Any]) -> None:
        self.rows.append(rows)
        self.values.append(values)


class PythonDecoder:
    """Takes entries off a text into columns; see `entries.Decoder`."""

    name = "python"

    def __init__(self) -> None:
        self.rows = 0
        self._piece = _LARGEST_PIECE
        self._codes = {key: _Codes(_plain_text) for key in ("ph", "name", "cat", "pid", "tid")}
        self._coded: dict[str, list[NDArray[np.int32]]] = {key: [] for key in self._codes}
        self._times: dict[str, list[NDArray[np.int64]]] = {"ts": [], "dur": []}
        self._known: dict[str, list[NDArray[np.bool_]]] = {"ts": [], "dur": []}
        self._integers: dict[str, _Sparse] = {}
        self._texts: dict[str, _Sparse] = {}
        self._text_codes: dict[str, _Codes] = {}

    def scan(self, data: bytes, position: int) -> tuple[int, Stop]:
        """Read entries from `position` on; where it stopped, and why."""
        while True:
            end, following = self._next_piece(data, position)
            if end < 0:
                return position, Stop.MORE
            if self._take(data[position:end]):
                self._piece = min(self._piece * 4, _LARGEST_PIECE)
                position = following
            elif (cut := _CUT.search(data, position)) is None or cut.start() + 1 == end:
                return position, Stop.ODD
            else:
                self._piece = max((end - position) // 8, _SMALLEST_PIECE)

    def _next_piece(self, data: bytes, position: int) -> tuple[int, int]:
        """The end of a piece of whole entries, and the start of what follows; -1 for none."""
        brace = min(position + self._piece, len(data))
        while (brace := data.rfind(b"}", position, brace)) >= 0:
            cut = _CUT.match(data, brace)
            if cut is not None:
                return brace + 1, cut.end()
        cut = _CUT.search(data, position)
        return (-1, -1) if cut is None else (cut.start() + 1, cut.end())

    def _take(self, piece: bytes) -> bool:
        """Append the entries of `piece` to the columns, or nothing at all if one is not plain."""
        try:
            if not piece.isascii():
                piece.decode()
            entries = _ENTRIES.decode(b"[" + piece + b"]")
            times = {
                key: _nanoseconds([bytes(raw) for raw in map(attrgetter(key), entries)])
                for key in self._times
            }
            placed = [place for place, entry in enumerate(entries) if entry.args is not None]
            arguments = _columns(entries[place].args for place in placed)
            rows = np.array(placed, dtype=np.int64) + self.rows
            integers = list(_integers(arguments, rows))
        except (msgspec.DecodeError, UnicodeDecodeError, _NotPlainError):
            return False
        for key, codes in self._codes.items():
            self._coded[key].append(_encoded(codes, map(attrgetter(key), entries)))
        for key, (values, known) in times.items():
            self._times[key].append(values)
            self._known[key].append(known)
        for name, found, numbers in integers:
            self._integers.setdefault(name, _Sparse()).add(found, numbers)
        self._take_texts(arguments, rows)
        self._take_identities(entries)
        self.rows += len(entries)
        return True

    def _take_texts(self, arguments: _Arguments, rows: NDArray[np.int64]) -> None:
        for name, keys in _KEYS_OF_TEXTS.items():
            raws = _column(arguments, keys, _NOTHING)
            places = [place for place, raw in enumerate(raws) if raw is not _NOTHING]
            if places:
                self._add_texts(name, rows[places], (bytes(raws[place]) for place in places))

    def _take_identities(self, entries: Sequence[_Entry]) -> None:
        places, raws = [], []
        for place, entry in enumerate(entries):
            if entry.ph not in LINKED:
                raw = entry.id if entry.id is not _NOTHING else entry.id2
                if raw is not _NOTHING:
                    places.append(place)
                    raws.append(bytes(raw))
        if places:
            self._add_texts(ASYNC_ID, np.array(places, dtype=np.int64) + self.rows, raws)

    def _add_texts(self, name: str, rows: NDArray[np.int64], raws: Iterable[bytes]) -> None:
        codes = _encoded(self._text_codes.setdefault(name, _Codes(text)), raws)
        present = codes >= 0
        self._texts.setdefault(name, _Sparse()).add(rows[present], codes[present])

    def reserve(self) -> int:
        """An empty place for an entry that is read elsewhere."""
        for column in self._coded.values():
            column.append(np.full(1, -1, dtype=np.int32))
        for key in self._times:
            self._times[key].append(np.zeros(1, dtype=np.int64))
            self._known[key].append(np.zeros(1, dtype=np.bool_))
        self.rows += 1
        return self.rows - 1

    def finish(self) -> Columns:
        """All that was taken."""
        dense = [
            Texts(_joined(self._coded[key], np.int32), codes.values_in_order)
            for key, codes in self._codes.items()
        ]
        return Columns(
            *dense,
            start_ns=_joined(self._times["ts"], np.int64),
            start_known=_joined(self._known["ts"], np.bool_),
            duration_ns=_joined(self._times["dur"], np.int64),
            duration_known=_joined(self._known["dur"], np.bool_),
            integers={
                name: SparseInts(
                    _joined(found.rows, np.int64),
                    _joined(found.values, np.uint64 if name in UNSIGNED else np.int64),
                )
                for name, found in self._integers.items()
            },
            texts={
                name: SparseTexts(
                    _joined(found.rows, np.int64),
                    Texts(
                        _joined(found.values, np.int32), self._text_codes[name].values_in_order
                    ),
                )
                for name, found in self._texts.items()
            },
        )


def _grouped(keys: dict[str, str]) -> dict[str, list[str]]:
    """The keys that stand for each argument, its present name first."""
    result: dict[str, list[str]] = {}
    for key, name in keys.items():
        result.setdefault(name, []).insert(0 if key == name else len(result[name]), key)
    return result


_KEYS_OF_INTEGERS: Final = _grouped(INTEGER_KEYS)
_KEYS_OF_TEXTS: Final = _grouped(TEXT_KEYS)


def _columns(arguments: Iterable[Any]) -> _Arguments:
    """The values of each key that at least one entry has."""
    columns = zip(*map(msgspec.structs.astuple, arguments), strict=True)
    return {
        key: column
        for key, column, missing in zip(_KEYS, columns, _DEFAULTS, strict=False)
        if column.count(missing) < len(column)
    }


def _column(arguments: _Arguments, keys: Sequence[str], missing: Any) -> Sequence[Any]:
    """One argument of all entries; an older name counts where the present one is missing."""
    found = [arguments[key] for key in keys if key in arguments]
    if len(found) < 2:  # noqa: PLR2004 - nothing to choose from
        return found[0] if found else ()
    return [
        next((value for value in values if value is not missing), missing)
        for values in zip(*found, strict=True)
    ]


def _integers(
    arguments: _Arguments, rows: NDArray[np.int64]
) -> Iterable[tuple[str, NDArray[np.int64], NDArray[Any]]]:
    for name, keys in _KEYS_OF_INTEGERS.items():
        values = _column(arguments, keys, None)
        if str in set(map(type, values)):
            values = [integer_text(v) if isinstance(v, str) else v for v in values]
        places = [place for place, value in enumerate(values) if value is not None]
        if not places:
            continue
        found = [values[place] for place in places]
        dtype, allowed = (np.uint64, UINT64) if name in UNSIGNED else (np.int64, INT64)
        if min(found) not in allowed or max(found) not in allowed:
            raise _NotPlainError(name)
        yield name, rows[places], np.array(found, dtype=dtype)


def _nanoseconds(texts: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Times from their texts as they stand in the file."""
    try:
        # The writer of PyTorch always prints three decimals.
        values = [int(t[:-4] + t[-3:]) if t[-4:-3] == b"." else _time(t) for t in texts]
    except ValueError:
        values = [_time(t) for t in texts]
    known = np.array([value is not None for value in values], dtype=np.bool_)
    if None in values:
        values = [value or 0 for value in values]
    return np.array(values, dtype=np.int64), known


def _time(raw: bytes) -> int | None:
    content = text(raw)
    if content is None:
        return None
    result = nanoseconds(content)
    if result is None or result not in INT64:
        raise _NotPlainError(content)
    return result


def _plain_text(value: int | str | None) -> str | None:
    return None if value is None else str(value)


def _encoded(codes: _Codes, keys: Iterable[Any]) -> NDArray[np.int32]:
    return np.array([codes[key] for key in keys], dtype=np.int32)


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
