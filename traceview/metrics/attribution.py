"""Host and device time by owner: ops, modules, annotations, Python stacks, kinds of kernels.

In every view `busy_ns` is the exclusive share of the work whose innermost owner the row is: an
instant in which several pieces run is divided equally among them, so that the column adds up to the
busy time of all devices, with a row for the work that has no owner. `device_ns` is the union of the
work launched in the row or below it; that of nested rows must not be added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import busy
from traceview import schema as s
from traceview.context import thread_numbers
from traceview.flops import shapes_text
from traceview.intervals import Ints
from traceview.kernel_names import short
from traceview.owners import HOW, Dimension, Moments, Ownership, owners
from traceview.trace import ALLOCATOR, Trace, of_accelerators

LEAKED = "(launched before the recording)"
LOST = "(launch not recorded)"


def ops(trace: Trace, *, shapes: bool = False) -> pd.DataFrame:
    """One row an op, or an op and the shapes of its inputs; columns as schema.OPS."""
    view = _View.of(trace)
    nodes, dims = view.owned.nodes, trace.host[s.INPUT_DIMS]
    of_code = [shapes_text(str(text)) for text in dims.cat.categories] if shapes else []
    known, compact = np.unique(np.array([*of_code, ""], dtype=object), return_inverse=True)
    key = nodes.name * known.size
    if shapes:
        codes = np.asarray(dims.cat.codes, dtype=np.int64)[nodes.position]
        key += compact[codes]
    label = np.zeros(key.size, dtype=np.int64)
    distinct, label[nodes.is_op] = np.unique(key[nodes.is_op], return_inverse=True)
    paths = nodes.paths(nodes.is_op, label)
    names = trace.host[s.NAME].cat.categories.to_numpy(dtype=object)
    texts = names[distinct // known.size].tolist()
    shown = [text or None for text in known[distinct % known.size].tolist()]
    dimension = Dimension(paths, texts, inherited=False)
    rows = view.rows(dimension, paths.label, texts, nodes.outermost, "op")
    columns = {s.OP: rows.texts, s.SHAPES: rows.aligned(shown), **rows.columns}
    return _most_first(s.OPS.frame(columns), s.OP)


def modules(trace: Trace) -> pd.DataFrame:
    """One row a path of nn.Modules; columns as schema.MODULES_VIEW.

    Work of a backward pass belongs to the module of its forward op; host time does not.
    """
    view = _View.of(trace)
    return view.by_path(view.owned.modules, s.MODULES_VIEW, s.OWNED_PATH, "module")


def annotations(trace: Trace) -> pd.DataFrame:
    """One row a path of annotations, without the profiler's steps; columns as schema.ANNOTATIONS.

    Work of a backward pass belongs to the annotation of its forward op; host time does not.
    """
    view = _View.of(trace)
    return view.by_path(view.owned.annotations, s.ANNOTATIONS, s.OWNED_PATH, "annotation")


def stacks(trace: Trace) -> pd.DataFrame:
    """One row a Python stack; columns as schema.STACKS."""
    view = _View.of(trace)
    return view.by_path(view.owned.stacks, s.STACKS, s.STACK, "Python frame")


def folded(trace: Trace, *, host: bool = False) -> pd.DataFrame:
    """Stacks for a flame graph, with ops and kernels as their leaves; columns as schema.FOLDED.

    The time is the exclusive share of device work or, for `host`, the self time of the host.
    """
    view = _View.of(trace)
    found = _folded_host(view.owned) if host else _folded_device(view)
    found = found[found > 0].sort_index()
    return s.FOLDED.frame({s.STACK: found.index, s.NS: found.to_numpy()})


def kinds(trace: Trace) -> pd.DataFrame:
    """Device work by kind; columns as schema.WORK_KINDS."""
    found = owners(trace)
    keys = [found[c].astype("string") for c in (s.WORK_KIND, s.KIND_DETAIL)]
    groups = pd.Series(busy.shares(trace.work)).groupby(keys, dropna=False, sort=True)
    rows = groups.size().index.to_frame(index=False)
    frame = s.WORK_KINDS.frame(
        {
            s.KIND_OF_WORK: rows[s.WORK_KIND],
            s.DETAIL_OF_KIND: rows[s.KIND_DETAIL],
            s.DEVICE_EVENTS: groups.size().to_numpy(),
            s.BUSY_NS: groups.sum().to_numpy(),
        }
    )
    return frame.sort_values(s.BUSY_NS, ascending=False, kind="stable", ignore_index=True)


def owner_coverage(trace: Trace) -> pd.DataFrame:
    """Work by how its owner is known; columns as schema.OWNER_COVERAGE."""
    how = Ownership.of(trace).of_work()[1]
    return s.OWNER_COVERAGE.frame(
        {
            s.HOW_OWNED: np.array(HOW, dtype=object),
            s.DEVICE_EVENTS: np.bincount(how, minlength=len(HOW)),
            s.BUSY_NS: _sums(how, busy.shares(trace.work), len(HOW)),
        }
    )


@dataclass(frozen=True)
class _Rows:
    """The figures of a view: a row each text, then rows for what nothing owns."""

    texts: list[str]
    columns: dict[s.Column, Ints]

    def aligned(self, values: Sequence[str | None]) -> list[str | None]:
        """These values of the owning rows, missing for the rest."""
        return [*values, *[None] * (len(self.texts) - len(values))]


@dataclass(frozen=True)
class _View:
    """What all views of a trace are counted from."""

    trace: Trace
    owned: Ownership

    @classmethod
    def of(cls, trace: Trace) -> Self:
        return cls(trace, Ownership.of(trace))

    @cached_property
    def moments(self) -> Moments:
        """Where each piece of work was launched."""
        return self.owned.of_work()[0]

    @cached_property
    def shares(self) -> Ints:
        """The exclusive share of each piece of work."""
        return busy.shares(self.trace.work)

    @cached_property
    def allocations(self) -> tuple[Moments, Ints]:
        """Where device memory was allocated, and how many bytes."""
        memory = self.trace.memory
        mine = (memory[s.NAME] == ALLOCATOR) & (memory[s.BYTES] > 0)
        memory = of_accelerators(memory[mine])
        threads = thread_numbers(self.trace, memory)
        return self.owned.at(threads, memory[s.TIME_NS]), memory[s.BYTES].to_numpy()

    def by_path(
        self, dimension: Dimension, schema: s.Schema, key: s.Column, what: str
    ) -> pd.DataFrame:
        """A frame of one row a path."""
        every = np.arange(len(dimension.texts))
        whole = np.ones(self.owned.nodes.parent.size, dtype=bool)
        rows = self.rows(dimension, every, dimension.texts, whole, what)
        return _most_first(schema.frame({key: rows.texts, **rows.columns}), key)

    def rows(
        self,
        dimension: Dimension,
        row_of_path: Ints,
        texts: list[str],
        counted: NDArray[np.bool_],
        what: str,
    ) -> _Rows:
        """The figures of each row; `counted` are the nodes whose calls and total time count."""
        outside = [f"(outside any {what})", LEAKED, LOST]
        size = len(texts) + len(outside)
        row_of = np.append(row_of_path, -1)
        own = row_of[dimension.of(self.moments)]
        own = np.where(own >= 0, own, len(texts) + self._without_owner())
        columns = self._host(dimension, row_of, counted, size) | self._device(own, size)
        columns[s.DEVICE_NS] = self._union_below(dimension, row_of, own, size)
        moments, sizes = self.allocations
        where = row_of[dimension.of(moments)]
        columns[s.ALLOCATES] = _sums(np.where(where >= 0, where, len(texts)), sizes, size)
        shown = np.ones(size, dtype=bool)
        shown[len(texts) :] = (columns[s.DEVICE_EVENTS] + columns[s.ALLOCATES])[len(texts) :] > 0
        kept = [text for text, keep in zip([*texts, *outside], shown, strict=True) if keep]
        return _Rows(kept, {column: values[shown] for column, values in columns.items()})

    def _without_owner(self) -> Ints:
        """Why a piece of work would have no owner: 0 launched outside, 1 leaked, 2 lost."""
        lost = self.trace.work[s.LAUNCH].isna().to_numpy()
        return np.where(lost, np.where(self.trace.leaked, 1, 2), 0)

    def _host(
        self, dimension: Dimension, row_of: Ints, counted: NDArray[np.bool_], size: int
    ) -> dict[s.Column, Ints]:
        nodes = self.owned.nodes
        path = dimension.paths.of
        row = row_of[path]
        inside = row >= 0
        entered = inside & (path != np.append(path, -1)[nodes.parent]) & counted
        length = nodes.end - nodes.start
        return {
            s.CALLS: np.bincount(row[entered], minlength=size),
            s.HOST_SELF_NS: _sums(row[inside], nodes.self_ns[inside], size),
            s.HOST_TOTAL_NS: _sums(row[entered], length[entered], size),
        }

    def _device(self, own: Ints, size: int) -> dict[s.Column, Ints]:
        launch = self.trace.work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)
        width = int(launch.max(initial=0)) + 1
        calls = np.unique((own * width + launch)[launch >= 0]) // width
        backward = self.moments.backward
        return {
            s.BUSY_NS: _sums(own, self.shares, size),
            s.BACKWARD_NS: _sums(own[backward], self.shares[backward], size),
            s.LAUNCHES: np.bincount(calls, minlength=size),
            s.DEVICE_EVENTS: np.bincount(own, minlength=size),
        }

    def _union_below(self, dimension: Dimension, row_of: Ints, own: Ints, size: int) -> Ints:
        """The union of the work in each row and in the rows below it."""
        above = np.append(dimension.paths.parent, -1)
        piece, path = np.arange(own.size), dimension.of(self.moments)
        pieces, rows = [piece[path < 0]], [own[path < 0]]
        while (inside := path >= 0).any():
            piece, path = piece[inside], path[inside]
            pieces.append(piece)
            rows.append(row_of[path])
            path = above[path]
        which, row = np.concatenate(pieces), np.concatenate(rows)
        work = self.trace.work[[s.DEVICE_ID, s.START_NS, s.DURATION_NS]]
        return busy.unions(work.iloc[which], row, size)


def _folded_device(view: _View) -> pd.Series:
    owned, work = view.owned, view.trace.work
    names = [_one_line(name) for name in view.trace.host[s.NAME].cat.categories]
    told = (
        (owned.stacks.of(view.moments), [*owned.stacks.texts, ""]),
        (owned.ops.of(view.moments), [*owned.ops.paths.joined(names, ";"), ""]),
        (
            np.asarray(work[s.NAME].cat.codes, dtype=np.int64),
            [*(_one_line(short(name)) for name in work[s.NAME].cat.categories), ""],
        ),
    )
    table = pd.DataFrame({number: code for number, (code, _) in enumerate(told)})
    sums = pd.Series(view.shares).groupby([table[column] for column in table]).sum()
    texts = [
        ";".join(filter(None, (text[code] for (_, text), code in zip(told, key, strict=True))))
        for key in sums.index
    ]
    return pd.Series(sums.to_numpy(), texts).groupby(level=0).sum()


def _folded_host(owned: Ownership) -> pd.Series:
    names = [_one_line(name) for name in owned.trace.host[s.NAME].cat.categories]
    every = np.ones(owned.nodes.parent.size, dtype=bool)
    paths = owned.nodes.paths(every, owned.nodes.name)
    sums = _sums(paths.of, owned.nodes.self_ns, len(paths.label))
    return pd.Series(sums, paths.joined(names, ";"), dtype="int64").groupby(level=0).sum()


def _one_line(name: object) -> str:
    """A name that can be part of a collapsed stack."""
    return " ".join(str(name).replace(";", ":").split()) or "?"


def _sums(row: Ints, values: Ints, size: int) -> Ints:
    result = np.zeros(size, dtype=np.int64)
    np.add.at(result, row, values)
    return result


def _most_first(frame: pd.DataFrame, key: s.Column) -> pd.DataFrame:
    order = [s.BUSY_NS, s.HOST_SELF_NS, key]
    return frame.sort_values(
        order, ascending=[False, False, True], kind="stable", ignore_index=True
    )
