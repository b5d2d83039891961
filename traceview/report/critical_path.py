"""What the length of a step consists of, from its end back to its begin."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Section
from traceview.metrics import critical_path as metric
from traceview.metrics.steps import steps
from traceview.report import pictures, timeline
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.schema import Column
from traceview.trace import WORK, Trace
from traceview.units import Unit

SCHEMA = "traceview.critical_path/1"
EXPLAINED = {
    "kernel": "kernels ran, and what came next waited for them",
    "gpu_memcpy": "copies ran, and what came next waited for them",
    "gpu_memset": "memory was set, and what came next waited for it",
    "queued": "between two pieces of work that were launched in time",
    "graph": "between the kernels of one graph launch",
    "stream_wait": "a stream waited for an event of another one",
    "launch_latency": "from the return of the launch call to the start of the work",
    "unlinked": "work that waited for nothing the recording shows",
    "sync": "the host was in a call that waits for the GPU, with the GPU done",
    "memcpy_blocking": "the host was in a copy that blocks, with the GPU done",
    "allocation": "the host allocated or freed memory",
    "overhead": "the host loaded code",
    "launch_call": "the host was in runtime or driver calls",
    "cpu_op": "the host was in ops",
    "dataloader": "the host waited for data",
    "python": "the host was in Python, outside any op",
    "unobserved": "nothing of the host's thread is recorded",
}
"""The kinds of stretches in words, as `traceview.metrics.critical_path` defines them."""

_SHARE = Column("share", "Float64", Unit.SHARE, "share of the path")
_MEANING = Column("meaning", "string", Unit.TEXT, "the kind in words")


def document(trace: Trace, *, limit: int | None = None) -> Document:
    """The report, of the steps that count; `limit` is how many ops text shows."""
    every = steps(trace)
    counted = every[every[s.EXCLUDED].isna()]
    path = metric.critical_path(trace, counted)
    parts, ops = metric.critical_path_parts(path), metric.critical_path_ops(path)
    kinds = _by_kind(path)
    kind_fields = {
        s.PATH_KIND: field(s.PATH_KIND, "on the path"),
        s.NS: field(s.NS, "time"),
        _SHARE: field(_SHARE, "share"),
        _MEANING: field(_MEANING, "meaning", prose=True),
    }
    op_fields = {
        s.OP: field(s.OP, "op", stretch=True),
        s.PATH_HOST_NS: field(s.PATH_HOST_NS, "on the host"),
        s.PATH_DEVICE_NS: field(s.PATH_DEVICE_NS, "in its GPU work"),
        s.NS: field(s.NS, "time"),
    }
    sections = (
        Section(
            "By kind",
            (_adds_up(path),),
            (table("critical_path_kinds", kinds, kind_fields),),
            (lambda: pictures.bars("On the path", kinds, s.PATH_KIND, s.NS),),
        ),
        *timeline.section(trace),
        Section("Ops on it", (), (table("critical_path_ops", ops, op_fields, limit or 12),)),
        coverage_section(trace),
    )
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "parts": records(parts, s.CRITICAL_PARTS.columns),
        "ops": records(ops, s.CRITICAL_OPS.columns),
    }
    return Document("critical_path", title(trace), tuple(_lead(path, kinds)), sections, data)


def _by_kind(path: pd.DataFrame) -> pd.DataFrame:
    sums = path.groupby(s.PATH_KIND)[s.DURATION_NS].sum()
    sums = sums.sort_values(ascending=False, kind="stable")
    total = int(sums.sum())
    return pd.DataFrame(
        {
            s.PATH_KIND: sums.index,
            s.NS: sums.to_numpy(),
            _SHARE: [int(ns) / total for ns in sums],
            _MEANING: [EXPLAINED[str(kind)] for kind in sums.index],
        }
    )


def _lead(path: pd.DataFrame, kinds: pd.DataFrame) -> Iterator[str]:
    total = int(path[s.DURATION_NS].sum())
    if not total:
        yield "Neither ops nor device work, so no path."
        return
    worked = int(kinds[s.NS][kinds[s.PATH_KIND].isin(WORK)].sum())
    share = units.percent(worked / total)
    host = int(path.loc[path[s.ON_DEVICE].isna(), s.DURATION_NS].sum())
    yield f"{share} of the path is GPU work, {units.percent(host / total)} is the host."
    largest, meaning = (str(kinds[column].iloc[0]) for column in (s.PATH_KIND, _MEANING))
    yield f"Most of it is {largest}: {meaning}."
    if host > total / 2:
        yield f"Faster kernels cannot shorten it by more than {share}; less work for the host can."


def _adds_up(path: pd.DataFrame) -> str:
    length, count = int(path[s.DURATION_NS].sum()), int(path[s.STEP_NUMBER].nunique())
    what = "one path" if count == 1 else f"the paths of {count:,} steps"
    return f"The rows add up to {units.text(length, Unit.NS)}, the length of {what}."
