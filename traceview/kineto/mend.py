"""Text that was meant to be JSON, made well-formed: what recorders are known to break (notes, 6).

A reader that knows where it is (in a key, a value, a list) writes the text anew. A quote ends a
string only where what follows can follow a string, so that unescaped quotes are told from real
ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

_SPACE = re.compile(r"[ \t\r\n]*")
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"(?=[ \t\r\n]*:)', re.DOTALL)
_BARE_KEY = re.compile(r'([A-Za-z_][\w ./-]*)"?(?=[ \t\r\n]*:)')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_BARE = re.compile(r'[^\s,}\]"{\[:]+')
_HALF_QUOTED = re.compile(r'[^",}\]{\[:\n]+"')
FIELD: Final = r'"(?:ph|cat|name|pid|tid|ts|dur|args)"\s*:'
"""A key that an event has, as a pattern."""
_ENDS: Final = {
    "object": re.compile(
        r'\s*(?:,[\s,]*(?:"(?:[^"\\]|\\.)*"|\w+"?)\s*:|(?:,\s*)?\}\s*(?:[,}\]]|\Z)|' + FIELD + ")",
        re.DOTALL,
    ),
    "list": re.compile(r'\s*(?:,\s*["\[{\dtfnN-]|(?:,\s*)?\]\s*(?:[,}\]]|\Z))'),
    "": re.compile(r"\s*\Z"),
}
"""What may follow the closing quote of a value within an object, within a list, and alone."""
_NEXT_PAIR = re.compile(r'\s*,\s*"[^"\\]*"\s*:')
_NEXT_FIELD = re.compile(r'"(?:ph|cat|pid|tid|ts|dur|args)"\s*:')
_BEFORE_FIELD = re.compile(r",\s*\Z")
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt]|)')
_LITERAL_SLASH = re.compile(r'\\(["\\]?)')
_PAIR_OR_HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\[^u]"
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_NO_NUMBER: Final = frozenset(
    {"nan", "-nan", "inf", "+inf", "-inf", "infinity", "-infinity", "n/a", "none", "undefined"}
)
_BOOLEANS: Final = {"True": "true", "False": "false"}
_HEXADECIMAL: Final = re.compile(r"-?0[xX][0-9a-fA-F]+")


class _BeyondRepairError(ValueError):
    """The text is no object, list or value, whatever one adds."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A text made well-formed, and the kinds of faults it had, each once."""

    text: bytes
    kinds: tuple[str, ...]


def mended(damaged: bytes) -> Mended | None:
    """`damaged` as one well-formed JSON value, or None where that is beyond repair."""
    kinds: dict[str, None] = {}
    try:
        text = damaged.decode()
    except UnicodeDecodeError:
        text = damaged.decode("utf-8", "replace")
        kinds["invalid_utf8"] = None
    mender = _Mender(text, kinds)
    try:
        mender.value("")
        mender.end()
    except (_BeyondRepairError, RecursionError):
        return None
    return Mended("".join(mender.written).encode(), tuple(kinds))


class _Mender:
    """Reads a text leniently from left to right and writes it well-formed."""

    def __init__(self, text: str, kinds: dict[str, None]) -> None:
        self._text = text
        self._at = 0
        self._kinds = kinds
        self.written: list[str] = []

    def value(self, context: str) -> None:
        """Read one value; `context` is what it stands in: "object", "list" or nothing."""
        mark = self._next()
        if mark == "{":
            self._members("}", "object")
        elif mark == "[":
            self._members("]", "list")
        elif mark == '"':
            self._string(context)
        else:
            self._bare(context)

    def end(self) -> None:
        """Nothing may be left."""
        if self._next():
            raise _BeyondRepairError

    def _next(self) -> str:
        """The next character that is no white space, which stays to be read; "" at the end."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _fault(self, kind: str) -> None:
        self._kinds[kind] = None

    def _members(self, close: str, context: str) -> None:
        """An object or a list: its members with exactly one comma between them."""
        self.written.append(self._text[self._at])
        self._at += 1
        empty, comma = True, False
        while (mark := self._next()) != close:
            if not mark:
                raise _BeyondRepairError
            if mark == ",":
                if empty or comma:
                    self._fault("stray_comma")
                comma = True
                self._at += 1
                continue
            if not empty:
                if not comma:
                    self._fault("missing_comma")
                self.written.append(",")
            if context == "object":
                self._key()
            self.value(context)
            empty, comma = False, False
        if comma:
            self._fault("stray_comma")
        self.written.append(close)
        self._at += 1

    def _key(self) -> None:
        match = _KEY.match(self._text, self._at)
        if match is None:
            match = _BARE_KEY.match(self._text, self._at)
            if match is None:
                raise _BeyondRepairError
            self._fault("missing_quote")
        self._at = match.end()
        self._next()
        self._at += 1
        self.written += ['"', self._content(match.group(1)), '":']

    def _string(self, context: str) -> None:
        begin = self._at + 1
        end, behind = self._string_end(begin, context)
        self._at = behind
        self.written += ['"', self._content(self._text[begin:end]), '"']

    def _string_end(self, begin: int, context: str) -> tuple[int, int]:
        """Where a string's content ends, and where the text behind its quote goes on."""
        text, fallback = self._text, -1
        quote = text.find('"', begin)
        while quote >= 0:
            escaped = _is_escaped(text, begin, quote)
            if _ENDS[context].match(text, quote + 1):
                if not escaped or (context == "object" and _NEXT_PAIR.match(text, quote + 1)):
                    return quote, quote + 1
                fallback = quote if fallback < 0 else fallback
            elif not escaped and _NEXT_FIELD.match(text, quote):
                field = _BEFORE_FIELD.search(text, begin, quote)
                if field is not None:
                    self._fault("missing_quote")
                    return field.start(), field.start()
            quote = text.find('"', quote + 1)
        if fallback < 0:
            raise _BeyondRepairError
        return fallback, fallback + 1

    def _content(self, content: str) -> str:
        """What stands between two quotes, well-formed."""
        if '"' in content:
            content = self._quotes_escaped(content)
        if "\\" in content:
            content = self._escapes_mended(content)
        if _CONTROL.search(content):
            self._fault("control_character")
            content = _CONTROL.sub(lambda c: f"\\u{ord(c.group()):04x}", content)
        return content

    def _quotes_escaped(self, content: str) -> str:
        pieces, start = [], 0
        for quote in (match.start() for match in re.finditer('"', content)):
            if not _is_escaped(content, 0, quote):
                self._fault("unescaped_quote")
                pieces += [content[start:quote], "\\"]
                start = quote
        return "".join([*pieces, content[start:]])

    def _escapes_mended(self, content: str) -> str:
        bad = any(not match.group(1) for match in _ESCAPE.finditer(content))
        if bad or _is_escaped(content, 0, len(content)):
            # Who wrote one backslash plainly wrote them all so: `\n` is a folder's name, too.
            self._fault("bad_escape")
            return _LITERAL_SLASH.sub(lambda m: m.group() if m.group(1) else r"\\", content)
        return _PAIR_OR_HALF.sub(self._whole_surrogate, content)

    def _whole_surrogate(self, match: re.Match[str]) -> str:
        if match["half"] is None:
            return match.group()
        self._fault("lone_surrogate")
        return r"\ufffd"

    def _bare(self, context: str) -> None:
        """A number, a word, or what is neither."""
        text, begin = self._text, self._at
        half = _HALF_QUOTED.match(text, begin)
        if half is not None and _ENDS[context].match(text, half.end()):
            self._fault("missing_quote")
            self._at = half.end()
            self.written += ['"', self._content(half.group()[:-1]), '"']
            return
        match = _BARE.match(text, begin)
        if match is None:
            raise _BeyondRepairError
        self._at = match.end()
        self.written.append(self._word(match.group()))

    def _word(self, word: str) -> str:
        if word in {"true", "false", "null"} or _NUMBER.fullmatch(word):
            return word
        if word.lower() in _NO_NUMBER:
            self._fault("bare_word")
            return "null"
        if word in _BOOLEANS:
            self._fault("bare_word")
            return _BOOLEANS[word]
        if _HEXADECIMAL.fullmatch(word):
            self._fault("malformed_number")
            return str(int(word, 16))
        try:
            number = Decimal(word)
        except InvalidOperation:
            self._fault("missing_quote")
            return f'"{self._content(word)}"'
        self._fault("malformed_number")
        return f"{number:f}" if number.is_finite() else "null"


def _is_escaped(text: str, begin: int, place: int) -> bool:
    """An odd number of backslashes stands before `place`."""
    slashes = place
    while slashes > begin and text[slashes - 1] == "\\":
        slashes -= 1
    return (place - slashes) % 2 == 1
