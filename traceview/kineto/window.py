"""Window: the part of a text that is in memory, and how to get more of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

_SPACE = re.compile(rb"[ \t\r\n\xef\xbb\xbf]*")
_DECODER: Final = json.JSONDecoder(strict=False)
_FIRST_LOOK: Final = 1 << 12
_LONGEST_WORD: Final = 16
_LIMIT: Final = 1 << 26
"""A single value longer than this is damage: its closing quote or bracket is missing."""
_SEAM: Final = 1 << 16
"""So much of a block is copied behind what is left of the one before; the rest stays in place.

An entry is nearly always shorter, so that a text is read without a copy of all of it.
"""


class Window:
    """`data[position:]` is what has not been read yet; `final` when no more will come."""

    def __init__(self, blocks: Iterator[bytes], begin: int = 0) -> None:
        self._blocks = blocks
        self._block = b""
        self._base = begin
        self.data = b""
        self.position = 0
        self.final = False

    @property
    def offset(self) -> int:
        """Where `position` is in the whole text, in bytes."""
        return self._base + self.position

    def more(self) -> bool:
        """Forget what was read and get at least as much again as is left; False at the end."""
        left = self.left
        if self._block and left <= _SEAM:
            self._enter_block(left)
            return True
        parts = [self.data[self.position :], self._block[_SEAM:]]
        self._block = b""
        wanted = max(left, 1) - len(parts[1])
        while wanted > 0 and not self.final:
            block = next(self._blocks, None)
            if block is None:
                self.final = True
            elif left <= _SEAM and len(block) >= 2 * _SEAM:
                self._block = block
                parts.append(block[:_SEAM])
                break
            else:
                parts.append(block)
                wanted -= len(block)
        self._base += self.position
        self.position = 0
        self.data = b"".join(parts)
        return len(self.data) > left

    def _enter_block(self, left: int) -> None:
        """Go on in the block whose start is the end of `data`, now that no more is left of that."""
        self._base += len(self.data) - _SEAM
        self.data, self._block = self._block, b""
        self.position = _SEAM - left

    def drain(self) -> int:
        """Pass over all that was not read; how many bytes that are."""
        begin = self.offset
        self.position = len(self.data)
        while self.more():
            self.position = len(self.data)
        return self.offset - begin

    @property
    def left(self) -> int:
        """How many bytes in memory have not been read yet."""
        return len(self.data) - self.position

    def look_ahead(self, size: int) -> bool:
        """Have at least `size` unread bytes in memory; False when there are fewer."""
        while self.left < size and not self.final:
            self.more()
        return self.left >= size

    def skip_space(self) -> bytes:
        """Go to the next byte that is no white space, and return it; b"" at the end."""
        while True:
            match = _SPACE.match(self.data, self.position)
            self.position = match.end() if match else self.position
            if self.position < len(self.data):
                return self.data[self.position : self.position + 1]
            if self.final or not self.more():
                return b""

    def behind(self, value: bytes) -> bytes:
        """The first byte behind `value`, which is at `position`, that is no white space."""
        while True:
            match = _SPACE.match(self.data, self.position + len(value))
            if match and match.end() < len(self.data):
                return self.data[match.end() : match.end() + 1]
            if self.final or not self.more():
                return b""

    def value(self) -> bytes | None:
        """The JSON value at `position`, or None where the text is no JSON.

        Control characters, bad UTF-8 and the bare numbers NaN and Infinity pass.
        """
        size = _FIRST_LOOK
        while True:
            # Latin-1 maps each byte to one character, so that lengths stay those of the bytes.
            piece = self.data[self.position : self.position + size].decode("latin-1")
            whole = self.final and self.position + size >= len(self.data)
            try:
                _, end = _DECODER.raw_decode(piece)
            except json.JSONDecodeError as error:
                cut = len(piece) - error.pos <= _LONGEST_WORD or error.msg.startswith("Unterm")
                if whole or not cut or size > _LIMIT:
                    return None
            except (ValueError, RecursionError):
                return None
            else:
                # A number that reaches the end of the piece may go on behind it.
                if end < len(piece) or whole:
                    return self.data[self.position : self.position + end]
            size *= 2
            if self.position + size > len(self.data) and not self.final:
                self.more()
