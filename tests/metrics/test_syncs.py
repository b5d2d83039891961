"""Where the host stands still."""

import pandas as pd
import pytest
from builders import TraceBuilder
from metrics.everything import noted

import traceview
from traceview import schema as s

US = 1000


def syncs(t: TraceBuilder) -> pd.DataFrame:
    return traceview.syncs(t.trace())


def test_blocked_time_is_split_by_what_the_device_did() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 10, 40)
    t.synchronize(20, 50)  # 20..50 the device works, 50..70 it is done
    row = syncs(t).iloc[0]
    assert (row[s.BLOCKED_NS], row[s.DEVICE_BUSY_NS], row[s.DEVICE_IDLE_NS]) == (
        50 * US,
        30 * US,
        20 * US,
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cudaDeviceSynchronize", "synchronize"),
        ("cudaStreamSynchronize", "synchronize"),
        ("cudaEventSynchronize", "synchronize"),
        ("hipStreamSynchronize", "synchronize"),
        ("cuCtxSynchronize", "synchronize"),
        ("cudaMemcpy", "blocking_copy"),
        ("hipMemcpyWithStream", "blocking_copy"),
        ("cudaEventQuery", None),
        ("cudaStreamWaitEvent", None),
        ("cudaMemcpyAsync", None),
        ("cudaLaunchKernel", None),
        ("cudaMalloc", None),
    ],
)
def test_which_calls_block(name: str, kind: str | None) -> None:
    t = TraceBuilder()
    t.op("aten::item", 0, 100)
    t.call(name, 10, 20)
    t.launch(50, "a", 60, 5)
    assert syncs(t)[s.KIND].tolist() == ([] if kind is None else [kind])


def test_an_asynchronous_copy_of_pageable_memory_may_block() -> None:
    t = TraceBuilder()
    for at, copy in ((0, "Memcpy HtoD (Pageable -> Device)"), (100, "Memcpy HtoD (Pagable -> D)"),
                     (200, "Memcpy HtoD (Pinned -> Device)")):  # fmt: skip
        t.launch(at, copy, at + 10, 5, call=30, api="cudaMemcpyAsync")
    assert syncs(t)[s.KIND].tolist() == ["pageable_copy", "pageable_copy"]


def test_the_closing_synchronize_of_the_profiler_is_no_stall() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.launch(10, "a", 20, 100)
    t.call("cudaDeviceSynchronize", 50, 5)
    t.call("cudaDeviceSynchronize", 105, 900)
    trace = t.trace()
    assert traceview.syncs(trace)[s.BLOCKED_NS].tolist() == [5 * US]
    assert noted(trace, "closing_synchronize") == (1, 900 * US)


@pytest.mark.parametrize("where", ["in an op", "in a step", "before a launch"])
def test_a_synchronize_of_the_program_is_a_stall(where: str) -> None:
    t = TraceBuilder()
    t.launch(10, "a", 20, 100)
    t.call("cudaDeviceSynchronize", 105, 50)
    if where == "in an op":
        t.op("sync", 100, 60)
    elif where == "in a step":
        t.step(1, 0, 200)
    else:
        t.launch(180, "b", 190, 5)
    assert syncs(t)[s.BLOCKED_NS].tolist() == [50 * US]


def test_each_of_merged_processes_closes_its_recording() -> None:
    t = TraceBuilder()
    for process, device in ((1000, 0), (2000, 1)):
        t.process = process
        t.launch(10 * process, "a", 10 * process + 5, 10, device=device)
        t.call("cudaDeviceSynchronize", 10 * process + 10, 40)
    assert syncs(t).empty


def test_a_process_waits_for_its_own_devices() -> None:
    t = TraceBuilder()
    t.process = 1000
    t.launch(0, "short", 5, 10, device=0)
    t.synchronize(10, 40)  # 10..50; its device is done at 15
    t.process = 2000
    t.launch(1, "long", 5, 500, device=1)
    assert syncs(t)[[s.DEVICE_BUSY_NS, s.DEVICE_IDLE_NS]].to_numpy().tolist() == [[5 * US, 35 * US]]


def test_places_that_block() -> None:
    t = TraceBuilder()
    for at in (0, 100):
        t.annotation("loss", at, 90)
        t.op("aten::item", at + 10, 50)
        t.op("aten::_local_scalar_dense", at + 20, 30)
        t.synchronize(at + 25, 20)
    t.synchronize(300, 5)
    t.launch(400, "a", 410, 5)
    frame = traceview.sync_sites(t.trace())
    assert frame[[s.OP, s.ANNOTATION, s.COUNT, s.BLOCKED_NS]].to_numpy().tolist() == [
        ["aten::_local_scalar_dense", "loss", 2, 40 * US],
        [pd.NA, pd.NA, 1, 5 * US],
    ]
