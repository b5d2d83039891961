"""Which device work takes the time: one row a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import busy
from traceview import schema as s
from traceview.trace import Trace

_USUAL = {"maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "numSms": 132}
"""Properties of a device that bound its occupancy, and what to suppose where it has none."""


def kernels(trace: Trace) -> pd.DataFrame:
    """Count and time of each kernel, copy and memset by name; columns as schema.KERNELS.

    busy_ns is the exclusive share: an instant in which several pieces of work run is divided
    equally among them, so that the column adds up to the busy time of all devices. Sorted by it.
    """
    work = trace.work
    work = work.assign(**{s.BUSY_NS: busy.shares(work)})
    by_name = work.groupby([s.NAME, s.CATEGORY], dropna=False, observed=True, sort=True)
    durations = by_name[s.DURATION_NS]
    keys = by_name.size().index.to_frame(index=False)
    frame = s.KERNELS.frame(
        {
            s.NAME: keys[s.NAME],
            s.CATEGORY: keys[s.CATEGORY],
            s.COUNT: durations.size().to_numpy(),
            s.BUSY_NS: by_name[s.BUSY_NS].sum().to_numpy(),
            s.TOTAL_NS: durations.sum().to_numpy(),
            s.MEAN_OCCUPANCY: _mean(
                work, by_name.ngroup().to_numpy(dtype=np.int64), by_name.ngroups, occupancy(trace)
            ),
            s.MEDIAN_NS: np.floor(durations.median().to_numpy()).astype(np.int64),
        }
    )
    return frame.sort_values(
        [s.BUSY_NS, s.NAME], ascending=[False, True], kind="stable", ignore_index=True
    )


def occupancy(trace: Trace) -> pd.Series:
    """The estimated achieved occupancy of each piece of `trace.work`, per cent.

    A recorded 0 is missing where the grid, block and registers imply at least one per cent: it was
    not measured, as for kernels that take much shared memory (format notes, 2.4).
    """
    work = trace.work
    recorded = work[s.OCCUPANCY]
    threads, blocks = _size(work[s.BLOCK]), _size(work[s.GRID])
    listed = trace.metadata.properties.get("deviceProperties")
    first = listed[0] if isinstance(listed, list) and listed else None
    gpu = first if isinstance(first, Mapping) else {}
    stated = (gpu.get(name) for name in _USUAL)
    room, registers, processors = (
        value if isinstance(value, int) and value > 0 else usual
        for value, usual in zip(stated, _USUAL.values(), strict=True)
    )
    taken = work[s.REGISTERS].astype("Float64") * threads
    limit = np.floor(registers / taken.mask(taken == 0)).fillna(_MOST_BLOCKS)
    resident = np.fmin(blocks / processors, limit)
    implied = 100 * resident * threads / room
    return recorded.mask((recorded == 0) & (implied >= 1).fillna(value=False))


_MOST_BLOCKS = 32
"""Blocks that a multiprocessor holds where registers set no limit."""


def _size(lists: pd.Series) -> pd.Series:
    """The product of the numbers in recorded lists such as `[64, 1, 1]`."""
    sizes = {text: prod(map(int, re.findall(r"\d+", str(text)))) for text in lists.cat.categories}
    return lists.astype("object").map(sizes).astype("Float64")


def _mean(work: pd.DataFrame, group: NDArray[Any], groups: int, percent: pd.Series) -> pd.Series:
    """The mean by duration in each group, rounded down."""
    known = percent.notna().to_numpy()
    weight = np.where(known, work[s.DURATION_NS].to_numpy(), 0)
    total = np.bincount(group, weight, groups)
    times = np.bincount(group, weight * percent.fillna(0).to_numpy(dtype=np.int64), groups)
    means = pd.Series(times // np.maximum(total, 1)).astype("Int64")
    return means.mask(total == 0)
