"""The events that one frame is made of, in its order, as its columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview.intervals import Ints
from traceview.kineto import links
from traceview.kineto.columns import Events, Texts

_NO_STREAM = (-1, 2**32 - 1)
"""What cuda_sync records write where there is no stream, or the event is unknown (notes, 2.4)."""


@dataclass(frozen=True)
class Part:
    """The events that one frame is made of, in the frame's order.

    `rows` are places in the file; `events` gives each column by them.
    """

    events: Events
    rows: Ints

    def text(self, column: Texts) -> pd.Categorical:
        """A field that every event may have."""
        return categorical(column.codes[self.rows], column.values)

    def integers(self, argument: str, dtype: str = "Int64") -> pd.arrays.IntegerArray:
        """The argument, missing where an event has none."""
        found, values = self._sparse(argument)
        missing = np.ones(self.rows.size, dtype=bool)
        missing[found] = False
        dense = np.zeros(self.rows.size, dtype=dtype.lower())
        dense[found] = values
        return pd.arrays.IntegerArray(dense, missing)

    def stated(self, argument: str) -> pd.arrays.IntegerArray:
        """The argument, missing also where the recorder wrote a number that means "none"."""
        numbers = self.integers(argument)
        found, values = self._sparse(argument)
        numbers[found[np.isin(values, _NO_STREAM)]] = pd.NA
        return numbers

    def known(self, argument: str, default: int) -> Ints:
        """The argument as plain integers, `default` where an event has none."""
        found, values = self._sparse(argument)
        dense = np.full(self.rows.size, default, dtype=np.int64)
        dense[found] = values
        return dense

    def keyed(self) -> links.Keyed:
        """What joins calls and work."""
        return links.Keyed(
            self.known("correlation", 0),
            self.known("External id", links.UNKNOWN),
            self.events.start_ns[self.rows],
        )

    def argument_text(self, argument: str) -> pd.Categorical:
        """The argument as text, missing where an event has none."""
        column = self.events.texts.get(argument)
        codes = np.full(self.rows.size, -1, dtype=np.int32)
        if column is None:
            return pd.Categorical.from_codes(codes, categories=pd.Index([], dtype="str"))
        positions, within = self._places(column.rows)
        codes[positions] = column.texts.codes[within]
        return categorical(codes, column.texts.values)

    def _sparse(self, argument: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
        column = self.events.integers.get(argument)
        if column is None:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
        positions, within = self._places(column.rows)
        return positions, column.values[within]

    def _places(self, rows: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where rows of the file stand in this frame, and which of them do."""
        place = self._place[rows]
        within = np.flatnonzero(place >= 0)
        return place[within], within

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """The position of each row of the file, -1 for those of other frames.

        A table over all rows, made once, is read several times faster than rows are searched.
        """
        table = np.full(len(self.events), -1, dtype=np.intp)
        table[self.rows] = np.arange(self.rows.size)
        return table


def by_time(events: Events, rows: Ints) -> Part:
    """Rows by start, then the longest first.

    What is alike in both is told apart by what it is and not by its place in the file, which is
    anything (format notes, 3.2.15). Of ops and frames the one that began first has the lower id.
    """
    start, longest = events.start_ns[rows], -events.duration_ns[rows]
    order = np.argsort(start, kind="stable")
    tied = _neighbours(start[order])
    if tied.size:
        few = order[tied]
        order[tied] = few[np.lexsort((longest[few], start[few]))]
    start, longest = start[order], longest[order]
    tied = _neighbours(start, longest)
    part = Part(events, rows[order])
    if tied.size == 0:
        return part
    some = Part(events, part.rows[tied])
    texts = (events.name, events.thread, events.process, events.category)
    ids = ("stream", "correlation", "Python id", "External id")
    keys = [_ranks(column)[column.codes[some.rows]] for column in texts]
    keys[1:1] = [some.known(name, links.UNKNOWN) for name in ids]
    part.rows[tied] = some.rows[np.lexsort((*keys, longest[tied], start[tied]))]
    return part


def _neighbours(*sorted_keys: Ints) -> NDArray[np.intp]:
    """Positions that have a neighbour with the same keys."""
    alike = np.zeros(sorted_keys[0].size + 1, dtype=bool)
    alike[1:-1] = np.logical_and.reduce([key[1:] == key[:-1] for key in sorted_keys])
    return np.flatnonzero(alike[1:] | alike[:-1])


def _ranks(column: Texts) -> NDArray[np.intp]:
    """The place of each text in the alphabet, by code; -1 for a missing one."""
    return np.append(
        np.argsort(sorted(range(len(column.values)), key=column.values.__getitem__)), -1
    )


def is_one_of(column: Texts, *wanted: str) -> NDArray[np.bool_]:
    """Where the column says one of these texts."""
    member = np.array([value in wanted for value in column.values] + [False], dtype=bool)
    return _looked_up(member, column.codes)


def _looked_up(table: NDArray[Any], codes: NDArray[np.int32]) -> NDArray[Any]:
    """The entry of each code; that of -1, a missing text, is the last one.

    Codes are never out of range, and without that check numpy takes half the time.
    """
    return table.take(codes, mode="wrap")


def categorical(codes: NDArray[np.int32], values: tuple[str, ...]) -> pd.Categorical:
    """Codes of the values that occur as a Categorical of just those, in the alphabet's order.

    pandas groups and sorts by the order of categories: that of the file would show in the figures.
    """
    occurs = np.bincount(codes + 1, minlength=len(values) + 1)[1:] > 0
    used = np.flatnonzero(occurs)
    used = used[sorted(range(used.size), key=[values[code] for code in used.tolist()].__getitem__)]
    # The last entry stands for code -1, a missing value.
    compact = np.full(len(values) + 1, -1, dtype=np.int32)
    compact[used] = np.arange(used.size, dtype=np.int32)
    categories = pd.Index([values[code] for code in used.tolist()], dtype="str")
    return pd.Categorical.from_codes(
        _looked_up(compact, codes), categories=categories, validate=False
    )
