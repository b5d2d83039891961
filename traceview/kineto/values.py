"""What one entry of traceEvents says: the definition that every decoder is held equal to.

An entry that is well-formed JSON becomes a Row whatever the types of its values. The fast decoders
read the common types themselves and may leave any other entry to this module, so that an entry has
the same meaning on each path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Final

import msgspec

from traceview.kineto.columns import ALIASES, ASYNC_ID, INTEGER_ARGUMENTS, TEXT_ARGUMENTS

Raw = msgspec.Raw
INT64: Final = range(-(2**63), 2**63)
UINT64: Final = range(2**64)
UNSIGNED: Final = frozenset({"Addr"})
"""Integer arguments that are addresses."""
FLOW_PHASES: Final = frozenset("stf")
REDUNDANT_FLOWS: Final = frozenset(
    {"ac2g", "fwdbwd", "async", "async_gpu", "async_cpu_to_gpu", "forward_backward"}
)
"""Categories of flow events whose `id` repeats what their ends say (format notes, 2.3, 3.1)."""

INTEGER_KEYS: Final = {name: name for name in INTEGER_ARGUMENTS} | {
    alias: name for alias, name in ALIASES.items() if name in INTEGER_ARGUMENTS
}
"""The integer argument that each key of `args` stands for."""
TEXT_KEYS: Final = {name: name for name in TEXT_ARGUMENTS} | {
    alias: name for alias, name in ALIASES.items() if name in TEXT_ARGUMENTS
}
"""The text argument that each key of `args` stands for."""

_PLAIN_NUMBER = re.compile(r"(-?)(\d{1,18})(?:\.(\d{1,3}))?")
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_LONGEST_INTEGER: Final = 40
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_TEXT = msgspec.json.Decoder(str)
_MISSING = frozenset({b"", b"null"})


@dataclass(slots=True)
class Row:
    """One entry. `odd` names the conversions that a reader of the figures should know of."""

    phase: str | None = None
    name: str | None = None
    category: str | None = None
    process: str | None = None
    thread: str | None = None
    start_ns: int | None = None
    duration_ns: int | None = None
    integers: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)


def row(entry: bytes) -> Row:
    """The Row of an entry that is a JSON object; msgspec.DecodeError when it is not one."""
    fields = _raw(_OBJECT.decode(entry))
    result = Row(
        phase=text(fields.get("ph", b"")),
        name=text(fields.get("name", b"")),
        category=text(fields.get("cat", b"")),
    )
    result.process = _identity(fields.get("pid", b""), result.odd)
    result.thread = _identity(fields.get("tid", b""), result.odd)
    result.start_ns = _time(fields.get("ts", b""), result.odd)
    result.duration_ns = _time(fields.get("dur", b""), result.odd)
    identity = text(fields.get("id", fields.get("id2", b"")))
    redundant = result.phase in FLOW_PHASES and result.category in REDUNDANT_FLOWS
    if identity is not None and not redundant:
        result.texts[ASYNC_ID] = identity
    arguments = fields.get("args", b"")
    if arguments.startswith(b"{"):
        _arguments(_raw(_OBJECT.decode(arguments)), result)
    return result


def _raw(fields: Mapping[str, Raw]) -> dict[str, bytes]:
    return {key: bytes(value) for key, value in fields.items()}


def _arguments(fields: Mapping[str, bytes], result: Row) -> None:
    """Add the arguments that are kept. A present name comes before an older one."""
    for key, value in fields.items():
        if (name := INTEGER_KEYS.get(key)) is not None:
            if key == name or fields.get(name, b"") in _MISSING:
                number = integer(value, unsigned=name in UNSIGNED, odd=result.odd)
                if number is not None:
                    result.integers[name] = number
        elif (
            (name := TEXT_KEYS.get(key)) is not None
            and (key == name or fields.get(name, b"") in _MISSING)
            and (content := text(value)) is not None
        ):
            result.texts[name] = content


def text(value: bytes) -> str | None:
    """A JSON string's content; any other value's JSON text; None for null and for nothing."""
    if value in _MISSING:
        return None
    return _TEXT.decode(value) if value.startswith(b'"') else value.decode()


def integer(value: bytes, *, unsigned: bool, odd: list[str]) -> int | None:
    """A number, or a string of digits, as an integer; None where it is no integer."""
    content = text(value)
    if content is None:
        return None
    if len(content) > _LONGEST_INTEGER and _INTEGER.fullmatch(content):
        odd.append("integer_too_large")
        return None
    number = integer_text(content)
    if number is None:
        if value.startswith(b'"') or (fraction := _decimal(content)) is None:
            return None
        odd.append("float_for_integer")
        if fraction != fraction.to_integral_value():
            return None
        number = int(fraction)
    if number in (UINT64 if unsigned else INT64):
        return number
    odd.append("integer_too_large")
    return None


def integer_text(content: str) -> int | None:
    """The integer that a text of digits stands for; None for any other text."""
    if len(content) > _LONGEST_INTEGER or not _INTEGER.fullmatch(content):
        return None
    return int(content)


def nanoseconds(content: str) -> int | None:
    """Microseconds as a decimal text, in ns, rounded half to even below one; None if no number."""
    plain = _PLAIN_NUMBER.fullmatch(content)
    if plain is not None:
        sign, whole, fraction = plain.groups()
        magnitude = int(whole) * 1000 + int((fraction or "").ljust(3, "0"))
        return -magnitude if sign else magnitude
    number = _decimal(content)
    if number is None:
        return None
    return int((number * 1000).to_integral_value(ROUND_HALF_EVEN))


def _time(value: bytes, odd: list[str]) -> int | None:
    content = text(value)
    if content is None:
        return None
    result = nanoseconds(content)
    if result is None or result not in INT64:
        odd.append("impossible_time")
        return None
    return result


def _identity(value: bytes, odd: list[str]) -> str | None:
    """A process or thread: numbers and strings of the same text are the same one."""
    content = text(value)
    if content is None or value.startswith(b'"'):
        return content
    if _INTEGER.fullmatch(content):
        return "0" if content == "-0" else content
    number = _decimal(content)
    if number is not None and number == number.to_integral_value():
        odd.append("float_for_integer")
        return str(int(number))
    return content


def _decimal(content: str) -> Decimal | None:
    try:
        number = Decimal(content)
    except InvalidOperation:
        return None
    sized = number.is_finite() and number.adjusted() < _LONGEST_INTEGER
    return number if sized else None
