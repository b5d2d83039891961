"""The path is what a reader finds with a finger, and tiles each step exactly."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pandas as pd
import pytest
from builders import BACKWARD, TraceBuilder
from hypothesis import given
from strategies import recordings

from traceview import schema as s
from traceview.metrics.critical_path import (
    WHOLE,
    critical_path,
    critical_path_ops,
    critical_path_parts,
)
from traceview.metrics.steps import steps
from traceview.trace import Trace

US = 1000


def found(trace: Trace, window: pd.DataFrame | None = None) -> list[tuple[object, ...]]:
    """(kind, start, length, name) of each stretch, in microseconds."""
    path = critical_path(trace, window)
    times = [(path[column] // US).tolist() for column in (s.START_NS, s.DURATION_NS)]
    return list(zip(path[s.PATH_KIND], *times, path[s.PATH_NAME], strict=True))


def waiting_for_a_sync() -> TraceBuilder:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.op("aten::mm", 8, 4)
    t.launch(10, "gemm", 20, 30)
    t.synchronize(30, 22)
    t.op("aten::relu", 55, 5)
    t.launch(57, "relu", 60, 5)
    return t


def test_a_synchronize_leads_from_the_host_to_the_work_it_waited_for() -> None:
    trace = waiting_for_a_sync().trace()
    assert found(trace, steps(trace)) == [
        ("kernel", 20, 30, "gemm"),
        ("sync", 50, 2, "cudaStreamSynchronize"),
        ("unobserved", 52, 3, "nothing recorded"),
        ("cpu_op", 55, 2, "aten::relu"),
        ("launch_call", 57, 1, "cudaLaunchKernel"),
        ("launch_latency", 58, 2, "relu"),
        ("kernel", 60, 5, "relu"),
    ]


def test_parts_and_ops_add_up_to_the_path() -> None:
    trace = waiting_for_a_sync().trace()
    path = critical_path(trace, steps(trace))
    parts, ops = critical_path_parts(path), critical_path_ops(path)
    assert parts[s.NS].sum() == ops[s.NS].sum() == 45 * US
    assert parts.iloc[0].tolist() == [0, "ProfilerStep#1", "kernel", 35 * US]
    relu = ops[ops[s.OP] == "aten::relu"].iloc[0]
    assert (relu[s.PATH_HOST_NS], relu[s.PATH_DEVICE_NS]) == (3 * US, 7 * US)


def test_queued_work_keeps_the_path_on_the_device() -> None:
    t = TraceBuilder()
    t.launch(0, "first", 5, 20)
    t.launch(2, "second", 27, 10)
    assert found(t.trace()) == [
        ("kernel", 5, 20, "first"),
        ("queued", 25, 2, "second"),
        ("kernel", 27, 10, "second"),
    ]


def test_an_event_leads_to_another_stream() -> None:
    t = TraceBuilder()
    t.launch(0, "copied", 5, 30, stream=20)
    t.launch(2, "before", 6, 4)
    wait = t.call("cudaStreamWaitEvent", 4, 1)
    t.sync_record("Stream Wait Event", 4, 1, wait, 7)
    t.launch(6, "after", 38, 10)
    assert found(t.trace()) == [
        ("kernel", 5, 30, "copied"),
        ("stream_wait", 35, 3, "after"),
        ("kernel", 38, 10, "after"),
    ]


def test_the_kernels_of_one_graph_launch_wait_for_each_other() -> None:
    t = TraceBuilder()
    t.graph(0, [(5, 10), (17, 3)])
    assert [kind for kind, *_ in found(t.trace())] == ["kernel", "graph", "kernel"]


def test_the_backward_thread_lies_between_forward_and_optimizer() -> None:
    t = TraceBuilder()
    t.launch(0, "warm", 1, 1)
    t.op("forward", 10, 10)
    t.launch(12, "fwd", 14, 1)
    t.op("backward", 22, 20, BACKWARD)
    t.launch(23, "bwd", 25, 1, thread=BACKWARD)
    t.op("optimizer", 45, 10)
    t.launch(50, "update", 53, 2)
    path = [(kind, at, length) for kind, at, length, _ in found(t.trace())]
    assert path == [
        ("unobserved", 1, 9),
        ("cpu_op", 10, 2),
        ("launch_call", 12, 1),
        ("cpu_op", 13, 7),
        ("unobserved", 20, 2),  # the main thread is done with it, the other has not begun
        ("cpu_op", 22, 1),
        ("launch_call", 23, 1),
        ("cpu_op", 24, 18),
        ("unobserved", 42, 3),
        ("cpu_op", 45, 5),
        ("launch_call", 50, 1),
        ("launch_latency", 51, 2),
        ("kernel", 53, 2),
    ]


def test_what_loads_data_is_the_dataloader_whatever_the_op() -> None:
    t = TraceBuilder()
    t.annotation("enumerate(DataLoader)#next", 0, 10)
    t.op("aten::stack", 2, 5)
    t.python("train.py(1): step", 0, 14)
    t.op("aten::add", 14, 1)
    assert [(kind, at, length) for kind, at, length, _ in found(t.trace())] == [
        ("dataloader", 2, 5),
        ("dataloader", 7, 3),
        ("python", 10, 4),
        ("cpu_op", 14, 1),
    ]


def test_a_recording_without_a_device_is_the_host_alone() -> None:
    t = TraceBuilder()
    t.op("aten::add", 0, 10)
    t.op("aten::mul", 15, 5)
    assert found(t.trace()) == [
        ("cpu_op", 0, 10, "aten::add"),
        ("unobserved", 10, 5, "nothing recorded"),
        ("cpu_op", 15, 5, "aten::mul"),
    ]


def test_an_empty_recording_has_no_path() -> None:
    assert critical_path(TraceBuilder().trace()).empty


@given(recordings())
def test_the_path_tiles_each_step(built: TraceBuilder) -> None:
    trace = built.trace()
    table = steps(trace)
    path = critical_path(trace, table)
    length = critical_path_parts(path).groupby(s.STEP_NUMBER)[s.NS].sum()
    period = table[s.DEVICE_PERIOD_NS].dropna()
    period = period[period > 0]
    if path[s.STEP].ne(WHOLE).all():
        assert length.reindex(period.index).tolist() == period.tolist()
    for _, mine in path.groupby(s.STEP_NUMBER):
        end = (mine[s.START_NS] + mine[s.DURATION_NS]).to_numpy()
        assert (mine[s.START_NS].to_numpy()[1:] == end[:-1]).all()
    assert (path[s.DURATION_NS] > 0).all()


@given(recordings(steps=False))
def test_the_path_of_the_whole_window_is_as_long_as_it(built: TraceBuilder) -> None:
    trace = built.trace()
    work = trace.work
    path = critical_path(trace)
    if len(work):
        window = (work[s.START_NS] + work[s.DURATION_NS]).max() - work[s.START_NS].min()
        assert path[s.DURATION_NS].sum() == window
        assert set(path[s.STEP]) <= {WHOLE}


@pytest.mark.parametrize("name", ["attn_naive", "overlap", "cudagraph", "train_sdpa"])
def test_real_recordings(shared: Path, load: Callable[[Path], Trace], name: str) -> None:
    trace = load(shared / "h200" / f"{name}.pt.trace.json.gz")
    table = steps(trace)
    begin = monotonic()
    path = critical_path(trace, table)
    assert monotonic() - begin < 10
    length = path.groupby(s.STEP_NUMBER)[s.DURATION_NS].sum()
    period = table[s.DEVICE_PERIOD_NS].dropna()
    assert (length[period.index] == period.astype("int64")).all()


def test_the_copy_on_the_side_stream_is_what_overlap_waits_for(
    shared: Path, load: Callable[[Path], Trace]
) -> None:
    trace = load(shared / "h200" / "overlap.pt.trace.json.gz")
    parts = critical_path_parts(critical_path(trace, steps(trace)))
    kinds = parts.groupby(s.PATH_KIND)[s.NS].sum()
    assert kinds.idxmax() == "gpu_memcpy"
    assert "stream_wait" in kinds.index
