"""Where the difference comes from: rows that add up to the change of the device period, to the ns.

A period consists of busy and idle time. Busy time is divided over the work by its path (region, op,
kernel), idle time over its causes. Each side is brought to a figure a step by largest remainder, so
that its parts add up; so do then their differences, however the parts are matched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from traceview import schema as s
from traceview.diff.match import Change, Level, Match, Node, Path, match
from traceview.diff.measure import Measured
from traceview.intervals import apportion
from traceview.kernel_names import normalized

BUSY, IDLE = "busy", "idle"
SEPARATOR = " > "
ANYWHERE = "anywhere"
"""The path of a replacement of which no common region is known."""
_LEVELS = (
    (s.ANNOTATION_PATH, Level.ANNOTATION),
    (s.MODULE_PATH, Level.MODULE),
    (s.OP_PATH, Level.OP),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Work of one path: ns a step, calls a step, ns a call, and ns a call that runs alone.

    Alone is a kernel that overlaps no communication and no copy; None where there is none.
    """

    ns: int
    calls: float
    call_ns: float
    alone_ns: float | None = None


@dataclass(frozen=True, slots=True)
class PerStep:
    """One side a step, ns: period = busy + idle; `work` adds up to busy, `idle` to idle."""

    period_ns: int
    busy_ns: int
    idle_ns: int
    work: Mapping[Path, Cost]
    idle: Mapping[str, int]


def per_step(side: Sequence[Measured]) -> PerStep:
    """The mean step of one or more recordings of a program."""
    count = sum(recording.count for recording in side)
    work = pd.concat([_by_path(recording.work) for recording in side])
    work = work.groupby(level=list(range(work.index.nlevels)), dropna=False, sort=True).sum()
    idle = pd.concat([recording.idle for recording in side]).groupby(level=0).sum()
    busy_ns, idle_ns = apportion([int(work["busy"].sum()), int(idle.sum())], count).tolist()
    shares = apportion(work["busy"].to_numpy(), count, busy_ns).tolist()
    means = zip(*(work[column].tolist() for column in work), strict=True)
    costs = {
        _path(key): Cost(
            ns,
            calls / count,
            total / max(calls, 1),
            alone_total / alone if alone else None,
        )
        for key, ns, (_, calls, total, alone, alone_total) in zip(
            work.index, shares, means, strict=True
        )
    }
    causes = apportion(idle.to_numpy(), count, idle_ns).tolist()
    return PerStep(
        busy_ns + idle_ns,
        busy_ns,
        idle_ns,
        costs,
        dict(zip(map(str, idle.index), causes, strict=True)),
    )


def attribution(before: PerStep, after: PerStep) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows and what the replaced ones consist of.

    (columns as schema.ATTRIBUTION, largest change first; columns as schema.REPLACED)
    """
    matches = match(before.work, after.work)
    rows = [_busy_row(found, before.work, after.work) for found in matches]
    rows += [_idle_row(cause, before, after) for cause in sorted({**before.idle, **after.idle})]
    order = sorted(
        range(len(rows)), key=lambda i: (-abs(rows[i].delta), rows[i].kind, rows[i].path)
    )
    frame = s.ATTRIBUTION.of_rows([rows[i].cells() for i in order])
    number = {index: place for place, index in enumerate(order)}
    members = [
        (number[index], side, SEPARATOR.join(node.name for node in path), cost.ns, cost.calls)
        for index, found in enumerate(matches)
        if found.change is Change.REPLACED
        for side, paths, costs in (
            ("before", found.before, before.work),
            ("after", found.after, after.work),
        )
        for path in sorted(paths, key=lambda p: -costs[p].ns)
        for cost in (costs[path],)
    ]
    return frame, s.REPLACED.of_rows(members)


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    path: str
    before: int
    after: int
    change: Change
    before_calls: float | None = None
    after_calls: float | None = None
    before_call_ns: float | None = None
    after_call_ns: float | None = None
    before_alone_ns: float | None = None
    after_alone_ns: float | None = None
    confidence: float = 1.0
    region: str = ""
    label: str | None = None

    @property
    def delta(self) -> int:
        return self.after - self.before

    def cells(self) -> tuple[object, ...]:
        return (self.kind, self.path, self.before, self.after, self.delta, self.change.value,
                self.region, self.before_calls, self.after_calls, self.before_call_ns,
                self.after_call_ns, self.before_alone_ns, self.after_alone_ns,
                self.confidence, self.label)  # fmt: skip


def _busy_row(found: Match, before: Mapping[Path, Cost], after: Mapping[Path, Cost]) -> _Row:
    left, right = _summed(found.before, before), _summed(found.after, after)
    replaced = found.change is Change.REPLACED
    region = found.parent if replaced else found.parent[:-1]
    return _Row(
        BUSY,
        _text(found.parent) or ANYWHERE,
        left.ns,
        right.ns,
        found.change,
        left.calls,
        right.calls,
        left.call_ns if found.before else None,
        right.call_ns if found.after else None,
        left.alone_ns,
        right.alone_ns,
        found.confidence,
        _text(region),
        _replacement(found, before, after) if replaced else None,
    )


def _idle_row(cause: str, before: PerStep, after: PerStep) -> _Row:
    present = cause in before.idle, cause in after.idle
    change = {
        (True, True): Change.BOTH,
        (True, False): Change.ONLY_BEFORE,
        (False, True): Change.ONLY_AFTER,
    }[present]
    return _Row(IDLE, cause, before.idle.get(cause, 0), after.idle.get(cause, 0), change)


def _summed(paths: Sequence[Path], costs: Mapping[Path, Cost]) -> Cost:
    chosen = [costs[path] for path in paths]
    if len(chosen) == 1:
        return chosen[0]
    calls = sum(cost.calls for cost in chosen)
    total = sum(cost.calls * cost.call_ns for cost in chosen)
    return Cost(sum(cost.ns for cost in chosen), calls, total / calls if calls else 0.0)


def _replacement(found: Match, before: Mapping[Path, Cost], after: Mapping[Path, Cost]) -> str:
    """`bmm + softmax + bmm -> flash_fwd`: the ops of both sides, those of most time first."""
    return " -> ".join(
        _listed(paths, costs, len(found.parent))
        for paths, costs in ((found.before, before), (found.after, after))
    )


_LISTED = 5


def _listed(paths: Sequence[Path], costs: Mapping[Path, Cost], depth: int) -> str:
    """What the paths are called below their parent: their innermost op, else their kernel."""
    times: dict[str, int] = {}
    for path in paths:
        below = [node for node in path[depth:] if node.level is not Level.KERNEL] or [path[-1]]
        name = below[-1].name.removeprefix("aten::")
        times[name] = times.get(name, 0) + costs[path].ns
    names = sorted(times, key=lambda name: -times[name])
    more = f" + {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return " + ".join(names[:_LISTED]) + more


def paths(work: pd.DataFrame) -> list[str]:
    """The text of the path of each piece of work (columns as `Measured.work`)."""
    columns = (*(work[column].astype("str") for column, _ in _LEVELS), work[s.NAME].astype("str"))
    keys = list(zip(*columns, strict=True))
    texts = {key: _text(_path((*key[:-1], normalized(key[-1])))) for key in set(keys)}
    return [texts[key] for key in keys]


def _by_path(work: pd.DataFrame) -> pd.DataFrame:
    """Of each path of one recording: busy share, calls and summed duration, these also alone."""
    names = work[s.NAME].astype("str")
    kernels = names.map({name: normalized(name) for name in names.unique()})
    keys = [work[column].astype("str").to_numpy() for column, _ in _LEVELS]
    alone = ~work[s.ACCOMPANIED].to_numpy()
    duration = work[s.DURATION_NS].to_numpy()
    figures = pd.DataFrame(
        {
            "busy": work[s.BUSY_NS].to_numpy(),
            "calls": np.ones(len(work), dtype=np.int64),
            "total": duration,
            "alone": alone.astype(np.int64),
            "alone_total": np.where(alone, duration, 0),
        }
    )
    return figures.groupby([*keys, kernels.to_numpy()], dropna=False, sort=True).sum()


def _path(key: Sequence[object]) -> Path:
    """The nodes of one row: each level's names from the outside in, then the kernel."""
    *levels, kernel = key
    nodes = [
        Node(level, name)
        for text, (_, level) in zip(levels, _LEVELS, strict=True)
        if isinstance(text, str) and text
        for name in text.split("/")
    ]
    return (*nodes, Node(Level.KERNEL, str(kernel)))


def _text(path: Path) -> str:
    return SEPARATOR.join(node.name for node in path)
