"""What was repaired or left out while a text was read, counted by kind, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from traceview.trace import Note

_SHOWN: Final = 3


@dataclass(slots=True)
class Repairs:
    """What was repaired or skipped, by kind, with byte offsets of the text."""

    offsets: dict[str, list[int]] = field(default_factory=dict)
    count: int = 0
    dropped: int = 0
    repaired: int = 0
    no_event: bytes = b""
    """The first entry that was no object."""

    def add(self, kind: str, offset: int) -> None:
        """Count one fault."""
        self.count += 1
        self.offsets.setdefault(kind, []).append(offset)

    def notes(self) -> tuple[Note, ...]:
        """One note a kind, with the places of the first ones."""
        return tuple(
            Note(kind, f"{_MEANING[kind]}, at byte {_places(offsets)}", len(offsets))
            for kind, offsets in self.offsets.items()
        )


_MEANING: Final = {
    "bad_escape": "a backslash that escapes nothing was read as a backslash",
    "bare_word": "a bare N/A, nan, inf or the like was read as missing",
    "control_character": "a raw control character within a string was kept",
    "cut_end": "the text ends inside an entry, which was dropped",
    "events_twice": "a second traceEvents was read as part of the first",
    "float_for_integer": "an integer was written as a float",
    "impossible_time": "a time that is no number, or beyond 292 years, was read as missing",
    "integer_too_large": "an integer beyond 64 bits was read as missing",
    "invalid_utf8": "bytes that are no UTF-8 were replaced by U+FFFD",
    "lone_surrogate": "half of a surrogate pair was replaced by U+FFFD",
    "malformed_number": "a number was not written as JSON has it",
    "metadata": "a property beside the events was not well-formed",
    "metadata_lost": "a property beside the events is beyond repair and was dropped",
    "missing_brace": "the opening brace of an entry was missing",
    "missing_comma": "a comma was missing",
    "missing_quote": "a quote was missing",
    "no_event": "an entry that is no object was dropped",
    "property_twice": "a property beside the events was written again, and the last one counts",
    "stray_bracket": "a closing bracket too many was passed over",
    "stray_comma": "a comma too many was passed over",
    "unclosed": "the array of events is not closed",
    "unclosed_object": "the text ends before the last brace of the trace",
    "unescaped_quote": "a quote within a string was not escaped",
    "unreadable": "an entry beyond repair was dropped",
    "wrapped_list": "a list of events within the list of events was read as part of it",
}
"""The kinds of faults (format notes, 6)."""


def _places(offsets: list[int]) -> str:
    shown = ", ".join(f"{offset:,}" for offset in offsets[:_SHOWN])
    return f"{shown}, ..." if len(offsets) > _SHOWN else shown
