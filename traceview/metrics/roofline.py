"""How fast matrix products, convolutions and attention run, beside what the GPU could do.

Operations and least traffic follow from the recorded shapes and types (`traceview.flops`); the time
is the union of the device work that the op launched. Ops whose shapes or work were not recorded
have no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from traceview import busy
from traceview import schema as s
from traceview.flops import cost, is_costed, shapes_text
from traceview.intervals import Ints
from traceview.kernel_kinds import TENSOR_CORES, kernel_kind
from traceview.owners import Ownership
from traceview.peaks import Peak, peak_of
from traceview.trace import Trace
from traceview.tree import Nodes

COMPUTE, MEMORY = "compute", "memory"
_TOLD = [s.NAME, s.INPUT_DIMS, s.INPUT_TYPES, s.CONCRETE_INPUTS]
_KEY = [s.OP, s.SHAPES, s.PRECISION]
_AMOUNTS = [s.USEFUL_FLOP, s.EXECUTED_FLOP, s.LEAST_BYTES]


def roofline(trace: Trace, peaks: Mapping[str, float] | None = None) -> pd.DataFrame:
    """One row an op, its shapes and its precision, most time first; columns as schema.ROOFLINE.

    Of ops within each other the outermost counts. `peaks` are rates by `traceview.peaks.NAMES`, in
    10^12 a second, that count instead of the table's. Shares are missing for an unknown GPU.
    """
    owned = Ownership.of(trace)
    costs = _costs(trace, owned)
    node = _outermost(owned, costs.index.to_numpy(dtype=np.intp))
    calls = costs.loc[np.unique(node[node >= 0])]
    groups = calls.groupby(_KEY, sort=True)
    keys = groups.size().index.to_frame(index=False)
    row = np.full(owned.nodes.parent.size + 1, -1)
    row[calls.index] = groups.ngroup()
    figures: dict[s.Column, Any] = {
        **{column: keys[column] for column in _KEY},
        s.CALLS: groups.size().to_numpy(dtype=np.int64),
        **{column: groups[column].sum().to_numpy(dtype=np.int64) for column in _AMOUNTS},
        s.DEVICE_NS: _time(trace, row[node], len(keys)),
    }
    figures[s.PRECISION] = _as_run(trace, keys[s.PRECISION], row[node])
    frame = _with_rates(figures, peak_of(trace.metadata.device_names, peaks))
    order = [s.DEVICE_NS, s.OP, s.SHAPES]
    return frame.sort_values(order, ascending=[False, True, True], ignore_index=True)


def _costs(trace: Trace, owned: Ownership) -> pd.DataFrame:
    """The costs of the ops that have any, by node."""
    names = trace.host[s.NAME].cat
    member = np.array([*(is_costed(str(name)) for name in names.categories), False], dtype=bool)
    node = np.flatnonzero(member[owned.nodes.name] & owned.nodes.is_op)
    told = trace.host[_TOLD].iloc[owned.nodes.position[node]]
    combination = told.groupby(_TOLD, dropna=False, observed=True, sort=False).ngroup().to_numpy()
    _, example = np.unique(combination, return_index=True)
    texts = told.iloc[example].astype("object")
    rows = [
        (str(name), shapes_text(dims), found.precision, *found[:3])
        if found is not None
        else (None,) * 6
        for name, dims, types, values in texts.where(texts.notna(), None).to_numpy().tolist()
        for found in (cost(str(name), dims, types, values),)
    ]
    table = pd.DataFrame(rows, columns=[*_KEY, *_AMOUNTS], dtype="object")
    return table.iloc[combination].set_index(node).dropna(subset=s.OP)


def _outermost(owned: Ownership, costed: Nodes) -> Nodes:
    """For each piece of work the outermost costed node around its launch, -1 for none."""
    has = np.zeros(owned.nodes.parent.size, dtype=bool)
    has[costed] = True
    around = np.append(owned.nodes.nearest(has), -1)[owned.nodes.parent]
    top = owned.nodes.nearest(has & (around < 0))
    return np.append(top, -1)[owned.of_work()[0].node]


def _time(trace: Trace, row: Ints, size: int) -> Ints:
    """The union of the work of each row, ns."""
    mine = row >= 0
    return busy.unions(trace.work[mine], row[mine], size)


def _as_run(trace: Trace, precision: pd.Series, row: Ints) -> pd.Series:
    """The precisions, where 32-bit products ran on tensor cores: tf32."""
    names = trace.work[s.NAME].cat
    tensor = [kernel_kind(str(name)).detail == TENSOR_CORES for name in names.categories]
    on_tensor_cores = np.array([*tensor, False])[names.codes.to_numpy()] & (row >= 0)
    rounded = precision.index.isin(row[on_tensor_cores]) & (precision == "fp32")
    return precision.mask(rounded, "tf32")


def _with_rates(figures: Mapping[s.Column, Any], peak: Peak | None) -> pd.DataFrame:
    amounts = {c: pd.Series(figures[c], dtype="Float64") for c in (*_AMOUNTS, s.DEVICE_NS)}
    seconds = amounts[s.DEVICE_NS].mask(amounts[s.DEVICE_NS] == 0) / 1e9
    flops = [peak.flops(str(name)) if peak else None for name in figures[s.PRECISION]]
    most = pd.Series(pd.array(flops, dtype="Float64"))
    widest = peak.bytes if peak is not None else None
    useful, executed, moved = (amounts[column] / seconds for column in _AMOUNTS)
    compute = executed / most
    memory = moved / widest if widest else moved.mask(moved.notna())
    bound = pd.Series(pd.NA, index=compute.index, dtype="string")
    bound = bound.mask((compute >= memory).fillna(value=False), COMPUTE)
    bound = bound.mask((compute < memory).fillna(value=False), MEMORY)
    return s.ROOFLINE.frame(
        {
            **figures,
            s.USEFUL_RATE: useful,
            s.EXECUTED_RATE: executed,
            s.BYTE_RATE: moved,
            s.COMPUTE_SHARE: compute,
            s.MEMORY_SHARE: memory,
            s.BOUND: bound,
        }
    )
