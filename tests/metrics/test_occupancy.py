"""Occupancy, where 0 may mean that it was not measured."""

from typing import Any

import pandas as pd
from builders import H200, TraceBuilder

from traceview import schema as s
from traceview.metrics.kernels import kernels, occupancy


def kernel(t: TraceBuilder, name: str, start: int, length: int, percent: int, **size: Any) -> None:
    blocks, threads = size.get("grid", [1, 1, 1]), size.get("block", [384, 1, 1])
    arguments = {
        "est. achieved occupancy %": percent, "registers per thread": size.get("registers", 32),
        "grid": blocks, "block": threads, "device": 0, "stream": 7,
    }  # fmt: skip
    t.add(ph="X", cat="kernel", name=name, pid=0, tid=7, ts=start, dur=length, args=arguments)


def test_zero_is_not_measured_where_the_size_implies_more() -> None:
    t = TraceBuilder(deviceProperties=[H200])
    kernel(t, "nvjet", 0, 5, 0, grid=[132, 1, 1], registers=168)
    kernel(t, "tiny", 10, 5, 0, grid=[1, 1, 1], block=[32, 1, 1])
    kernel(t, "full", 20, 5, 100, grid=[1000, 1, 1])
    t.work("Memset (Device)", 30, 5)
    assert occupancy(t.trace()).tolist() == [pd.NA, 0, 100, pd.NA]


def test_the_mean_is_by_time() -> None:
    t = TraceBuilder(deviceProperties=[H200])
    kernel(t, "k", 0, 30, 50)
    kernel(t, "k", 40, 10, 99)
    kernel(t, "unknown", 60, 10, 0, grid=[999, 1, 1])
    means = kernels(t.trace()).set_index(s.NAME)[s.MEAN_OCCUPANCY]
    assert means["k"] == (30 * 50 + 10 * 99) // 40
    assert pd.isna(means["unknown"])
