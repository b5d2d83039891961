"""Exact arithmetic on half-open intervals [start, end) of int64 nanoseconds.

Knows nothing of traces. All functions take arrays of starts and ends of one length, in any order
unless said otherwise, and return int64 arrays; no float occurs anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]

_ROUNDS = 8
"""Nesting is settled after two rounds unless intervals overlap in a staircase."""


class Spans(NamedTuple):
    """Disjoint, sorted, non-empty intervals."""

    starts: Ints
    ends: Ints

    @property
    def total(self) -> int:
        """Their summed length, ns."""
        return int((self.ends - self.starts).sum())


def union(starts: ArrayLike, ends: ArrayLike) -> Spans:
    """The disjoint intervals that cover the same instants; touching ones become one."""
    begin, end = _sorted(starts, ends)
    if begin.size == 0:
        return Spans(begin, end)
    reach = np.maximum.accumulate(end)
    opens = np.ones(begin.size, dtype=bool)
    opens[1:] = begin[1:] > reach[:-1]
    first = np.flatnonzero(opens)
    last = np.append(first[1:], begin.size) - 1
    return Spans(begin[first], reach[last])


def union_lengths(labels: ArrayLike, starts: ArrayLike, ends: ArrayLike, count: int) -> Ints:
    """The length of the union of the intervals of each label 0 .. count - 1."""
    label, begin, end = (np.asarray(values, dtype=np.int64) for values in (labels, starts, ends))
    result = np.zeros(count, dtype=np.int64)
    if begin.size == 0:
        return result
    low, width = int(begin.min()), int(end.max()) - int(begin.min()) + 1
    if width * count > np.iinfo(np.int64).max:
        return _union_lengths_by_rank(label, begin, end, result)
    offset = label * width - low
    spans = union(begin + offset, end + offset)
    np.add.at(result, spans.starts // width, spans.ends - spans.starts)
    return result


def _union_lengths_by_rank(label: Ints, begin: Ints, end: Ints, result: Ints) -> Ints:
    """As `union_lengths`, where one time axis after the other is more than an integer holds."""
    moments = np.unique(np.concatenate((begin, end)))
    offset = label * moments.size
    ranks = np.searchsorted(moments, begin) + offset, np.searchsorted(moments, end) + offset
    spans = union(*ranks)
    which, first = np.divmod(spans.starts, moments.size)
    np.add.at(result, which, moments[spans.ends - which * moments.size] - moments[first])
    return result


def intersection(first: Spans, second: Spans) -> Spans:
    """The instants that lie in both."""
    edges = np.union1d(np.concatenate(first), np.concatenate(second))
    left, right = edges[:-1], edges[1:]
    inside = (overlap(first, left, right) > 0) & (overlap(second, left, right) > 0)
    return union(left[inside], right[inside])


def overlap(spans: Spans, starts: ArrayLike, ends: ArrayLike) -> Ints:
    """How much of each [start, end) lies within `spans`."""
    return _covered_until(spans, ends) - _covered_until(spans, starts)


def clip(starts: ArrayLike, ends: ArrayLike, low: int, high: int) -> tuple[Ints, Ints]:
    """The intervals cut to [low, high); one that lies outside keeps no length."""
    begin = np.clip(np.asarray(starts, dtype=np.int64), low, high)
    end = np.clip(np.asarray(ends, dtype=np.int64), low, high)
    return begin, np.maximum(begin, end)


def shares(starts: ArrayLike, ends: ArrayLike) -> Ints:
    """The exclusive share of each interval, in the given order.

    Each instant belongs in equal parts to the intervals that are active in it. The shares add up
    to the length of the union exactly, and so do they within each group of overlapping intervals;
    fractions of a nanosecond go to the largest remainders.
    """
    begin = np.asarray(starts, dtype=np.int64)
    end = np.asarray(ends, dtype=np.int64)
    if begin.size == 0:
        return begin.copy()
    edges, position = np.unique(np.concatenate((begin, end)), return_inverse=True)
    opened, closed = position[: begin.size], position[begin.size :]
    steps = np.bincount(opened, minlength=edges.size) - np.bincount(closed, minlength=edges.size)
    active = np.cumsum(steps)[:-1]
    lengths = np.diff(edges)
    # Fixed point with 16 fractional bits holds 39 hours of busy time in 63 bits.
    parts = np.where(active > 0, (lengths << 16) // np.maximum(active, 1), 0)
    until = np.concatenate(([0], np.cumsum(parts)))
    scaled = until[closed] - until[opened]
    return _settle(scaled, *_clusters(begin, end))


def shares_apart(labels: ArrayLike, starts: ArrayLike, ends: ArrayLike) -> Ints:
    """The exclusive share of each interval among those of its label."""
    label = np.asarray(labels)
    begin, end = (np.asarray(values, dtype=np.int64) for values in (starts, ends))
    result = np.zeros(begin.size, dtype=np.int64)
    for value in np.unique(label):
        mine = label == value
        result[mine] = shares(begin[mine], end[mine])
    return result


def apportion(parts: ArrayLike, divisor: int, total: int | None = None) -> Ints:
    """`parts / divisor` in integers that add up to `total`, by largest remainder.

    `total` defaults to the sum of the parts over the divisor, rounded half up. A given one must
    lie within one of that quotient for each part to stay within one of its own.
    """
    whole = np.asarray(parts, dtype=np.int64)
    if total is None:
        total = (2 * int(whole.sum()) + divisor) // (2 * divisor)
    result = whole // divisor
    if whole.size == 0:
        return result
    missing = total - int(result.sum())
    everyone, some = divmod(missing, whole.size)
    result += everyone
    result[np.argsort(-(whole % divisor), kind="stable")[:some]] += 1
    return result


class Innermost:
    """Intervals, asked again and again which of them covers a time and began last.

    Of intervals that began together the shorter counts as the inner one. They need not nest.
    """

    def __init__(self, starts: ArrayLike, ends: ArrayLike) -> None:
        begin = np.asarray(starts, dtype=np.int64)
        end = np.asarray(ends, dtype=np.int64)
        self._order = np.lexsort((-end, begin))
        self._begin, self._end = begin[self._order], end[self._order]
        self._outer = _previous_longer(self._end)

    def at(self, times: ArrayLike) -> NDArray[np.intp]:
        """For each time the index of the innermost interval; -1 for none."""
        at = np.asarray(times, dtype=np.int64)
        if self._end.size == 0:
            return np.full(at.size, -1)
        found = np.searchsorted(self._begin, at, side="right") - 1
        open_ = np.flatnonzero(found >= 0)
        while open_.size:
            open_ = open_[self._end[found[open_]] <= at[open_]]
            found[open_] = self._outer[found[open_]]
            open_ = open_[found[open_] >= 0]
        return np.where(found >= 0, self._order[found], -1)


def innermost(starts: ArrayLike, ends: ArrayLike, times: ArrayLike) -> NDArray[np.intp]:
    """For each time the index of the innermost interval that covers it; see `Innermost`."""
    return Innermost(starts, ends).at(times)


def nest(starts: ArrayLike, ends: ArrayLike) -> tuple[NDArray[np.intp], Ints]:
    """Nested as a stack would have it: the parent of each interval, -1 for none, and its end.

    The intervals come in order of their start, an outer one before an inner one. The parent is the
    last one before that has not ended yet, and what outlives its parent ends with it, so that
    siblings never overlap.
    """
    begin = np.asarray(starts, dtype=np.int64)
    given = np.asarray(ends, dtype=np.int64)
    end = given
    for _ in range(_ROUNDS):
        parent = _enclosing(begin, end)
        cut = _least_of_ancestors(parent, given)
        if np.array_equal(cut, end):
            return parent, end
        end = cut
    return _nest_one_by_one(begin, given)


def lanes(starts: ArrayLike, ends: ArrayLike) -> Ints:
    """The lowest lane for each interval on which it overlaps none before it.

    The intervals come in order of their start, an outer one before an inner one; where they nest
    the lane is the depth.
    """
    begin, end = (np.asarray(values, dtype=np.int64).tolist() for values in (starts, ends))
    until: list[int] = []
    result = []
    for low, high in zip(begin, end, strict=True):
        lane = next((i for i, busy in enumerate(until) if busy <= low), len(until))
        until[lane : lane + 1] = [max(high, low + 1)]
        result.append(lane)
    return np.array(result, dtype=np.int64)


def nesting(starts: ArrayLike, ends: ArrayLike) -> Ints:
    """The lowest track for each interval on which it crosses none before it: there all nest.

    The intervals come in order of their start, an outer one before an inner one.
    """
    begin, end = (np.asarray(values, dtype=np.int64).tolist() for values in (starts, ends))
    tracks: list[list[int]] = []
    result = []
    for low, high in zip(begin, end, strict=True):
        for around in tracks:
            while around and around[-1] <= low:
                around.pop()
        fitting = (i for i, around in enumerate(tracks) if not around or high <= around[-1])
        track = next(fitting, len(tracks))
        if track == len(tracks):
            tracks.append([])
        tracks[track].append(high)
        result.append(track)
    return np.array(result, dtype=np.int64)


def _previous_longer(ends: Ints) -> NDArray[np.intp]:
    """For each i the nearest j < i with ends[j] > ends[i], or -1, by pointer jumping."""
    before = np.arange(-1, ends.size - 1)
    unsettled = np.flatnonzero(before >= 0)
    while unsettled.size:
        unsettled = unsettled[ends[before[unsettled]] <= ends[unsettled]]
        before[unsettled] = before[before[unsettled]]
        unsettled = unsettled[before[unsettled] >= 0]
    return before


def _enclosing(begin: Ints, end: Ints) -> NDArray[np.intp]:
    """For each interval the last one before it that covers its begin, or -1."""
    outer = _previous_longer(end)
    found = np.arange(-1, begin.size - 1)
    unsettled = np.flatnonzero(found >= 0)
    while unsettled.size:
        unsettled = unsettled[end[found[unsettled]] <= begin[unsettled]]
        found[unsettled] = outer[found[unsettled]]
        unsettled = unsettled[found[unsettled] >= 0]
    return found


def _least_of_ancestors(parent: NDArray[np.intp], values: Ints) -> Ints:
    """The least of the value of each node and those of all its ancestors, by pointer jumping."""
    least, up = values.copy(), parent.copy()
    unsettled = np.flatnonzero(up >= 0)
    while unsettled.size:
        higher = up[unsettled]
        # One assignment after the other would let a node see a half-done ancestor.
        lower, further = np.minimum(least[unsettled], least[higher]), up[higher]
        least[unsettled], up[unsettled] = lower, further
        unsettled = unsettled[further >= 0]
    return least


def _nest_one_by_one(begin: Ints, given: Ints) -> tuple[NDArray[np.intp], Ints]:
    """As `nest`, for staircases of overlap, of which a round of jumping settles a step."""
    parent, end = np.full(begin.size, -1), given.copy()
    stack: list[int] = []
    for number, start in enumerate(begin.tolist()):
        while stack and end[stack[-1]] <= start:
            stack.pop()
        if stack:
            parent[number] = stack[-1]
            end[number] = min(end[number], end[stack[-1]])
        stack.append(number)
    return parent, end


def _sorted(starts: ArrayLike, ends: ArrayLike) -> tuple[Ints, Ints]:
    """The non-empty intervals, by start."""
    begin = np.asarray(starts, dtype=np.int64)
    end = np.asarray(ends, dtype=np.int64)
    some = end > begin
    begin, end = begin[some], end[some]
    order = np.argsort(begin, kind="stable")
    return begin[order], end[order]


def _covered_until(spans: Spans, times: ArrayLike) -> Ints:
    """The length of `spans` before each time."""
    at = np.asarray(times, dtype=np.int64)
    if spans.starts.size == 0:
        return np.zeros(at.shape, dtype=np.int64)
    before = np.concatenate(([0], np.cumsum(spans.ends - spans.starts)))
    index = np.searchsorted(spans.starts, at, side="right")
    last = np.maximum(index - 1, 0)
    unfinished = np.where(index > 0, np.maximum(spans.ends[last] - at, 0), 0)
    return np.asarray(before[index] - unfinished, dtype=np.int64)


def _clusters(begin: Ints, end: Ints) -> tuple[NDArray[np.intp], Ints]:
    """The group of overlapping intervals that each belongs to, and the groups' union lengths."""
    order = np.argsort(begin, kind="stable")
    reach = np.maximum.accumulate(end[order])
    opens = np.ones(begin.size, dtype=bool)
    opens[1:] = begin[order][1:] >= reach[:-1]
    first = np.flatnonzero(opens)
    last = np.append(first[1:], begin.size) - 1
    label = np.empty(begin.size, dtype=np.intp)
    label[order] = np.cumsum(opens) - 1
    return label, reach[last] - begin[order][first]


def _settle(scaled: Ints, label: NDArray[np.intp], lengths: Ints) -> Ints:
    """Fixed-point shares as integers that add up to `lengths` in each labelled group."""
    result = scaled >> 16
    sums = np.zeros(lengths.size, dtype=np.int64)
    np.add.at(sums, label, result)
    missing = lengths - sums
    if not missing.any():
        return result
    order = np.lexsort((-(scaled & 0xFFFF), label))
    sizes = np.bincount(label, minlength=lengths.size)
    rank = np.arange(label.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    everyone, some = np.divmod(missing, sizes)
    result[order] += everyone[label[order]] + (rank < some[label[order]])
    return result
