"""The decoder that needs no compiler: msgspec in pieces of some megabytes, then columns.

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

from traceview.kineto.arguments import NOTHING, Arguments, NotPlainError, Raw, Values
from traceview.kineto.columns import ASYNC_ID, SparseInts, SparseTexts, Texts
from traceview.kineto.entries import Columns, Stop
from traceview.kineto.values import (
    FLOW_PHASES,
    INT64,
    REDUNDANT_FLOWS,
    UNSIGNED,
    nanoseconds,
    text,
)

_LARGEST_PIECE: Final = 1 << 22
_CUT = re.compile(rb'\}[ \t\r\n]*,[ \t\r\n]*(?=\{[ \t\r\n]*")')
"""Between two entries; never inside a valid JSON string, for its quote would have to be escaped."""
_DECIMALS: Final = 3
_LONGEST_TIME: Final = 20
"""So many characters, two of them no digits, always fit an int64."""

_Scalar = int | str | None


class _Entry(msgspec.Struct, gc=False):
    ph: str | None = None
    name: str | None = None
    cat: str | None = None
    pid: _Scalar = None
    tid: _Scalar = None
    ts: Raw = NOTHING
    dur: Raw = NOTHING
    id: Raw = NOTHING
    id2: Raw = NOTHING
    args: Raw = NOTHING


_ENTRIES: Final = msgspec.json.Decoder(list[_Entry])


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

    def encoded(self, keys: Sequence[Any]) -> NDArray[np.int32]:
        """The code of each key."""
        return np.fromiter(map(self.__getitem__, keys), dtype=np.int32, count=len(keys))

    def texts(self, codes: NDArray[np.int32]) -> Texts:
        """Codes with the texts that they stand for."""
        return Texts(codes, tuple(self._code_of))


class _Column:
    """Arrays that become one at the end."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._parts: list[NDArray[Any]] = []

    def add(self, part: NDArray[Any]) -> None:
        self._parts.append(part)

    def whole(self) -> NDArray[Any]:
        if not self._parts:
            return np.empty(0, dtype=self._dtype)
        return np.concatenate(self._parts, dtype=self._dtype)


class _Times:
    """Times in ns, and which of them are known."""

    def __init__(self) -> None:
        self.values = _Column(np.int64)
        self.known = _Column(np.bool_)

    def add(self, values: NDArray[np.int64], known: NDArray[np.bool_]) -> None:
        self.values.add(values)
        self.known.add(known)


class _SparseIntegers:
    """One integer argument: the rows that have it, and its values."""

    def __init__(self, name: str) -> None:
        self._rows = _Column(np.int64)
        self._values = _Column(np.uint64 if name in UNSIGNED else np.int64)

    def add(self, rows: NDArray[np.int64], values: NDArray[Any]) -> None:
        self._rows.add(rows)
        self._values.add(values)

    def whole(self) -> SparseInts:
        return SparseInts(self._rows.whole(), self._values.whole())


class _SparseStrings:
    """One text argument: the rows that have it, and its codes."""

    def __init__(self) -> None:
        self._rows = _Column(np.int64)
        self._codes = _Column(np.int32)
        self._dictionary = _Codes(text)

    def add(self, rows: NDArray[np.int64], raws: Sequence[bytes]) -> None:
        codes = self._dictionary.encoded(raws)
        present = codes >= 0
        self._rows.add(rows[present])
        self._codes.add(codes[present])

    def whole(self) -> SparseTexts:
        return SparseTexts(self._rows.whole(), self._dictionary.texts(self._codes.whole()))


class PythonDecoder:
    """Takes entries off a text into columns; see `entries.Decoder`."""

    name = "python"

    def __init__(self) -> None:
        self._rows = 0
        self._piece = _LARGEST_PIECE
        self._codes = {key: _Codes(_plain_text) for key in ("ph", "name", "cat", "pid", "tid")}
        self._coded = {key: _Column(np.int32) for key in self._codes}
        self._times = {"ts": _Times(), "dur": _Times()}
        self._arguments = Arguments()
        self._integers: dict[str, _SparseIntegers] = {}
        self._texts: dict[str, _SparseStrings] = {}

    @property
    def rows(self) -> int:
        """How many places there are."""
        return self._rows

    def scan(self, data: bytes, position: int) -> tuple[int, Stop]:
        """Read entries from `position` on; where it stopped, and why."""
        while True:
            end, following = self._next_piece(data, position)
            if end < 0:
                return position, Stop.MORE
            if self._take(memoryview(data)[position:end]):
                self._piece = min(self._piece * 4, _LARGEST_PIECE)
                position = following
            elif (cut := _CUT.search(data, position)) is None or cut.start() + 1 == end:
                return position, Stop.ODD
            else:
                self._piece = max((end - position) // 8, 1)

    def _next_piece(self, data: bytes, position: int) -> tuple[int, int]:
        """The end of a piece of whole entries, and the start of what follows; -1 for none."""
        brace = min(position + self._piece, len(data))
        while (brace := data.rfind(b"}", position, brace)) >= 0:
            cut = _CUT.match(data, brace)
            if cut is not None:
                return brace + 1, cut.end()
        cut = _CUT.search(data, position)
        return (-1, -1) if cut is None else (cut.start() + 1, cut.end())

    def _take(self, piece: memoryview) -> bool:
        """Append the entries of `piece` to the columns, or nothing at all if one is not plain."""
        try:
            text_of_list = b"".join((b"[", piece, b"]"))
            if not text_of_list.isascii():
                text_of_list.decode()  # msgspec does not look at the strings that it passes over
            entries = _columns(_ENTRIES.decode(text_of_list))
            coded = {key: codes.encoded(entries[key]) for key, codes in self._codes.items()}
            times = {key: _nanoseconds(entries[key]) for key in self._times}
            found = self._arguments.decoded(entries["args"], coded["cat"])
        except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
            return False
        for key, codes in coded.items():
            self._coded[key].add(codes)
        for key, (values, known) in times.items():
            self._times[key].add(values, known)
        for name, places, numbers in found.integers:
            column = self._integers.setdefault(name, _SparseIntegers(name))
            column.add(places + self._rows, numbers)
        for name, places, raws in (*found.texts, *_identities(entries)):
            self._texts.setdefault(name, _SparseStrings()).add(places + self._rows, raws)
        self._rows += len(entries["args"])
        return True

    def reserve(self) -> int:
        """An empty place for an entry that is read elsewhere."""
        for column in self._coded.values():
            column.add(np.full(1, -1, dtype=np.int32))
        for times in self._times.values():
            times.add(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_))
        self._rows += 1
        return self._rows - 1

    def finish(self) -> Columns:
        """All that was taken."""
        dense = {key: codes.texts(self._coded[key].whole()) for key, codes in self._codes.items()}
        starts, durations = self._times["ts"], self._times["dur"]
        texts = {name: column.whole() for name, column in self._texts.items()}
        return Columns(
            phase=dense["ph"],
            name=dense["name"],
            category=dense["cat"],
            process=dense["pid"],
            thread=dense["tid"],
            start_ns=starts.values.whole(),
            start_known=starts.known.whole(),
            duration_ns=durations.values.whole(),
            duration_known=durations.known.whole(),
            integers={name: column.whole() for name, column in self._integers.items()},
            texts={name: column for name, column in texts.items() if column.rows.size},
        )


def _columns(entries: Sequence[_Entry]) -> Values:
    """The values of each field, one an entry."""
    columns = zip(*map(msgspec.structs.astuple, entries), strict=True)
    return dict(zip(_Entry.__struct_fields__, columns, strict=True))


def _identities(entries: Values) -> Iterable[tuple[str, NDArray[np.int64], list[bytes]]]:
    """The `id` of the entries that keep it, as the text argument it is kept as."""
    either = (
        (place, first if first is not NOTHING else second)
        for place, (first, second) in enumerate(zip(entries["id"], entries["id2"], strict=True))
        if first is not NOTHING or second is not NOTHING
    )
    phases, categories = entries["ph"], entries["cat"]
    kept = [
        (place, bytes(raw))
        for place, raw in either
        if phases[place] not in FLOW_PHASES or categories[place] not in REDUNDANT_FLOWS
    ]
    if kept:
        places = np.array([place for place, _ in kept], dtype=np.int64)
        yield ASYNC_ID, places, [raw for _, raw in kept]


def _nanoseconds(raws: Sequence[Raw]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Times from their texts as they stand in the file."""
    present = [raw for raw in raws if raw is not NOTHING]
    thousandths = _thousandths(present)
    if thousandths is not None:
        known = np.array([raw is not NOTHING for raw in raws], dtype=np.bool_)
        values = np.zeros(len(raws), dtype=np.int64)
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
        raise NotPlainError(content)
    return result


def _plain_text(value: int | str | None) -> str | None:
    return None if value is None else str(value)
