"""Which device work takes the time: one row a name."""

from __future__ import annotations

import numpy as np
import pandas as pd

from traceview import intervals
from traceview import schema as s
from traceview.trace import Trace


def kernels(trace: Trace) -> pd.DataFrame:
    """Count and time of each kernel, copy and memset by name; columns as schema.KERNELS.

    busy_ns is the exclusive share: an instant in which several pieces of work run is divided
    equally among them, so that the column adds up to the busy time of all devices. Sorted by it.
    """
    work = trace.work
    start = work[s.START_NS].to_numpy()
    shares = intervals.shares_apart(
        work[s.DEVICE_ID], start, start + work[s.DURATION_NS].to_numpy()
    )
    work = work.assign(**{s.BUSY_NS: shares})
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
            s.MEDIAN_NS: np.floor(durations.median().to_numpy()).astype(np.int64),
        }
    )
    return frame.sort_values(
        [s.BUSY_NS, s.NAME], ascending=[False, True], kind="stable", ignore_index=True
    )
