"""The arguments of many entries at once, by category, as typed columns.

The entries of one category have mostly the same keys. A struct of exactly the keys seen so far is
decoded several times faster than a dictionary; a key it does not know makes it grow, so that none
is ever passed over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from traceview.kineto.fields import NOTHING
from traceview.kineto.packing import NotPlainError, packed, transposed
from traceview.kineto.values import INTEGER_KEYS, TEXT_KEYS, UNSIGNED, Raw, integer_text

_MOST_KEYS: Final = 200
"""A category of more keys than these has made-up ones; only those that are kept are decoded."""
_LONGEST_INTEGER: Final = 18
_KEYS: Final = msgspec.json.Decoder(list[dict[str, Raw]])
_KEPT: Final = (*INTEGER_KEYS, *TEXT_KEYS)

SomeIntegers = tuple[NDArray[np.int64], NDArray[Any]]
"""The places that have an argument, and its values."""
SomeTexts = tuple[NDArray[np.int64], Sequence[Raw]]
"""Places, and the texts there; those that are NOTHING are missing."""


class Arguments:
    """Decodes the `args` of entries; it learns the keys of each category from what it reads."""

    def __init__(self) -> None:
        self._shapes = defaultdict[int, _Shape](_Shape)

    def decoded(
        self, raws: Sequence[Raw], categories: NDArray[np.int32]
    ) -> tuple[dict[str, list[SomeIntegers]], dict[str, list[SomeTexts]]]:
        """All arguments that are kept, of entries whose categories have these codes.

        Raises NotPlainError or msgspec.DecodeError where a value is not of the common type.
        """
        integers: dict[str, list[SomeIntegers]] = {}
        texts: dict[str, list[SomeTexts]] = {}
        for category, places, group in _grouped(raws, categories):
            shape = self._shapes[category]
            shape.decode(group)
            for name, within, numbers in shape.integers():
                integers.setdefault(name, []).append((places[within], numbers))
            for name, contents in shape.texts():
                texts.setdefault(name, []).append((places, contents))
        return integers, texts


def _grouped(
    raws: Sequence[Raw], categories: NDArray[np.int32]
) -> Iterator[tuple[int, NDArray[np.int64], Sequence[Raw]]]:
    """The places and the arguments of the entries of each category that have any."""
    for category in np.flatnonzero(np.bincount(categories + 1)) - 1:
        places = np.flatnonzero(categories == category)
        group = [raws[place] for place in places.tolist()]
        missing = group.count(NOTHING)
        if missing:
            places = places[[raw is not NOTHING for raw in group]]
            group = [raw for raw in group if raw is not NOTHING]
        if group:
            yield int(category), places, group


class _Shape:
    """The keys that the arguments of one category are known to have, and the values read last."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._digits_in_texts = False
        self._expect()

    def _expect(self) -> None:
        closed = len(self._keys) <= _MOST_KEYS
        fields = tuple(self._keys) if closed else _KEPT
        self._decoder = _decoder(fields, closed=closed, lenient=self._digits_in_texts)
        self._integers = _sources(fields, INTEGER_KEYS)
        self._texts = _sources(fields, TEXT_KEYS)
        self._columns: list[tuple[Any, ...]] = []

    def decode(self, raws: Sequence[Raw]) -> None:
        """Read these arguments."""
        joined = b"".join((b"[", b",".join(raws), b"]"))
        while True:
            try:
                self._columns = transposed(self._decoder.decode(joined))
            except msgspec.ValidationError:
                if not self._learn(joined):
                    raise
            else:
                return

    def _learn(self, joined: bytes) -> bool:
        """Expect other keys, or texts for integers; False if all this is expected already."""
        before = len(self._keys)
        for arguments in _KEYS.decode(joined):
            self._keys |= dict.fromkeys(arguments)
        if len(self._keys) == before:
            if self._digits_in_texts:
                return False
            self._digits_in_texts = True
        self._expect()
        return True

    def integers(self) -> Iterator[tuple[str, Any, NDArray[Any]]]:
        """Each integer argument: its name, which of the entries have it, and its values."""
        for name, fields in self._integers:
            column = _first(self._columns, fields, None)
            if self._digits_in_texts:
                column = [_number(value) for value in column]
            within, numbers = _present(column, np.uint64 if name in UNSIGNED else np.int64)
            if numbers.size:
                yield name, within, numbers

    def texts(self) -> Iterator[tuple[str, Sequence[Raw]]]:
        """Each text argument: its name, and its values."""
        for name, fields in self._texts:
            yield name, _first(self._columns, fields, NOTHING)


def _decoder(keys: Sequence[str], *, closed: bool, lenient: bool) -> msgspec.json.Decoder[Any]:
    names = {f"field{number}": key for number, key in enumerate(keys)}
    integer = int | str | None if lenient else int | None
    struct = msgspec.defstruct(
        "Arguments",
        [
            (name, integer, None) if key in INTEGER_KEYS else (name, Raw, NOTHING)
            for name, key in names.items()
        ],
        rename=names,
        forbid_unknown_fields=closed,
        gc=False,
    )
    return msgspec.json.Decoder(list[struct])  # type: ignore[valid-type]


def _sources(fields: Sequence[str], names: Mapping[str, str]) -> list[tuple[str, list[int]]]:
    """Each argument with the fields that stand for it, its present name first."""
    result: dict[str, list[int]] = {}
    for number, key in enumerate(fields):
        if (name := names.get(key)) is not None:
            numbers = result.setdefault(name, [])
            numbers.insert(0 if key == name else len(numbers), number)
    return list(result.items())


def _first(columns: Sequence[Sequence[Any]], fields: Sequence[int], missing: Any) -> Sequence[Any]:
    """One argument of all entries; an older name counts where the present one is missing."""
    if len(fields) == 1:
        return columns[fields[0]]
    return [
        next((value for value in several if value is not missing), missing)
        for several in zip(*(columns[field] for field in fields), strict=True)
    ]


def _present(column: Sequence[int | None], dtype: Any) -> tuple[Any, NDArray[Any]]:
    """Which values are there, as an index, and those."""
    try:
        return slice(None), packed(column, len(column), dtype)
    except NotPlainError:
        values = [value for value in column if value is not None]
        if len(values) == len(column):
            raise
        return [value is not None for value in column], packed(values, len(values), dtype)


def _number(value: int | str | None) -> int | None:
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_INTEGER:
        raise NotPlainError(value)
    return integer_text(value)
