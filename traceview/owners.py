"""Who launched it: the op, annotation, module and Python frame that each piece of device work has.

Work is owned through its launch call: by what was open on the calling thread when the call began.
So a graph replay belongs to what surrounds the graph launch. Where the launch is not in the file,
`External id` names the op, in recordings where it can be trusted.

The backward pass runs on threads of its own, in which nothing of the program is open. Its work has
the annotation, module and frame of the forward op whose gradient it computes, so that a region owns
its backward as well; failing that those of its own thread, and failing that those of the thread
that waits in `backward()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from traceview import autograd
from traceview import schema as s
from traceview.context import thread_numbers
from traceview.intervals import Ints
from traceview.kernel_kinds import kernel_kind
from traceview.trace import MODULE_PREFIX, STEP_PREFIX, Trace
from traceview.tree import Mask, Nodes, Paths, Tree, tree

LAUNCH, EXTERNAL_ID, NONE = "launch", "external_id", "none"
HOW = (LAUNCH, EXTERNAL_ID, NONE)
FORWARD, BACKWARD = "forward", "backward"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LOCATED = re.compile(r"\(\d+\): ")
_CHANCE = 0.5
"""`External id` equals the correlation of a few pieces of work by chance in recordings where it is
an op's id, and of every piece where it is not (format notes, 3.2.1): half is far from both."""


def owners(trace: Trace) -> pd.DataFrame:
    """Who launched each piece of `trace.work`, row by row; columns as schema.OWNERS.

    A missing op was launched in no op; where `how` is "none" nothing is known.
    """
    owned = Ownership.of(trace)
    work, how = owned.of_work()
    op = owned.op_at(work.node)
    position = np.append(owned.nodes.position, -1)[op]
    known = how != HOW.index(NONE)
    op_path = categorical(owned.ops.of(work), owned.ops.texts)
    annotation_path = categorical(owned.annotations.of(work), owned.annotations.texts)
    return s.OWNERS.frame(
        {
            s.OWNER_OP: categorical(
                np.append(owned.nodes.name, -1)[op], trace.host[s.NAME].cat.categories
            ),
            s.OP_POSITION: pd.arrays.IntegerArray(np.maximum(position, 0), position < 0),
            s.OP_PATH: op_path,
            s.ANNOTATION_PATH: annotation_path,
            s.MODULE_PATH: categorical(owned.modules.of(work), owned.modules.texts),
            s.OWNER_FRAME: owned.frame_at(work),
            s.DIRECTION: categorical(np.where(known, work.backward, -1), (FORWARD, BACKWARD)),
            **_kinds(trace.work, op_path, annotation_path),
            s.HOW: categorical(how, HOW),
        }
    )


def categorical(codes: ArrayLike, texts: Sequence[str] | pd.Index) -> pd.Categorical:
    """The texts of these codes, -1 for a missing one; texts that are equal become one."""
    distinct = dict.fromkeys(map(str, texts))
    number = {text: code for code, text in enumerate(distinct)}
    table = np.array([*(number[str(text)] for text in texts), -1])
    return pd.Categorical.from_codes(
        table[np.asarray(codes)], categories=pd.Index(list(distinct), dtype="str")
    )


class Moments(NamedTuple):
    """Parallel arrays of nodes, -1 for none: where moments of host threads lie.

    `node` is the innermost one. In a backward pass, which `backward` marks, `forward` is the
    forward op of the backward op around it, and `caller` the innermost node of the thread that
    waits for the pass.
    """

    node: Nodes
    forward: Nodes
    caller: Nodes
    backward: Mask


@dataclass(frozen=True)
class Dimension:
    """One way to divide what the host does: by the paths through some of the nodes.

    `names` are those of the labels. Where `inherited`, a moment of the backward pass lies where its
    forward op does. Without a `separator` a label alone tells the whole path.
    """

    paths: Paths
    names: Sequence[str] | pd.Index
    separator: str | None = "/"
    inherited: bool = True

    def of(self, moments: Moments) -> Ints:
        """The number of the path of each moment, -1 for none."""
        table = np.append(self.paths.of, -1)
        if not self.inherited:
            return table[moments.node]
        places = (moments.forward, moments.node, moments.caller)
        return _first(*(table[place] for place in places))

    @cached_property
    def texts(self) -> list[str]:
        """The text of each path."""
        if self.separator is None:
            return [str(self.names[label]) for label in self.paths.label]
        return self.paths.joined(self.names, self.separator)


@dataclass(frozen=True)
class Ownership:
    """The op tree of a trace, and whose each moment of its threads is."""

    trace: Trace
    nodes: Tree

    @staticmethod
    def of(trace: Trace) -> Ownership:
        """That of this trace, which keeps it."""
        return trace.derived(_ownership)

    @cached_property
    def ops(self) -> Dimension:
        """By op."""
        paths = self.nodes.paths(self.nodes.is_op, self.nodes.name)
        return Dimension(paths, self._names, inherited=False)

    @cached_property
    def annotations(self) -> Dimension:
        """By annotation; the profiler's own steps are none."""
        step = self._named(lambda name: name.startswith(STEP_PREFIX))
        paths = self.nodes.paths(self.nodes.is_region & ~step, self.nodes.name)
        return Dimension(paths, self._names)

    @cached_property
    def modules(self) -> Dimension:
        """By nn.Module: from its Python frames, else from what the ops were recorded with."""
        called = self.nodes.is_frame & self._named(lambda name: name.startswith(MODULE_PREFIX))
        if not called.any():
            return self._module_hierarchy
        paths = self.nodes.paths(called, self.nodes.name)
        return Dimension(paths, [name.removeprefix(MODULE_PREFIX) for name in self._names])

    @cached_property
    def stacks(self) -> Dimension:
        """By Python stack, without the addresses of objects, which differ from call to call."""
        names = [_ADDRESS.sub("", name).replace(";", ":") for name in self._names]
        distinct, code = np.unique(np.array([*names, ""], dtype=object), return_inverse=True)
        paths = self.nodes.paths(self.nodes.is_frame, code[self.nodes.name])
        return Dimension(paths, distinct.tolist(), ";")

    def of_work(self) -> tuple[Moments, Ints]:
        """Where each piece of `trace.work` was launched, and how that is known (index in HOW)."""
        return self._work

    @cached_property
    def _work(self) -> tuple[Moments, Ints]:
        launch = self.trace.work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)
        threads = np.append(thread_numbers(self.trace, self.trace.host), -1)[launch]
        times = np.append(self.trace.host[s.START_NS].to_numpy(), 0)[launch]
        node = self.nodes.at(threads, times)
        named = self._by_external_id(np.flatnonzero(self.op_at(node) < 0))
        how = np.full(launch.size, HOW.index(NONE))
        how[named >= 0] = HOW.index(EXTERNAL_ID)
        how[launch >= 0] = HOW.index(LAUNCH)
        return self._moments(np.where(named >= 0, named, node), threads, times), how

    def at(self, threads: Ints, times: ArrayLike) -> Moments:
        """Where these moments lie; threads are numbered as by `context.thread_numbers`."""
        return self._moments(self.nodes.at(threads, times), threads, times)

    def op_at(self, node: Nodes) -> Nodes:
        """The innermost op at each node, -1 for none."""
        return np.append(self._op, -1)[node]

    def frame_at(self, moments: Moments) -> pd.Categorical:
        """The name of the innermost frame that has a line in a file: no built-in, no module."""
        located = self.nodes.nearest(self.nodes.is_frame & self._named(_LOCATED.search))
        table = np.append(located, -1)
        node = _first(table[moments.forward], table[moments.node], table[moments.caller])
        return categorical(np.append(self.nodes.name, -1)[node], self._names)

    @cached_property
    def _names(self) -> list[str]:
        return [str(name) for name in self.trace.host[s.NAME].cat.categories]

    @cached_property
    def _op(self) -> Nodes:
        return self.nodes.nearest(self.nodes.is_op)

    @cached_property
    def _forward(self) -> Nodes:
        return autograd.forward_of(self.trace, self.nodes)

    @cached_property
    def _backward(self) -> Nodes:
        return self.nodes.nearest(autograd.is_backward(self.trace, self.nodes))

    def _named(self, test: Callable[[str], object]) -> Mask:
        member = np.array([*(bool(test(name)) for name in self._names), False], dtype=bool)
        return np.asarray(member[self.nodes.name])

    def _moments(self, node: Nodes, threads: Ints, times: ArrayLike) -> Moments:
        backward = np.append(self._backward, -1)[node] >= 0
        numbered = np.append(self.nodes.nearest(self._forward >= 0), -1)[node]
        caller = np.full(node.size, -1)
        for running, waiting in autograd.callers(self.nodes, self._forward).items():
            rows = np.flatnonzero(backward & (threads == running) & (threads != waiting))
            at = np.asarray(times)[rows]
            caller[rows] = self.nodes.at(np.full(rows.size, waiting), at)
        return Moments(node, np.append(self._forward, -1)[numbered], caller, backward)

    @cached_property
    def _module_hierarchy(self) -> Dimension:
        recorded = self.trace.host[s.MODULES]
        texts = [str(text) for text in recorded.cat.categories]
        told = np.array([*(bool(text) for text in texts), False])
        label = np.asarray(recorded.cat.codes, dtype=np.int64)[self.nodes.position]
        said = self.nodes.is_op & told[label]
        around = np.append(self.nodes.nearest(said), -1)[self.nodes.parent]
        entered = said & (np.append(label, -1)[around] != label)
        return Dimension(self.nodes.paths(entered, label), texts, None)

    def _by_external_id(self, rows: Nodes) -> Nodes:
        """The op that each of these rows of `trace.work` names by its external id; -1 elsewhere."""
        work, host = self.trace.work, self.trace.host
        found = np.full(len(work), -1)
        identity = work[s.EXTERNAL_ID].to_numpy(dtype=np.int64, na_value=0)
        own = identity == work[s.CORRELATION].to_numpy(dtype=np.int64, na_value=0)
        asked = rows[(identity != 0)[rows] & ~own[rows]]
        if asked.size == 0 or own[identity != 0].mean() > _CHANCE:
            return found
        node = np.flatnonzero(self.nodes.is_op)
        given = host[s.EXTERNAL_ID].to_numpy(dtype=np.int64, na_value=0)[self.nodes.position[node]]
        process = host[s.PROCESS].astype("str").to_numpy()
        ops = pd.Series(
            node, pd.MultiIndex.from_arrays([process[self.nodes.position[node]], given])
        )
        ops = ops[~ops.index.duplicated(keep=False)]
        mine = work[s.PROCESS].astype("str").to_numpy()[asked]
        wanted = pd.MultiIndex.from_arrays([mine, identity[asked]])
        found[asked] = ops.reindex(wanted, fill_value=-1).to_numpy()
        return found


def _ownership(trace: Trace) -> Ownership:
    return Ownership(trace, tree(trace))


def _kinds(
    work: pd.DataFrame, op_path: pd.Categorical, annotation_path: pd.Categorical
) -> dict[s.Column, pd.Categorical]:
    """Kind and detail of each piece of work; each distinct combination is looked at once."""
    told = (work[s.NAME].array, op_path, annotation_path, work[s.CATEGORY].array)
    key = np.zeros(len(work), dtype=np.int64)
    for column in told:
        before = np.unique(key, return_inverse=True)[1]
        key = before * (len(column.categories) + 1) + column.codes + 1
    _, example, which = np.unique(key, return_index=True, return_inverse=True)
    texts = [
        np.append(column.categories.to_numpy(dtype=object), "")[column.codes[example]]
        for column in told
    ]
    found = [kernel_kind(*row) for row in zip(*texts, strict=True)]
    details = [kind.detail or "" for kind in found]
    absent = np.where([bool(text) for text in details], np.arange(len(details)), -1)
    return {
        s.WORK_KIND: categorical(which, [kind.kind for kind in found]),
        s.KIND_DETAIL: categorical(absent[which], details),
    }


def _first(*alternatives: Ints) -> Ints:
    """The first of the alternatives that is not -1, element by element."""
    result = alternatives[0]
    for other in alternatives[1:]:
        result = np.where(result >= 0, result, other)
    return result
