"""The fields of many entries at once.

A phase, category, process or thread is one of a few values. A type of just the values seen so far
makes no new objects, and those that it yields have their hash at hand; a value that it does not
know makes it grow, and gives way to the plain type when there are too many of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from traceview.kineto.packing import transposed
from traceview.kineto.times import InexactError, Times, of_floats, of_texts
from traceview.kineto.values import INT64, Raw

Values = dict[str, tuple[Any, ...]]
"""The values of each key, one an entry."""
NOTHING: Final = Raw(b"")
_MOST_VALUES: Final = 256
_Scalar = int | str | None
_PLAIN: Final[dict[str, tuple[Any, Any]]] = {
    "ph": (str | None, None),
    "cat": (str | None, None),
    "name": (str | None, None),
    "pid": (_Scalar, None),
    "tid": (_Scalar, None),
    "ts": (Raw, NOTHING),
    "dur": (Raw, NOTHING),
    "args": (Raw, NOTHING),
    "id": (Raw, NOTHING),
    "id2": (Raw, NOTHING),
}
"""The type and the default of each field, in the order in which PyTorch writes them."""
KIND: Final = ("ph", "cat", "pid", "tid")
"""The fields that make the kind of an entry: a file has few of their combinations."""


class Fields:
    """Decodes lists of entries; each teaches it what the next one will be like."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[Any, None]] = {name: {None: None} for name in KIND}
        self._float_durations = True
        self._plain = _decoder(_PLAIN)
        self._expecting = self._expected()

    def decoded(self, text: bytes) -> tuple[Values, dict[str, Times]]:
        """The fields, and the times, of all entries.

        Raises NotPlainError or msgspec.DecodeError where a value is not of the common type.
        """
        try:
            values = _columns(self._expecting.decode(text))
            times = self._times(values)
        except (msgspec.ValidationError, InexactError):
            values = _columns(self._plain.decode(text))
            times = {key: of_texts(values[key]) for key in ("ts", "dur")}
            self._learn(values)
        return values, times

    def _times(self, values: Values) -> dict[str, Times]:
        durations = of_floats if self._float_durations else of_texts
        return {"ts": of_texts(values["ts"]), "dur": durations(values["dur"])}

    def _learn(self, values: Values) -> None:
        """Expect what was not expected; if it was no value, then durations are no plain numbers."""
        before = self._sizes()
        for name in before:
            self._seen[name] |= dict.fromkeys(values[name])
            if len(self._seen[name]) > _MOST_VALUES or not _can_be_expected(self._seen[name]):
                del self._seen[name]
        if before == self._sizes():
            self._float_durations = False
        self._expecting = self._expected()

    def _sizes(self) -> dict[str, int]:
        return {name: len(seen) for name, seen in self._seen.items()}

    def _expected(self) -> msgspec.json.Decoder[Any]:
        fields = _PLAIN | {name: (_one_of(seen), None) for name, seen in self._seen.items()}
        if self._float_durations:
            fields["dur"] = (float, math.nan)
        return _decoder(fields)


def _can_be_expected(values: Iterable[int | str | None]) -> bool:
    """Msgspec has no literals of larger integers."""
    return all(not isinstance(value, int) or value in INT64 for value in values)


def _one_of(values: Iterable[Any]) -> Any:
    literal: Any = Literal
    return literal[tuple(values)]


def _decoder(fields: dict[str, tuple[Any, Any]]) -> msgspec.json.Decoder[Any]:
    members = [(name, kind, default) for name, (kind, default) in fields.items()]
    entry = msgspec.defstruct("Entry", members, gc=False)
    return msgspec.json.Decoder(list[entry])  # type: ignore[valid-type]


def _columns(entries: Sequence[msgspec.Struct]) -> Values:
    return dict(zip(_PLAIN, transposed(entries), strict=True))
