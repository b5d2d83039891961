"""The decoder that needs no compiler: msgspec in pieces of some megabytes, then columns.

It accepts only entries of the common types and leaves every other one to `values.row`, as the
native scan does; the two are held equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from traceview.kineto.arguments import Arguments, SomeIntegers, SomeTexts
from traceview.kineto.columns import ASYNC_ID, SparseInts, SparseTexts, Texts
from traceview.kineto.entries import Columns, Stop
from traceview.kineto.fields import NOTHING, Fields, Values
from traceview.kineto.packing import packed
from traceview.kineto.values import FLOW_PHASES, REDUNDANT_FLOWS, UNSIGNED, Raw, text

_LARGEST_PIECE: Final = 1 << 20
_CUT = re.compile(rb'\}\s*,\s*(?=\{\s*")')
"""Between two entries; never inside a valid JSON string, for its quote would have to be escaped."""


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
        return packed(map(self.__getitem__, keys), len(keys), np.int32)

    def of(self, texts: Iterable[str]) -> list[int]:
        """The codes of those of `texts` that have one."""
        return [self._code_of[content] for content in texts if content in self._code_of]

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


class _Sparse:
    """What only some rows have: these rows, and their values."""

    def __init__(self, dtype: Any) -> None:
        self.rows = _Column(np.int64)
        self.values = _Column(dtype)

    def add(self, first_row: int, parts: Sequence[SomeIntegers]) -> None:
        """Add values of places behind `first_row`, each part by ascending place."""
        places, values = _in_order(parts)
        self.rows.add(places + first_row)
        self.values.add(values)


class PythonDecoder:
    """Takes entries off a text into columns; see `entries.Decoder`."""

    name = "python"

    def __init__(self) -> None:
        self._rows = 0
        self._piece = _LARGEST_PIECE
        self._codes = {key: _Codes(_plain_text) for key in ("ph", "name", "cat", "pid", "tid")}
        self._coded = {key: _Column(np.int32) for key in self._codes}
        self._times = {"ts": _Times(), "dur": _Times()}
        self._fields = Fields()
        self._arguments = Arguments()
        self._integers: dict[str, _Sparse] = {}
        self._texts: dict[str, _Sparse] = {}
        self._dictionaries: dict[str, _Codes] = {}

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
            content = b"".join((b"[", piece, b"]"))
            if not content.isascii():
                content.decode()  # msgspec does not look at the strings that it passes over
            entries, times = self._fields.decoded(content)
            coded = {key: codes.encoded(entries[key]) for key, codes in self._codes.items()}
            integers, texts = self._arguments.decoded(entries["args"], coded["cat"])
            texts |= self._identities(entries, coded)
            coded_texts = {name: self._encoded(name, parts) for name, parts in texts.items()}
        except (msgspec.DecodeError, ValueError):
            return False
        for key, codes in coded.items():
            self._coded[key].add(codes)
        for key, (values, known) in times.items():
            self._times[key].add(values, known)
        for name, numbers in integers.items():
            dtype = np.uint64 if name in UNSIGNED else np.int64
            self._integers.setdefault(name, _Sparse(dtype)).add(self._rows, numbers)
        for name, found in coded_texts.items():
            self._texts.setdefault(name, _Sparse(np.int32)).add(self._rows, found)
        self._rows += len(entries["ph"])
        return True

    def _identities(
        self, entries: Values, coded: Mapping[str, NDArray[np.int32]]
    ) -> dict[str, list[SomeTexts]]:
        """The `id` of the entries that keep it, as the text argument it is kept as."""
        first, second = entries["id"], entries["id2"]
        if first.count(NOTHING) == second.count(NOTHING) == len(first):
            return {}
        flow = np.isin(coded["ph"], self._codes["ph"].of(FLOW_PHASES))
        redundant = flow & np.isin(coded["cat"], self._codes["cat"].of(REDUNDANT_FLOWS))
        places = np.flatnonzero(~redundant)
        return {ASYNC_ID: [(places, [first[row] or second[row] for row in places.tolist()])]}

    def _encoded(self, name: str, parts: Sequence[SomeTexts]) -> list[SomeIntegers]:
        dictionary = self._dictionaries.setdefault(name, _Codes(text))
        result = []
        for places, raws in parts:
            codes = dictionary.encoded(_contents(raws))
            present = codes >= 0
            result.append((places[present], codes[present]))
        return result

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
        texts = {
            name: SparseTexts(
                column.rows.whole(), self._dictionaries[name].texts(column.values.whole())
            )
            for name, column in self._texts.items()
        }
        starts, durations = self._times["ts"], self._times["dur"]
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
            integers={
                name: SparseInts(column.rows.whole(), column.values.whole())
                for name, column in self._integers.items()
            },
            texts={name: column for name, column in texts.items() if column.rows.size},
        )


def _plain_text(value: int | str | None) -> str | None:
    return None if value is None else str(value)


def _contents(raws: Sequence[Raw]) -> list[bytes]:
    """The bytes of each text; taking them one by one takes four times as long."""
    contents = b"\0".join(raws).split(b"\0")
    return contents if len(contents) == len(raws) else [bytes(raw) for raw in raws]


def _in_order(parts: Sequence[SomeIntegers]) -> SomeIntegers:
    """The parts of several categories as one, by ascending place."""
    if len(parts) == 1:
        return parts[0]
    places = np.concatenate([part for part, _ in parts])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([values for _, values in parts])[order]
