"""The decoder that needs no compiler: msgspec in pieces of some megabytes, then columns.

It accepts only entries of the common types and leaves every other one to `values.row`, as the
native scan does; the two are held equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from traceview.kineto.arguments import Arguments, SomeIntegers, SomeTexts
from traceview.kineto.columns import ASYNC_ID, SparseInts, SparseTexts
from traceview.kineto.entries import Columns, Stop
from traceview.kineto.fields import KIND, NOTHING, Fields, Values
from traceview.kineto.growing import Codes, Column, GrowingTimes, Kinds, Sparse, plain_text
from traceview.kineto.values import UNSIGNED, Raw, text

_LARGEST_PIECE: Final = 1 << 20
_CUT = re.compile(rb'\}[ \t\r\n]*,[ \t\r\n]*(?=\{[ \t\r\n]*")')
"""Between two entries. Within an argument, or at the very end of a string, it may stand as well:
what is before it is no list of entries then, and is not taken.
"""


class PythonDecoder:
    """Takes entries off a text into columns; see `entries.Decoder`."""

    name = "python"

    def __init__(self) -> None:
        self._rows = 0
        self._piece = _LARGEST_PIECE
        self._kinds, self._kind = Kinds(), Column(np.int32)
        self._names, self._name = Codes(plain_text), Column(np.int32)
        self._times = {"ts": GrowingTimes(), "dur": GrowingTimes()}
        self._fields = Fields()
        self._arguments = Arguments()
        self._integers: dict[str, Sparse] = {}
        self._texts: dict[str, Sparse] = {}
        self._dictionaries: dict[str, Codes] = {}

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
            names = self._names.encoded(entries["name"])
            kinds = self._kinds.encoded([entries[field] for field in KIND])
            categories = self._kinds.categories(kinds)
            integers, texts = self._arguments.decoded(entries["args"], categories)
            texts |= _identities(entries, self._kinds.redundant(kinds))
            coded_texts = {name: self._encoded(name, parts) for name, parts in texts.items()}
        except (msgspec.DecodeError, ValueError, RecursionError):
            return False
        self._kind.add(kinds)
        self._name.add(names)
        for key, (values, known) in times.items():
            self._times[key].add(values, known)
        for name, numbers in integers.items():
            dtype = np.uint64 if name in UNSIGNED else np.int64
            self._integers.setdefault(name, Sparse(dtype)).add(self._rows, numbers)
        for name, found in coded_texts.items():
            self._texts.setdefault(name, Sparse(np.int32)).add(self._rows, found)
        self._rows += len(entries["ph"])
        return True

    def _encoded(self, name: str, parts: Sequence[SomeTexts]) -> list[SomeIntegers]:
        dictionary = self._dictionaries.setdefault(name, Codes(text))
        result = []
        for places, raws in parts:
            codes = dictionary.encoded(_contents(raws))
            present = codes >= 0
            result.append((places[present], codes[present]))
        return result

    def reserve(self) -> int:
        """An empty place for an entry that is read elsewhere."""
        self._kind.add(self._kinds.encoded([[None] for _ in KIND]))
        self._name.add(self._names.encoded([None]))
        for times in self._times.values():
            times.add(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_))
        self._rows += 1
        return self._rows - 1

    def finish(self) -> Columns:
        """All that was taken."""
        kinds = self._kind.whole()
        dense = {field: self._kinds.texts(field, kinds) for field in KIND}
        texts = {
            name: SparseTexts(
                column.rows.whole(), self._dictionaries[name].texts(column.values.whole())
            )
            for name, column in self._texts.items()
        }
        starts, durations = self._times["ts"], self._times["dur"]
        return Columns(
            phase=dense["ph"],
            name=self._names.texts(self._name.whole()),
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


def _identities(entries: Values, redundant: NDArray[np.bool_]) -> dict[str, list[SomeTexts]]:
    """The `id` of the entries that keep it, as the text argument it is kept as."""
    first, second = entries["id"], entries["id2"]
    if first.count(NOTHING) == second.count(NOTHING) == len(first):
        return {}
    places = np.flatnonzero(~redundant)
    return {ASYNC_ID: [(places, [first[row] or second[row] for row in places.tolist()])]}


def _contents(raws: Sequence[Raw]) -> list[bytes]:
    """The bytes of each text; taking them one by one takes four times as long."""
    contents = b"\0".join(raws).split(b"\0")
    return contents if len(contents) == len(raws) else [bytes(raw) for raw in raws]
