"""What a recording supplies: which views can be computed from it, and what the others lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from traceview import calls, intervals
from traceview import schema as s
from traceview.trace import (
    ANNOTATION,
    FRAME,
    LAUNCHING,
    MODULE_PREFIX,
    OP,
    STEP_PREFIX,
    SYNC_RECORD,
    Trace,
    extent,
)
from traceview.workload import PROPERTY

YES, PARTLY, NO = "yes", "partly", "no"


class _Fact(NamedTuple):
    """Something that a recording may hold: a test, what it lacks in words, how to record it."""

    holds: Callable[[Trace], bool]
    lacks: str
    supply: str


def _has(*categories: str) -> Callable[[Trace], bool]:
    return lambda trace: not trace.host_of(*categories).empty


def _known(column: s.Column) -> Callable[[Trace], bool]:
    return lambda trace: bool(trace.host[column].notna().any())


def _named(category: str, *, prefix: str, has: bool = True) -> Callable[[Trace], bool]:
    """Whether an event of a category has a name that begins so, or one that does not."""

    def test(trace: Trace) -> bool:
        names = trace.host_of(category)[s.NAME].astype("str")
        return bool((names.str.startswith(prefix) == has).any())

    return test


def _has_steps(trace: Trace) -> bool:
    ranges = trace.host_of(ANNOTATION, OP)
    return bool(ranges[s.NAME].astype("str").str.startswith(STEP_PREFIX).any())


def _waits_are_known(trace: Trace) -> bool:
    """No stream waits for another one, or the recording says for which."""
    return calls.event_waits(trace).empty or not trace.host_of(SYNC_RECORD).empty


_CUDA = "activities=[..., ProfilerActivity.CUDA] (or XPU)"
_CPU = "activities=[ProfilerActivity.CPU, ...]"
_STACK = "with_stack=True"
_WORK = _Fact(lambda trace: not trace.work.empty, "device work", _CUDA)
_LAUNCHES = _Fact(
    lambda trace: bool(trace.work[s.LAUNCH].notna().any()), "launch calls of the device work", _CUDA
)
_CALLS = _Fact(_has(*LAUNCHING), "runtime and driver calls", _CUDA)
_OPS = _Fact(_has(OP), "ops", _CPU)
_HOST = _Fact(lambda trace: not trace.host.empty, "host events", _CPU)
_STEPS = _Fact(_has_steps, "steps: the whole window counts as one", "schedule=..., and prof.step()")
_ANNOTATIONS = _Fact(
    _named(ANNOTATION, prefix=STEP_PREFIX, has=False),
    "annotations",
    "record_function(...) around it",
)
_MODULES = _Fact(
    lambda trace: _named(FRAME, prefix=MODULE_PREFIX)(trace) or _known(s.MODULES)(trace),
    "calls of nn.Modules", f"{_STACK} (or with_modules=True)",
)  # fmt: skip
_STACKS = _Fact(
    lambda trace: _has(FRAME)(trace) or _known(s.CALL_STACK)(trace), "Python stacks", _STACK
)
_SHAPES = _Fact(_known(s.INPUT_DIMS), "shapes of inputs", "record_shapes=True")
_MEMORY = _Fact(lambda trace: not trace.memory.empty, "memory events", "profile_memory=True")
_TOTALS = _Fact(
    lambda trace: bool(trace.memory[s.ALLOCATED].notna().any()),
    "the allocator's totals: the curve is relative", "torch 1.10 or newer",
)  # fmt: skip
_ADDRESSES = _Fact(
    lambda trace: bool(trace.memory[s.ADDRESS].notna().any()),
    "addresses: no owner of what is alive", "torch 1.10 or newer",
)  # fmt: skip
_WAITS = _Fact(
    _waits_are_known, "which stream waits for which",
    "experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)",
)  # fmt: skip
_DECLARED = _Fact(
    lambda trace: PROPERTY in trace.metadata.properties,
    "a declared workload: whether two are of the same work is told by ops and shapes alone",
    "traceview capture",
)

_VIEWS: dict[str, tuple[tuple[_Fact, ...], tuple[_Fact, ...]]] = {
    "summary": ((), (_WORK, _HOST, _MEMORY)),
    "steps": ((), (_STEPS, _WORK)),
    "kernels": ((_WORK,), ()),
    "gaps": ((_WORK,), (_LAUNCHES, _OPS, _WAITS)),
    "launches": ((_LAUNCHES,), ()),
    "syncs": ((_CALLS,), (_OPS,)),
    "memory": ((_MEMORY,), (_TOTALS, _ADDRESSES)),
    "ops": ((_OPS,), (_WORK, _SHAPES)),
    "annotations": ((_ANNOTATIONS,), (_WORK,)),
    "modules": ((_MODULES,), (_WORK,)),
    "stacks": ((_STACKS,), ()),
    "roofline": ((_WORK, _OPS, _SHAPES), ()),
    "critical-path": ((_HOST,), (_WORK, _LAUNCHES, _WAITS)),
    "diff": ((), (_WORK, _STEPS, _MEMORY, _DECLARED)),
}
"""Of each view what it cannot do without, and what it is less without."""


def views(trace: Trace) -> pd.DataFrame:
    """Which views the recording supplies; columns as schema.VIEWS.

    A view that lacks nothing is a row without `lacks`; of one that cannot be computed only what it
    cannot do without is named.
    """
    held: dict[_Fact, bool] = {}

    def lacking(facts: tuple[_Fact, ...]) -> list[_Fact]:
        for fact in facts:
            if fact not in held:
                held[fact] = fact.holds(trace)
        return [fact for fact in facts if not held[fact]]

    rows = [
        row
        for view, (needed, wanted) in _VIEWS.items()
        for row in _rows(view, lacking(needed), lacking(wanted))
    ]
    return s.VIEWS.of_rows(rows)


def _rows(
    view: str, missing: list[_Fact], wanted: list[_Fact]
) -> Iterator[tuple[str, str, str | None, str | None]]:
    if not missing and not wanted:
        yield view, YES, None, None
    for fact in missing or wanted:
        yield view, NO if missing else PARTLY, fact.lacks, fact.supply


def recorded(trace: Trace) -> pd.DataFrame:
    """What events there are, and how much time they cover; columns as schema.RECORDED.

    Host events first, then those of devices, then those of the allocator, which have no length.
    """
    parts = [_by_category(frame) for frame in (trace.host, trace.device)]
    memory = trace.memory[s.NAME].astype("string").value_counts()
    parts.append(
        s.RECORDED.frame(
            {
                s.CATEGORY: memory.index.to_numpy(dtype=object),
                s.ENTRIES: memory.to_numpy(),
                s.COVERED_NS: pd.array([pd.NA] * len(memory), dtype="Int64"),
            }
        )
    )
    return pd.concat(
        [part.astype({s.CATEGORY: "string"}) for part in parts], ignore_index=True
    ).astype({s.CATEGORY: "category"})


def _by_category(frame: pd.DataFrame) -> pd.DataFrame:
    category = frame[s.CATEGORY].astype("string")
    label, names = pd.factorize(category, sort=True, use_na_sentinel=False)
    start, end = extent(frame)
    usable = np.flatnonzero(~frame[s.CORRUPT].to_numpy()) if s.CORRUPT in frame else slice(None)
    return s.RECORDED.frame(
        {
            s.CATEGORY: np.asarray(names, dtype=object),
            s.ENTRIES: np.bincount(label, minlength=len(names)),
            s.COVERED_NS: intervals.union_lengths(
                label[usable], start[usable], end[usable], len(names)
            ),
        }
    )
