"""Reading what is no plain JSON: one entry at a time, and nothing is lost without a count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from traceview.kineto.faults import Repairs
from traceview.kineto.mend import FIELD, Mended, mended
from traceview.kineto.values import Row, row
from traceview.kineto.window import Window

_ENTRY_END = re.compile(rb'\}\s*(?:(?:,\s*)?(?=\{\s*["}])|(?=\]\s*(?:[\]},]|\Z)))')
ENTRY_START = re.compile(rb'\{\s*"(?:ph|cat|pid|tid|ts)"\s*:')
"""An event begins: no recorder writes one of these keys first in any other object."""
_CLOSING = re.compile(rb"\s*\]")
_FIELD = re.compile(FIELD.encode())
_LONGEST_FIELD: Final = 1 << 6
_STRAY: Final = {b",": "stray_comma", b"[": "wrapped_list", b"}": "stray_bracket"}
_CANDIDATES: Final = 8
_LOOK: Final = 1 << 16
"""What is repaired is looked at with so much behind it, however the text came in blocks."""
_LONGEST_ENTRY: Final = 1 << 24


class EntryReader:
    """Reads single entries of the array of events, damaged ones too."""

    def __init__(self, window: Window, repairs: Repairs, first: int = 0) -> None:
        self._window = window
        self._repairs = repairs
        self._first = first
        self._depth = 1

    @property
    def open(self) -> bool:
        """The array, or a list within it that was read as part of it, has not ended yet."""
        return self._depth > 0

    def close(self) -> None:
        """Its bracket was read."""
        window = self._window
        self._depth -= 1
        while self.open and window.skip_space() == b"]":
            window.position += 1
            self._depth -= 1
        if self.open and window.skip_space() == b",":
            window.position += 1

    def read(self, rows: int) -> list[Row]:
        """Read on by one entry and what separates it: what became of it.

        `rows` is how many rows there are so far; the first of this array was told at its start.
        """
        window = self._window
        mark = window.skip_space()
        offset = window.offset
        if mark == b"]":
            window.position += 1
            if rows != self._first:
                self._repairs.add("stray_comma", offset)
            self.close()
            return []
        if mark in _STRAY and not self._closes_all(mark):
            window.position += 1
            self._repairs.add(_STRAY[mark], offset)
            self._depth += mark == b"["
            if mark == b"}":
                self._separate(lost=True)
            return []
        if mark in {b"", b"}"} or (mark == b'"' and self._is_key()):
            self._end(offset)
            return []
        dropped = self._repairs.dropped
        value = None if self._lacks_brace(mark) else window.value()
        found = self._well_formed(value) if value is not None else self._damaged()
        self._separate(lost=self._repairs.dropped > dropped)
        return found

    def _well_formed(self, value: bytes) -> list[Row]:
        window = self._window
        offset = window.offset
        window.position += len(value)
        if not value.startswith(b"{"):
            self._repairs.dropped += 1
            self._repairs.add("no_event", offset)
            self._repairs.no_event = self._repairs.no_event or value
            return []
        try:
            result = row(value)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            repair = mended(value)
            if repair is not None:
                return self._row(repair, offset)
            self._repairs.dropped += 1
            self._repairs.add("unreadable", offset)
            return []
        return [self._counted(result, offset)]

    def _row(self, repair: Mended, offset: int) -> list[Row]:
        try:
            result = row(repair.text)
        except (msgspec.DecodeError, RecursionError):
            self._repairs.dropped += 1
            self._repairs.add("no_event", offset)
            return []
        self._repairs.repaired += 1
        for kind in repair.kinds:
            self._repairs.add(kind, offset)
        return [self._counted(result, offset)]

    def _counted(self, result: Row, offset: int) -> Row:
        for kind in result.odd:
            self._repairs.add(kind, offset)
        return result

    def _damaged(self) -> list[Row]:
        """An entry whose end is not known: it ends where the next one could begin."""
        window, offset = self._window, self._window.offset
        ends = list(self._possible_ends())
        for end in ends:
            repair = self._mended(window.data[window.position : end])
            if repair is not None:
                window.position = end
                return self._row(repair, offset)
        self._repairs.dropped += 1
        start = ENTRY_START.search(window.data, window.position + 1)
        if start is not None:
            # Another entry follows, so a bracket before it was only the text of a string.
            ends = [end for end in ends[:1] if not _CLOSING.match(window.data, end)]
        stops = [*ends[:1], *([start.start()] if start else [])]
        self._repairs.add("unreadable" if stops or not window.final else "cut_end", offset)
        window.position = min(stops, default=len(window.data))
        return []

    def _mended(self, text: bytes) -> Mended | None:
        if not self._lacks_brace(text[:1]):
            return mended(text)
        repair = mended(b"{" + text)
        return repair and Mended(repair.text, ("missing_brace", *repair.kinds))

    def _lacks_brace(self, mark: bytes) -> bool:
        """At the position stands a key of an entry, and not one of what is around the array."""
        window = self._window
        if mark != b'"':
            return False
        window.look_ahead(_LONGEST_FIELD)
        return _FIELD.match(window.data, window.position) is not None

    def _possible_ends(self) -> Iterator[int]:
        """Where the entry at the window's position may end, nearest first."""
        window = self._window
        window.look_ahead(_LOOK)
        while _ENTRY_END.search(window.data, window.position) is None:
            if not window.look_ahead(2 * window.left) or window.left > _LONGEST_ENTRY:
                break
        begin = window.position
        for match in islice(_ENTRY_END.finditer(window.data, begin), _CANDIDATES):
            # An entry may hold what looks like an end, but never another entry.
            if ENTRY_START.search(window.data, begin + 1, match.start()):
                return
            yield match.start() + 1
        if window.final and window.data.rstrip().endswith(b"}"):
            yield len(window.data.rstrip())

    def _separate(self, *, lost: bool) -> None:
        """Read what stands between an entry and the next one.

        Where the entry is `lost` nobody knows whether its comma was.
        """
        window = self._window
        mark = window.skip_space()
        if mark == b"]":
            window.position += 1
            self.close()
        elif mark == b",":
            window.position += 1
        elif mark == b"" or self._closes_all(mark):
            self._end(window.offset)
        elif mark != b"}" and not lost:
            self._repairs.add("missing_comma", window.offset)

    def _end(self, offset: int) -> None:
        """The text ends, and with it all that is open."""
        self._depth = 0
        if "cut_end" not in self._repairs.offsets:
            self._repairs.add("unclosed", offset)

    def _closes_all(self, mark: bytes) -> bool:
        """The text ends with the bracket at the position: that of the array is missing."""
        window = self._window
        while mark == b"}" and not window.data[window.position + 1 :].strip():
            if window.final or not window.more():
                return True
        return False

    def _is_key(self) -> bool:
        """A property follows: the bracket of the array is missing."""
        window = self._window
        value = None if self._lacks_brace(b'"') else window.value()
        return value is not None and window.behind(value) == b":"
