"""The decoder that needs no compiler: msgspec in pieces of about a megabyte, then columns.

It accepts only entries of the common types and leaves every other one to `values.row`, as the
native scan does; the two are held equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from traceview.kineto.columns import ASYNC_ID, SparseInts, SparseTexts, Texts
from traceview.kineto.entries import Columns, Stop
from traceview.kineto.values import (
    FLOW_PHASES,
    INT64,
    INTEGER_KEYS,
    REDUNDANT_FLOWS,
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
_DECIMALS: Final = 3
_LONGEST_TIME: Final = 20
"""So many characters, two of them no digits, always fit an int64."""
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
_Values = dict[str, tuple[Any, ...]]
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
            entries = _columns_of(_ENTRIES.decode(b"[" + piece + b"]"))
            times = {key: _nanoseconds(entries[key]) for key in self._times}
            arguments, rows = _arguments_of(entries["args"], self.rows)
            integers = list(_integers(arguments, rows))
            coded = {key: _encoded(codes, entries[key]) for key, codes in self._codes.items()}
        except (msgspec.DecodeError, ValueError):
            return False
        for key, codes in coded.items():
            self._coded[key].append(codes)
        for key, (values, known) in times.items():
            self._times[key].append(values)
            self._known[key].append(known)
        for name, found, numbers in integers:
            self._integers.setdefault(name, _Sparse()).add(found, numbers)
        self._take_texts(arguments, rows)
        self._take_identities(entries)
        self.rows += len(entries["args"])
        return True

    def _take_texts(self, arguments: _Values, rows: NDArray[np.int64]) -> None:
        for name, keys in _KEYS_OF_TEXTS.items():
            raws = _column(arguments, keys, _NOTHING)
            places = [place for place, raw in enumerate(raws) if raw is not _NOTHING]
            if places:
                self._add_texts(name, rows[places], [bytes(raws[place]) for place in places])

    def _take_identities(self, entries: _Values) -> None:
        raws = [
            _NOTHING
            if category in REDUNDANT_FLOWS and phase in FLOW_PHASES
            else (first if first is not _NOTHING else second)
            for phase, category, first, second in zip(
                entries["ph"], entries["cat"], entries["id"], entries["id2"], strict=True
            )
        ]
        places = [place for place, raw in enumerate(raws) if raw is not _NOTHING]
        if places:
            rows = np.array(places, dtype=np.int64) + self.rows
            self._add_texts(ASYNC_ID, rows, [bytes(raws[place]) for place in places])

    def _add_texts(self, name: str, rows: NDArray[np.int64], raws: Sequence[bytes]) -> None:
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


def _number(value: int | str | None) -> int | None:
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_TIME:
        raise _NotPlainError(value)
    return integer_text(value)


def _columns_of(entries: Sequence[_Entry]) -> _Values:
    """The values of each field, one an entry."""
    columns = zip(*map(msgspec.structs.astuple, entries), strict=True)
    return dict(zip(_Entry.__struct_fields__, columns, strict=True))


def _arguments_of(arguments: Sequence[Any], first: int) -> tuple[_Values, NDArray[np.int64]]:
    """The values of each key that at least one entry has, and the rows of entries with any."""
    places = [place for place, found in enumerate(arguments) if found is not None]
    columns = zip(*(msgspec.structs.astuple(arguments[p]) for p in places), strict=True)
    values = {
        key: column
        for key, column, missing in zip(_KEYS, columns, _DEFAULTS, strict=False)
        if column.count(missing) < len(column)
    }
    return values, np.array(places, dtype=np.int64) + first


def _column(arguments: _Values, keys: Sequence[str], missing: Any) -> Sequence[Any]:
    """One argument of all entries; an older name counts where the present one is missing."""
    found = [arguments[key] for key in keys if key in arguments]
    if len(found) < 2:  # noqa: PLR2004 - nothing to choose from
        return found[0] if found else ()
    return [
        next((value for value in values if value is not missing), missing)
        for values in zip(*found, strict=True)
    ]


def _integers(
    arguments: _Values, rows: NDArray[np.int64]
) -> Iterable[tuple[str, NDArray[np.int64], NDArray[Any]]]:
    for name, keys in _KEYS_OF_INTEGERS.items():
        values = _column(arguments, keys, None)
        if str in set(map(type, values)):
            values = [_number(value) for value in values]
        places = [place for place, value in enumerate(values) if value is not None]
        if not places:
            continue
        found = [values[place] for place in places]
        dtype, allowed = (np.uint64, UINT64) if name in UNSIGNED else (np.int64, INT64)
        if min(found) not in allowed or max(found) not in allowed:
            raise _NotPlainError(name)
        yield name, rows[places], np.array(found, dtype=dtype)


def _nanoseconds(raws: Sequence[Raw]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Times from their texts as they stand in the file."""
    known = np.array([raw is not _NOTHING for raw in raws], dtype=np.bool_)
    values = np.zeros(len(raws), dtype=np.int64)
    present = [raw for raw in raws if raw is not _NOTHING]
    thousandths = _thousandths(present)
    if thousandths is not None:
        values[known] = thousandths
        return values, known
    times = [_time(bytes(raw)) for raw in raws]
    known = np.array([time is not None for time in times], dtype=np.bool_)
    return np.array([time or 0 for time in times], dtype=np.int64), known


def _thousandths(raws: Sequence[Raw]) -> NDArray[np.int64] | None:
    """Numbers written with exactly three decimals, times 1000: what PyTorch writes; else None."""
    joined = b"".join([b" ".join(raws), b" "])
    characters = np.frombuffer(joined, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord(" "))
    points = np.flatnonzero(characters == ord("."))
    if not raws or points.size != ends.size or np.any(ends - points != _DECIMALS + 1):
        return None
    digits = (characters >= ord("0")) & (characters <= ord("9"))
    longest = np.diff(ends, prepend=-1).max()
    if np.count_nonzero(~digits) != 2 * ends.size or longest > _LONGEST_TIME:
        return None
    return np.fromstring(joined.replace(b".", b""), dtype=np.int64, sep=" ")


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


def _encoded(codes: _Codes, keys: Sequence[Any]) -> NDArray[np.int32]:
    return np.fromiter(map(codes.__getitem__, keys), dtype=np.int32, count=len(keys))


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
