"""Reading what is no plain JSON: one entry at a time, and nothing is lost without a count."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from traceview.kineto.values import Row, row
from traceview.kineto.window import Window
from traceview.trace import Note

_ENTRY_END = re.compile(rb'\}\s*(?:,?\s*(?=\{\s*["}])|(?=\]\s*(?:[\]},]|\Z)))')
_CANDIDATES = 8
_SHOWN = 3


@dataclass(slots=True)
class Repairs:
    """What was repaired or skipped, by kind, with byte offsets of the text."""

    offsets: dict[str, list[int]] = field(default_factory=dict)
    dropped: int = 0
    repaired: int = 0

    def add(self, kind: str, offset: int) -> None:
        """Count one fault."""
        self.offsets.setdefault(kind, []).append(offset)

    def notes(self) -> tuple[Note, ...]:
        """One note a kind, with the places of the first ones."""
        return tuple(
            Note(kind, f"{_MEANING.get(kind, kind)}, at byte {_places(offsets)}", len(offsets))
            for kind, offsets in self.offsets.items()
        )


_MEANING: dict[str, str] = {}


def _places(offsets: list[int]) -> str:
    shown = ", ".join(f"{offset:,}" for offset in offsets[:_SHOWN])
    return f"{shown}, ..." if len(offsets) > _SHOWN else shown


@dataclass(frozen=True, slots=True)
class Mended:
    """A text made well-formed, and the kinds of faults it had."""

    text: bytes
    kinds: tuple[str, ...]


def mended(text: bytes) -> Mended | None:
    """`text` as well-formed JSON, or None where that is beyond repair."""
    return None


class EntryReader:
    """Reads single entries of the array of events, damaged ones too."""

    def __init__(self, window: Window, repairs: Repairs) -> None:
        self._window = window
        self._repairs = repairs

    def read(self, *, first: bool) -> tuple[list[Row], bool]:
        """Read on by one entry and what separates it: its rows, and whether the array has ended.

        `first` tells that no entry of this array has been read yet.
        """
        window, offset = self._window, self._window.offset
        mark = window.skip_space()
        if mark in {b"", b"]", b"}"}:
            window.position += mark == b"]"
            if mark != b"]":
                self._repairs.add("unclosed", offset)
            elif not first:
                self._repairs.add("stray_comma", offset)
            return [], True
        if mark in {b",", b"["}:
            window.position += 1
            self._repairs.add("stray_comma" if mark == b"," else "wrapped_list", offset)
            return [], False
        value = window.value()
        rows = self._well_formed(value) if value is not None else self._damaged()
        return rows, self._separated()

    def _well_formed(self, value: bytes) -> list[Row]:
        window = self._window
        offset = window.offset
        window.position += len(value)
        if not value.startswith(b"{"):
            self._repairs.dropped += 1
            self._repairs.add("no_event", offset)
            return []
        try:
            result = row(value)
        except (msgspec.DecodeError, UnicodeDecodeError):
            repair = mended(value)
            if repair is None:
                self._repairs.dropped += 1
                self._repairs.add("unreadable", offset)
                return []
            result = self._repaired(repair, offset)
        for kind in result.odd:
            self._repairs.add(kind, offset)
        return [result]

    def _repaired(self, repair: Mended, offset: int) -> Row:
        self._repairs.repaired += 1
        for kind in repair.kinds:
            self._repairs.add(kind, offset)
        return row(repair.text)

    def _damaged(self) -> list[Row]:
        window = self._window
        offset = window.offset
        while True:
            match = _ENTRY_END.search(window.data, window.position)
            if match is not None or window.final:
                break
            window.more()
        self._repairs.dropped += 1
        if match is None:
            self._repairs.add("cut_end", offset)
            window.position = len(window.data)
        else:
            self._repairs.add("unreadable", offset)
            window.position = match.start() + 1
        return []

    def _separated(self) -> bool:
        window = self._window
        mark = window.skip_space()
        if mark in {b",", b"]"}:
            window.position += 1
            return mark == b"]"
        if mark in {b"", b"}"}:
            self._repairs.add("unclosed", window.offset)
            return True
        self._repairs.add("missing_comma", window.offset)
        return False
