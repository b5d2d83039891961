"""Columns that grow piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traceview.kineto.arguments import SomeIntegers
from traceview.kineto.columns import Texts
from traceview.kineto.fields import KIND
from traceview.kineto.packing import packed
from traceview.kineto.values import FLOW_PHASES, REDUNDANT_FLOWS


class Codes(dict[Any, int]):
    """Codes of texts in order of their first use; `text_of` makes the text of a key."""

    def __init__(self, text_of: Callable[[Any], str | None]) -> None:
        super().__init__()
        self._text_of = text_of
        self._code_of: dict[str, int] = {}

    def __missing__(self, key: Any) -> int:
        content = self._text_of(key)
        code = -1 if content is None else self._code_of.setdefault(content, len(self._code_of))
        self[key] = code
        return code

    def encoded(self, keys: Sequence[Any]) -> NDArray[np.int32]:
        """The code of each key."""
        return packed(map(self.__getitem__, keys), len(keys), np.int32)

    def texts(self, codes: NDArray[np.int32]) -> Texts:
        """Codes with the texts that they stand for."""
        return Texts(codes, tuple(self._code_of))


class Kinds(dict[tuple[Any, ...], int]):
    """Codes of the kinds of entries; one dictionary look-up an entry instead of one a field."""

    def __init__(self) -> None:
        super().__init__()
        self._codes = {field: Codes(plain_text) for field in KIND}
        self._rows: list[tuple[int, ...]] = []
        self._table = np.empty((0, len(KIND) + 1), dtype=np.int32)

    def __missing__(self, kind: tuple[Any, ...]) -> int:
        phase, category, *_ = kind
        redundant = phase in FLOW_PHASES and category in REDUNDANT_FLOWS
        codes = (self._codes[field][value] for field, value in zip(KIND, kind, strict=True))
        self._rows.append((*codes, redundant))
        self[kind] = code = len(self)
        return code

    def encoded(self, columns: Sequence[Sequence[Any]]) -> NDArray[np.int32]:
        """The code of each entry, from the columns of its fields."""
        kinds = map(self.__getitem__, zip(*columns, strict=True))
        return packed(kinds, len(columns[0]), np.int32)

    def texts(self, field: str, kinds: NDArray[np.int32]) -> Texts:
        """One field of entries of these kinds."""
        return self._codes[field].texts(self._column(KIND.index(field), kinds))

    def categories(self, kinds: NDArray[np.int32]) -> NDArray[np.int32]:
        """The code of the category of each entry."""
        return self._column(KIND.index("cat"), kinds)

    def redundant(self, kinds: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which entries are flows whose `id` repeats what their ends say."""
        return self._column(len(KIND), kinds).astype(np.bool_)

    def _column(self, place: int, kinds: NDArray[np.int32]) -> NDArray[np.int32]:
        if len(self._table) < len(self._rows):
            self._table = np.array(self._rows, dtype=np.int32)
        column: NDArray[np.int32] = self._table[:, place][kinds]
        return column


class Column:
    """Arrays that become one at the end."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._parts: list[NDArray[Any]] = []

    def add(self, part: NDArray[Any]) -> None:
        """Add a piece."""
        self._parts.append(part)

    def whole(self) -> NDArray[Any]:
        """All pieces."""
        if not self._parts:
            return np.empty(0, dtype=self._dtype)
        return np.concatenate(self._parts, dtype=self._dtype)


class GrowingTimes:
    """Times in ns, and which of them are known."""

    def __init__(self) -> None:
        self.values = Column(np.int64)
        self.known = Column(np.bool_)

    def add(self, values: NDArray[np.int64], known: NDArray[np.bool_]) -> None:
        """Add a piece."""
        self.values.add(values)
        self.known.add(known)


class Sparse:
    """What only some rows have: these rows, and their values."""

    def __init__(self, dtype: Any) -> None:
        self.rows = Column(np.int64)
        self.values = Column(dtype)

    def add(self, first_row: int, parts: Sequence[SomeIntegers]) -> None:
        """Add values of places behind `first_row`, each part by ascending place."""
        places, values = _in_order(parts)
        self.rows.add(places + first_row)
        self.values.add(values)


def plain_text(value: int | str | None) -> str | None:
    """The text of a field; numbers and strings of the same text are the same one."""
    return None if value is None else str(value)


def _in_order(parts: Sequence[SomeIntegers]) -> SomeIntegers:
    """The parts of several categories as one, by ascending place."""
    if len(parts) == 1:
        return parts[0]
    places = np.concatenate([part for part, _ in parts])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([values for _, values in parts])[order]
