"""Whether both sides call the same ops on inputs of the same shapes and types.

Only asked where both recordings have them (record_shapes=True). The same ops, the same number of
times, on other shapes are another job, however alike the names look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pandas as pd

from traceview import intervals
from traceview import schema as s
from traceview.diff.measure import Measured
from traceview.diff.reasons import Reason
from traceview.trace import OP

_SHAPE = re.compile(r"\[\d+(?:,\s*\d+)+\]")
_SHOWN = 3
_TOLERATED = 0.05
"""Share of calls that may lack a partner where the ops are the same: shapes that grow from step to
step differ at the ends of the recordings."""


def shape_reasons(before: Measured, after: Measured) -> Iterator[Reason]:
    """At most one reason for shapes and one for types.

    A change of algorithm calls other ops, and the same op on other inputs too: then only sides
    without any input shape in common are told apart.
    """
    left, right = _ops(before), _ops(after)
    if left.empty or right.empty:
        return
    if _rates(left, before) != _rates(right, after):
        if not (_tensors(left) & _tensors(right)):
            yield Reason("shapes_differ", "no input shape occurs on both sides")
        return
    if differing := _differing(left, right, s.INPUT_DIMS):
        text = f"the same ops work on other shapes: {differing}"
        yield Reason("shapes_differ", text, forbids=True)
    if differing := _differing(left, right, s.INPUT_TYPES):
        text = f"the same ops work on other types: {differing}"
        yield Reason("dtypes_differ", text, factor="dtype")


def _ops(recording: Measured) -> pd.DataFrame:
    """The ops of the steps that count that have recorded shapes."""
    ops = recording.trace.host_of(OP)
    ops = ops[ops[s.INPUT_DIMS].notna()]
    if recording.used.empty:
        return ops
    begin = recording.used[s.START_NS].to_numpy()
    end = begin + recording.used[s.HOST_NS].to_numpy()
    return ops[intervals.innermost(begin, end, ops[s.START_NS]) >= 0]


def _rates(ops: pd.DataFrame, recording: Measured) -> dict[str, float]:
    """Calls a step of each op."""
    sizes = ops.groupby(s.NAME, observed=True).size()
    steps = max(len(recording.used), 1)
    return {str(name): round(count / steps, 3) for name, count in sizes.items()}


def _tensors(ops: pd.DataFrame) -> set[str]:
    """The shapes of two or more dimensions that occur among the inputs."""
    listed = ops[s.INPUT_DIMS].astype("str").unique()
    return {shape for dims in listed for shape in _SHAPE.findall(dims)}


def _differing(left: pd.DataFrame, right: pd.DataFrame, column: str) -> str:
    """Ops whose calls on one side have no partner on the other, most calls first, in words."""
    first, second = (_calls(frame, column) for frame in (left, right))
    lonely: Counter[str] = Counter()
    for calls, others in ((first, second), (second, first)):
        for name, inputs in calls.items():
            lonely[name] += sum(n for value, n in inputs.items() if value not in others[name])
    total = {name: sum(first[name].values()) + sum(second[name].values()) for name in lonely}
    found = [name for name, n in lonely.most_common() if n > _TOLERATED * total[name]]
    shown = [
        f"{name} {first[name].most_common(1)[0][0]} against {second[name].most_common(1)[0][0]}"
        for name in found[:_SHOWN]
    ]
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "; ".join(shown + more)


def _calls(ops: pd.DataFrame, column: str) -> dict[str, Counter[str]]:
    """How often each op is called on each kind of input."""
    pairs = ops.groupby([s.NAME, column], observed=True).size().reset_index(name="calls")
    result: dict[str, Counter[str]] = {}
    for name, value, count in pairs.itertuples(index=False, name=None):
        result.setdefault(str(name), Counter())[str(value)] = int(count)
    return result
