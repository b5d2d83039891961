"""UTF-16 and UTF-32, told by the first bytes, as UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NULS: Final[dict[tuple[bool, ...], str]] = {
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
}
"""Where NULs stand in the first four bytes: JSON begins with ASCII (RFC 4627, 3)."""
_JSON_STARTS: Final = b"{[ \t\r\n\0"
_DAMAGED: Final = "traceview.damaged"


def encoding_of(start: bytes) -> str | None:
    """UTF-16 or UTF-32, by their mark or by where the NULs stand; None for UTF-8."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    if not all(byte in _JSON_STARTS for byte in start[:2]):
        return None
    return _NULS.get(tuple(byte == 0 for byte in start[:4]))


def transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8; what a shell of Windows redirects into a file is UTF-16.

    What is no character becomes bytes that are no UTF-8, which whoever reads an entry counts.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors=_DAMAGED)
    for block in chain(blocks, [b""]):
        content = decoder.decode(block, final=not block).encode("utf-8", "surrogatepass")
        if content:
            yield content


def _half_a_pair(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udfff", error.end


codecs.register_error(_DAMAGED, _half_a_pair)
