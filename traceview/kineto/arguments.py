"""The arguments of many entries at once, by category, as typed columns.

The entries of one category have mostly the same keys. A struct of exactly the keys seen so far is
decoded several times faster than a dictionary; a key it does not know makes it grow, so that none
is ever passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from traceview.kineto.values import INTEGER_KEYS, TEXT_KEYS, UNSIGNED, integer_text

Raw = msgspec.Raw
Values = dict[str, tuple[Any, ...]]
"""The values of each key, one an entry."""
NOTHING: Final = Raw(b"")
_MOST_KEYS: Final = 200
"""A category of more keys than these has made-up ones; only those that are kept are decoded."""
_LONGEST_INTEGER: Final = 18
_KEYS: Final = msgspec.json.Decoder(list[dict[str, Raw]])
_Scalar = int | str | None


class NotPlainError(ValueError):
    """A value is not of the common type; `values.row` reads it."""


@dataclass(slots=True)
class Found:
    """The arguments of a piece: for each its name, the places that have it, and its values."""

    integers: list[tuple[str, NDArray[np.int64], NDArray[Any]]] = field(default_factory=list)
    texts: list[tuple[str, NDArray[np.int64], list[bytes]]] = field(default_factory=list)


class Arguments:
    """Decodes the `args` of entries; it learns the keys of each category from what it reads."""

    def __init__(self) -> None:
        self._shapes: dict[int, _Shape] = {}

    def decoded(self, raws: Sequence[Raw], categories: NDArray[np.int32]) -> Found:
        """All arguments that are kept, of entries whose categories have these codes.

        Raises NotPlainError or msgspec.DecodeError where a value is not of the common type.
        """
        having = np.array([raw is not NOTHING for raw in raws], dtype=np.bool_)
        integers: dict[str, list[tuple[NDArray[np.int64], NDArray[Any]]]] = {}
        texts: dict[str, list[tuple[NDArray[np.int64], list[bytes]]]] = {}
        for category in np.unique(categories[having]).tolist():
            places = np.flatnonzero(having & (categories == category))
            shape = self._shapes.setdefault(category, _Shape())
            values = shape.decoded([raws[place] for place in places.tolist()])
            for name, within, numbers in _integers(values):
                integers.setdefault(name, []).append((places[within], numbers))
            for name, within, contents in _texts(values):
                texts.setdefault(name, []).append((places[within], contents))
        return Found(
            [(name, *_in_order(parts)) for name, parts in integers.items()],
            [(name, *_texts_in_order(parts)) for name, parts in texts.items()],
        )


class _Shape:
    """The keys that the arguments of one category are known to have."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._decoder = _decoder(self._keys)

    def decoded(self, raws: Sequence[Raw]) -> Values:
        """The values of each kept key."""
        joined = b"".join([b"[", b",".join(raws), b"]"])
        try:
            found = self._decoder.decode(joined)
        except msgspec.ValidationError:
            for arguments in _KEYS.decode(joined):
                self._keys |= dict.fromkeys(arguments)
            self._decoder = _decoder(self._keys)
            found = self._decoder.decode(joined)
        columns = zip(*map(msgspec.structs.astuple, found), strict=True)
        return dict(zip(self._fields(), columns, strict=False))

    def _fields(self) -> Sequence[str]:
        return list(self._keys) if len(self._keys) <= _MOST_KEYS else _KEPT


_KEPT: Final = (*INTEGER_KEYS, *TEXT_KEYS)


def _decoder(keys: dict[str, None]) -> msgspec.json.Decoder[Any]:
    closed = len(keys) <= _MOST_KEYS
    names = {f"field{number}": key for number, key in enumerate(keys if closed else _KEPT)}
    struct = msgspec.defstruct(
        "Arguments",
        [
            (name, _Scalar, None) if key in INTEGER_KEYS else (name, Raw, NOTHING)
            for name, key in names.items()
        ],
        rename=names,
        forbid_unknown_fields=closed,
        gc=False,
    )
    return msgspec.json.Decoder(list[struct])  # type: ignore[valid-type]


def _grouped(keys: dict[str, str]) -> dict[str, list[str]]:
    """The keys that stand for each argument, its present name first."""
    result: dict[str, list[str]] = {}
    for key, name in keys.items():
        result.setdefault(name, []).insert(0 if key == name else len(result[name]), key)
    return result


_KEYS_OF_INTEGERS: Final = _grouped(INTEGER_KEYS)
_KEYS_OF_TEXTS: Final = _grouped(TEXT_KEYS)


def _column(values: Values, keys: Sequence[str], missing: Any) -> Sequence[Any]:
    """One argument of all entries; an older name counts where the present one is missing."""
    found = [values[key] for key in keys if key in values]
    if len(found) < 2:  # noqa: PLR2004 - nothing to choose from
        return found[0] if found else ()
    return [
        next((value for value in several if value is not missing), missing)
        for several in zip(*found, strict=True)
    ]


def _integers(values: Values) -> Iterator[tuple[str, NDArray[np.int64], NDArray[Any]]]:
    for name, keys in _KEYS_OF_INTEGERS.items():
        column = _column(values, keys, None)
        if not column:
            continue
        kinds = set(map(type, column))
        if str in kinds:
            column = [_number(value) for value in column]
        if kinds == {int}:
            within = np.arange(len(column))
        else:
            within = np.flatnonzero(np.array([value is not None for value in column]))
            column = [value for value in column if value is not None]
        dtype = np.uint64 if name in UNSIGNED else np.int64
        if column:
            yield name, within, np.array(column, dtype=dtype)


def _number(value: _Scalar) -> int | None:
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_INTEGER:
        raise NotPlainError(value)
    return integer_text(value)


def _texts(values: Values) -> Iterator[tuple[str, NDArray[np.int64], list[bytes]]]:
    for name, keys in _KEYS_OF_TEXTS.items():
        column = _column(values, keys, NOTHING)
        contents = [bytes(raw) for raw in column if raw is not NOTHING]
        if contents:
            present = np.array([raw is not NOTHING for raw in column], dtype=np.bool_)
            yield name, np.flatnonzero(present), contents


def _in_order(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[Any]]],
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The parts of several categories as one, by ascending place."""
    if len(parts) == 1:
        return parts[0]
    places = np.concatenate([part for part, _ in parts])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([values for _, values in parts])[order]


def _texts_in_order(
    parts: Sequence[tuple[NDArray[np.int64], list[bytes]]],
) -> tuple[NDArray[np.int64], list[bytes]]:
    if len(parts) == 1:
        return parts[0]
    places = np.concatenate([part for part, _ in parts])
    contents = [content for _, part in parts for content in part]
    order = np.argsort(places, kind="stable")
    return places[order], [contents[place] for place in order.tolist()]
