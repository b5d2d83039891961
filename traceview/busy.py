"""Busy time: what device work adds up to, device by device.

An instant in which several pieces of work run on one device counts once, and one in which two
devices work counts twice: busy time is that of all devices together.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from traceview import intervals
from traceview import schema as s
from traceview.intervals import Ints
from traceview.trace import extent


def shares(work: pd.DataFrame) -> Ints:
    """The exclusive share of each piece of work, ns.

    Each instant of a device belongs in equal parts to what runs in it, so that the shares add up
    to the busy time exactly.
    """
    return intervals.shares_apart(work[s.DEVICE_ID], *extent(work))


def union(work: pd.DataFrame) -> int:
    """How long the devices are busy with this work, ns."""
    return int(unions(work, np.zeros(len(work), dtype=np.int64), 1)[0])


def unions(work: pd.DataFrame, labels: ArrayLike, count: int) -> Ints:
    """How long the devices are busy with the work of each label 0 .. count - 1, ns."""
    devices, device = np.unique(work[s.DEVICE_ID], return_inverse=True)
    many = max(devices.size, 1)
    label = np.asarray(labels, dtype=np.int64) * many + device
    lengths = intervals.union_lengths(label, *extent(work), count * many)
    return np.asarray(lengths.reshape(count, many).sum(axis=1))
