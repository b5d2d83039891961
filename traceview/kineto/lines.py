"""JSON Lines: events one behind the other, without the brackets of a list and its commas.

They are handed on as the list that they make, byte for byte as long as they were, so that the rest
of the reading knows one form only and every offset stays true.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from traceview.kineto.mend import mended
from traceview.kineto.repair import ENTRY_START
from traceview.trace import Note

BEFORE: Final = -1
"""Where a list begins whose opening bracket is not in the text."""
_LOOK: Final = 1 << 16
_LINE_END = re.compile(rb"(\}[ \t\r]*)\n(?=[ \t\r\n]*\{)")
_SPACE: Final = b" \t\r\n"
_DECODER: Final = json.JSONDecoder(strict=False)


def listed(blocks: Iterator[bytes], notes: list[Note]) -> tuple[Iterator[bytes], int]:
    """The text with brackets and commas where it is JSON Lines, and where it begins."""
    first = _at_least(blocks, _LOOK)
    blocks = chain([first], blocks) if first else blocks
    if not _is_entry(first[:_LOOK].lstrip(codecs.BOM_UTF8 + _SPACE)):
        return blocks, 0
    notes.append(Note("json_lines", "events one a line (JSON Lines), read as a list of them"))
    return chain([b"["], _with_commas(blocks), [b"]"]), BEFORE


def _at_least(blocks: Iterator[bytes], size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (block := next(blocks, b"")):
        parts.append(block)
        size -= len(block)
    return b"".join(parts)


def _is_entry(start: bytes) -> bool:
    """The text begins with an event and not with the object that holds all of them."""
    if ENTRY_START.match(start):
        return True
    line, _, more = start.partition(b"\n")
    repair = mended(line) if more and line.startswith(b"{") else None
    try:
        found, _ = _DECODER.raw_decode((repair.text if repair else start).decode("latin-1"))
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "ph" in found and "traceEvents" not in found


def _with_commas(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """A comma in place of each line's end; what may be the end of a line waits for what follows."""
    held = b""
    for block in blocks:
        text = _LINE_END.sub(rb"\1,", held + block)
        end = len(text.rstrip(_SPACE))
        held = text[end - 1 :] if text[:end].endswith(b"}") else b""
        yield text[: len(text) - len(held)]
    yield held
