"""Joins each op of the backward pass with the forward op whose gradient it computes.

Both carry the sequence number that a counter of the forward thread gave. The backward op names
that thread as well, but by a number of autograd's own that no other event bears (format notes, 2.4
and 3.1), so the thread is the one whose forward ops have the most of the numbers that are asked
for. Of the ops with one number the last is meant: those before it only saw the counter.
"""

from __future__ import annotations

import numpy as np

from traceview import schema as s
from traceview.intervals import Ints
from traceview.trace import Trace
from traceview.tree import Mask, Nodes, Tree

_UNNUMBERED = ("autograd::engine::evaluate_function", "torch::autograd::AccumulateGrad")
"""Ops of the backward pass, also where they have no forward op."""


def is_backward(trace: Trace, nodes: Tree) -> Mask:
    """Which nodes are ops that the backward pass runs (what they call is not marked)."""
    thread = _integers(trace, nodes, s.FORWARD_THREAD, 0)
    names = trace.host[s.NAME].cat.categories
    named = np.array([str(name).startswith(_UNNUMBERED) for name in names] + [False])
    return np.asarray(nodes.is_op & ((thread > 0) | named[nodes.name]))


def forward_of(trace: Trace, nodes: Tree) -> Nodes:
    """For each node that is a numbered backward op the node of its forward op, else -1."""
    number = _integers(trace, nodes, s.SEQUENCE_NUMBER, -1)
    asked = _integers(trace, nodes, s.FORWARD_THREAD, 0)
    forward = np.flatnonzero(nodes.is_op & (number >= 0) & (asked == 0))
    backward = np.flatnonzero(nodes.is_op & (number >= 0) & (asked > 0))
    result = np.full(number.size, -1)
    if forward.size == 0:
        return result
    process = trace.host[s.PROCESS].cat.codes.to_numpy()[nodes.position]
    groups = np.unique(np.stack((process[backward], asked[backward])), axis=1)
    for owner, logical in groups.T:
        rows = backward[(process[backward] == owner) & (asked[backward] == logical)]
        result[rows] = _best_match(nodes, number, forward[process[forward] == owner], rows)
    return result


def callers(nodes: Tree, forward: Nodes) -> dict[int, int]:
    """For each thread that runs backward ops the thread whose ops most of them belong to.

    That thread called `backward()` and waits for it.
    """
    matched = np.flatnonzero(forward >= 0)
    threads = np.stack((nodes.thread[matched], nodes.thread[forward[matched]]))
    pairs, counts = np.unique(threads, axis=1, return_counts=True)
    ascending = pairs[:, np.argsort(counts, kind="stable")]
    return {int(running): int(waiting) for running, waiting in ascending.T}


def _best_match(nodes: Tree, number: Ints, forward: Nodes, backward: Nodes) -> Nodes:
    """The forward op of each backward op, from the thread that can answer for most of them."""
    best, most = np.full(backward.size, -1), 0
    for thread in np.unique(nodes.thread[forward]):
        found = _last_with(nodes, number, forward[nodes.thread[forward] == thread], backward)
        if (count := int((found >= 0).sum())) > most:
            best, most = found, count
    return best


def _last_with(nodes: Tree, number: Ints, forward: Nodes, backward: Nodes) -> Nodes:
    """The last forward op with each number that begins before the backward op does."""
    order = forward[np.lexsort((nodes.position[forward], number[forward]))]
    numbers, rank = np.unique(number[order], return_inverse=True)
    width = int(nodes.position.max()) + 1
    keys = rank * width + nodes.position[order]
    place = np.searchsorted(numbers, number[backward])
    known = np.append(numbers, -1)[place] == number[backward]
    last = np.searchsorted(keys, place * width + nodes.position[backward]) - 1
    found = order[last]
    return np.where(known & (last >= 0) & (number[found] == number[backward]), found, -1)


def _integers(trace: Trace, nodes: Tree, column: s.Column, missing: int) -> Ints:
    values = trace.host[column].to_numpy(dtype=np.int64, na_value=missing)
    return np.asarray(values[nodes.position], dtype=np.int64)
