"""The op tree: what lies in what on each host thread.

Ops, annotations and Python frames of a thread form one tree, as a stack would build it: by start,
the longest first, then in the order of the host frame. Recorded ranges need not nest. With Python
stacks a `with record_function(...)` begins inside the frame of `__enter__` and ends inside that of
`__exit__`; the region is what the user meant, so a frame or op in which a region begins that
outlives it ends where the region begins. Anything else that outlives its parent ends with it. No
event is dropped, and what was cut is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from traceview import intervals
from traceview import schema as s
from traceview.intervals import Ints
from traceview.trace import ANNOTATION, FRAME, OP, Trace

Nodes = NDArray[np.intp]
Mask = NDArray[np.bool_]

_REGION_NAMES = ("ProfilerStep", "Optimizer.", "enumerate(DataLoader)")
"""Regions that recorders before `user_annotation` wrote as ops (format notes, 2.3)."""


class Paths(NamedTuple):
    """The distinct paths from a root down to each node, through some of the nodes.

    `of` gives the path of each node, -1 where it is empty; a path is its `parent` path (-1 for
    none), which has a smaller number, and its last `label`.
    """

    of: Ints
    parent: Ints
    label: Ints

    def joined(self, names: ArrayLike, separator: str) -> list[str]:
        """The text of each path: the names of its labels, outermost first."""
        texts: list[str] = []
        named = np.asarray(names, dtype=object)[self.label].tolist()
        for above, name in zip(self.parent.tolist(), named, strict=True):
            texts.append(f"{texts[above]}{separator}{name}" if above >= 0 else name)
        return texts


@dataclass(frozen=True, slots=True)
class Tree:
    """Parallel arrays, one entry a node, thread by thread and each parent before its children.

    `position` is that of the event in the host frame and `name` its code in the frame's names;
    `parent` is a node, -1 for a root. `start` and `end` are ns, the end as the tree has it; `cut`
    marks nodes that the recording let outlive their place. A subtree is the nodes from its root up
    to `stop`. `self_ns` is the range of a node less those of its children, so that it adds up to
    the union of the roots.
    """

    position: Ints
    thread: Ints
    name: Ints
    parent: Nodes
    start: Ints
    end: Ints
    stop: Nodes
    cut: Mask
    is_op: Mask
    is_region: Mask
    is_frame: Mask

    @property
    def self_ns(self) -> Ints:
        """The time of each node outside its children, ns."""
        length = self.end - self.start
        inner = np.zeros(length.size, dtype=np.int64)
        has_parent = self.parent >= 0
        np.add.at(inner, self.parent[has_parent], length[has_parent])
        return length - inner

    @property
    def depth(self) -> Ints:
        """How many ancestors each node has."""
        return self._count_above(np.ones(self.parent.size, dtype=bool))

    @property
    def outermost(self) -> Mask:
        """Which nodes lie in no other of the same name: what to count of an op that recurs."""
        order = np.argsort(self.name, kind="stable")
        reach = np.maximum.accumulate(self.stop[order] + self.name[order] * (self.stop.size + 1))
        inside = np.zeros(order.size, dtype=bool)
        inside[1:] = reach[:-1] > order[1:] + self.name[order[1:]] * (self.stop.size + 1)
        result = np.empty(order.size, dtype=bool)
        result[order] = ~inside
        return result

    def at(self, threads: Ints, times: ArrayLike) -> Nodes:
        """The innermost node on each thread at each time, -1 for none.

        Threads are numbered as `thread_numbers` of `traceview.context` numbers them.
        """
        thread, time = np.asarray(threads, dtype=np.int64), np.asarray(times, dtype=np.int64)
        found = np.full(time.size, -1)
        for number in np.unique(self.thread):
            low, high = np.searchsorted(self.thread, [number, number + 1])
            mine = np.flatnonzero(thread == number)
            last = np.searchsorted(self.start[low:high], time[mine], side="right")
            found[mine] = np.where(last > 0, low + last - 1, -1)
        unsettled = np.flatnonzero(found >= 0)
        while unsettled.size:
            unsettled = unsettled[self.end[found[unsettled]] <= time[unsettled]]
            found[unsettled] = self.parent[found[unsettled]]
            unsettled = unsettled[found[unsettled] >= 0]
        return found

    def nearest(self, chosen: Mask) -> Nodes:
        """For each node itself or the nearest ancestor that is chosen, -1 for none."""
        up = np.where(chosen, np.arange(chosen.size), self.parent)
        unsettled = np.flatnonzero(~chosen & (up >= 0))
        while unsettled.size:
            further = up[up[unsettled]]
            moved = further != up[unsettled]
            unsettled, further = unsettled[moved], further[moved]
            up[unsettled] = further
            unsettled = unsettled[further >= 0]
        return up

    def paths(self, chosen: Mask, labels: Ints) -> Paths:
        """The path to each node through the chosen ones, which are labelled by `labels`."""
        nearest = self.nearest(chosen)
        above = np.append(nearest, -1)[self.parent]
        level = self._count_above(chosen)
        rows = np.flatnonzero(chosen)
        rows = rows[np.argsort(level[rows], kind="stable")]
        of, parents, names, count = np.full(chosen.size + 1, -1), [], [], 0
        width = int(labels.max()) + 1 if labels.size else 1
        for same_level in np.split(rows, np.flatnonzero(np.diff(level[rows])) + 1):
            key = of[above[same_level]] * width + labels[same_level]
            distinct, number = np.unique(key, return_inverse=True)
            of[same_level] = number + count
            count += distinct.size
            parents.append(distinct // width)
            names.append(distinct % width)
        return Paths(of[nearest], np.concatenate(parents), np.concatenate(names))

    def _count_above(self, chosen: Mask) -> Ints:
        """How many of the chosen are ancestors of each node, by pointer jumping."""
        up, count = self.parent.copy(), np.append(chosen, False)[self.parent].astype(np.int64)
        unsettled = np.flatnonzero(up >= 0)
        while unsettled.size:
            higher = up[unsettled]
            added, further = count[higher], up[higher]
            count[unsettled] += added
            up[unsettled] = further
            unsettled = unsettled[further >= 0]
        return count


def tree(trace: Trace) -> Tree:
    """The tree of the ops, annotations and Python frames of each thread."""
    host = trace.host
    category = host[s.CATEGORY]
    is_op, is_frame = (category == OP).to_numpy(), (category == FRAME).to_numpy()
    is_region = (category == ANNOTATION).to_numpy() | (is_op & _named_as_region(host[s.NAME]))
    thread = _codes(host[s.PROCESS]) * len(host[s.THREAD].cat.categories) + _codes(host[s.THREAD])
    rows = np.flatnonzero(is_op | is_region | is_frame)
    rows = rows[np.argsort(thread[rows], kind="stable")]
    start = host[s.START_NS].to_numpy()[rows]
    given = start + host[s.DURATION_NS].to_numpy()[rows]
    axis = _Axis.of(thread[rows], start, given)
    region = is_region[rows]
    parent, end = intervals.nest(axis.start, _ended_by_regions(axis, region))
    stop = np.maximum(np.searchsorted(axis.start, end), np.arange(1, rows.size + 1))
    end_ns = axis.time(end)
    return Tree(
        position=rows,
        thread=thread[rows],
        name=_codes(host[s.NAME])[rows],
        parent=parent,
        start=start,
        end=end_ns,
        stop=stop,
        cut=end_ns < given,
        is_op=is_op[rows] & ~region,
        is_region=region,
        is_frame=is_frame[rows],
    )


class _Axis(NamedTuple):
    """The intervals of all threads, one thread after the other, on one axis of order alone.

    Ranks instead of times keep a corrupt time from overflowing the axis.
    """

    start: Ints
    end: Ints
    times: Ints

    @classmethod
    def of(cls, thread: Ints, start: Ints, end: Ints) -> _Axis:
        times, rank = np.unique(np.concatenate((start, end)), return_inverse=True)
        offset = np.unique(thread, return_inverse=True)[1] * times.size
        return cls(rank[: start.size] + offset, rank[start.size :] + offset, times)

    def time(self, place: Ints) -> Ints:
        """The time at a place of the axis, ns."""
        return self.times[place % max(self.times.size, 1)]


def _ended_by_regions(axis: _Axis, region: Mask) -> Ints:
    """The ends, where what a region begins in and outlives ends with the region's begin."""
    end = axis.end.copy()
    regions, others = np.flatnonzero(region), np.flatnonzero(~region)
    if regions.size == 0:
        return end
    begin = axis.start[regions]
    above, finish = intervals.nest(begin, end[regions])
    above, finish = np.append(above, -1), np.append(finish, np.iinfo(np.int64).max)
    # The innermost region over the end of each of the others, if it begins later than that.
    inside = np.searchsorted(begin, end[others], side="left") - 1
    while (over := (inside >= 0) & (finish[inside] <= end[others])).any():
        inside[over] = above[inside[over]]
    order = np.append(regions, -1)
    crossing = np.flatnonzero(order[inside] > others)
    outer = inside[crossing]
    while (later := order[above[outer]] > others[crossing]).any():
        outer[later] = above[outer[later]]
    end[others[crossing]] = begin[outer]
    return end


def _codes(column: pd.Series) -> Ints:
    return np.asarray(column.cat.codes, dtype=np.int64)


def _named_as_region(names: pd.Series) -> Mask:
    member = [str(name).startswith(_REGION_NAMES) for name in names.cat.categories]
    return np.array([*member, False])[_codes(names)]
