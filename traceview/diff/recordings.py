"""The recordings of a side: repeated runs of one program, never ranks of one job."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

from traceview.diff.measure import Measured, first_is_unfit, measure
from traceview.errors import UsageError
from traceview.trace import Trace

Side = Trace | Sequence[Trace]
"""One recording or several of the same program."""


def measured(before: Side, after: Side) -> tuple[tuple[Measured, ...], tuple[Measured, ...]]:
    """Both sides, measured over the steps that count, chosen the same way on both.

    Raises UsageError when a side has no recording, holds one twice, or is of ranks.
    """
    left, right = ((side,) if isinstance(side, Trace) else tuple(side) for side in (before, after))
    _check("before", left)
    _check("after", right)
    results = _measured((*left, *right))
    return results[: len(left)], results[len(left) :]


def measured_side(name: str, traces: Sequence[Trace]) -> tuple[Measured, ...]:
    """Repeated recordings of one program, measured; errors as for `measured`."""
    _check(name, traces)
    return _measured(tuple(traces))


def _measured(traces: tuple[Trace, ...]) -> tuple[Measured, ...]:
    without_first = any(map(first_is_unfit, traces))
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(_measure, traces, repeat(without_first)))


def _measure(trace: Trace, without_first: bool) -> Measured:
    return measure(trace, without_first=without_first)


def _check(name: str, side: Sequence[Trace]) -> None:
    if not side:
        raise UsageError(f"no recording {name}: give at least one trace a side")
    ranks = {trace.metadata.rank for trace in side} - {None}
    if len(ranks) > 1:
        listed = ", ".join(map(str, sorted(r for r in ranks if r is not None)))
        raise UsageError(
            f"the files {name} are ranks {listed} of a job, not repeated recordings of one "
            "program: give the same rank of each run"
        )
    if len({trace.fingerprint for trace in side}) < len(side):
        raise UsageError(f"a recording occurs twice {name}: give each once")
