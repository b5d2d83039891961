"""Busy time: shares and unions of device work, device by device."""

import numpy as np
from builders import TraceBuilder
from hypothesis import given
from strategies import COSTLY, recordings

import traceview
from traceview import busy
from traceview import schema as s


def two_devices() -> TraceBuilder:
    t = TraceBuilder()
    t.launch(0, "a", 10, 10)
    t.launch(1, "b", 15, 10, stream=8)
    t.launch(2, "c", 12, 6, device=1)
    return t


def test_an_instant_is_shared_by_what_runs_in_it_on_one_device() -> None:
    work = two_devices().trace().work
    shares = dict(zip(work[s.NAME], busy.shares(work).tolist(), strict=True))
    assert shares == {"a": 7500, "b": 7500, "c": 6000}


def test_an_instant_counts_once_a_device() -> None:
    work = two_devices().trace().work
    assert busy.union(work) == 15_000 + 6000
    labels = (work[s.NAME] != "a").astype(int)
    assert busy.unions(work, labels, 3).tolist() == [10_000, 10_000 + 6000, 0]


def test_nothing_takes_no_time() -> None:
    work = TraceBuilder().trace().work
    assert busy.union(work) == 0
    assert busy.unions(work, [], 2).tolist() == [0, 0]


@COSTLY
@given(recordings())
def test_shares_and_union_are_the_busy_time(t: TraceBuilder) -> None:
    trace = t.trace()
    total = traceview.devices(trace)[s.BUSY_NS].sum()
    assert busy.union(trace.work) == total
    assert np.sum(busy.shares(trace.work)) == total
