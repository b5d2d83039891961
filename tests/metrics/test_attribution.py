"""Host and device time by owner."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import TraceBuilder
from hypothesis import given
from strategies import recordings

from traceview import schema as s
from traceview.metrics import attribution
from traceview.metrics.utilization import devices
from traceview.trace import Trace

VIEWS: dict[str, Callable[[Trace], pd.DataFrame]] = {
    "ops": attribution.ops,
    "shapes": lambda trace: attribution.ops(trace, shapes=True),
    "modules": attribution.modules,
    "annotations": attribution.annotations,
    "stacks": attribution.stacks,
    "kinds": attribution.kinds,
    "coverage": attribution.owner_coverage,
}


def rows(frame: pd.DataFrame, key: s.Column, *columns: s.Column) -> dict[Any, tuple[int, ...]]:
    """The figures of each row by its name."""
    values = frame[list(columns)].astype(object).to_numpy().tolist()
    return {name: tuple(row) for name, row in zip(frame[key], values, strict=True)}


def nested() -> TraceBuilder:
    """linear(addmm(gemm 10 us)), relu of which 5 of 10 us overlap it, and a kernel of nobody."""
    t = TraceBuilder()
    t.annotation("forward", 0, 40)
    t.python("train.py(1): main", 0, 50)
    t.python("nn.Module: Net_0", 1, 38)
    t.op("aten::linear", 2, 20)
    t.op("aten::addmm", 4, 10)
    t.launch(5, "gemm", 100, 10)
    t.memory(6, 512, 512, address=1)
    t.op("aten::relu", 30, 5)
    t.launch(31, "relu", 105, 10, stream=8)
    t.work("gemm", 200, 7)
    return t


def test_ops() -> None:
    frame = attribution.ops(nested().trace())
    figures = rows(
        frame, s.OP, s.CALLS, s.HOST_SELF_NS, s.HOST_TOTAL_NS, s.BUSY_NS, s.DEVICE_NS, s.LAUNCHES
    )
    assert figures == {
        "aten::addmm": (1, 10_000, 10_000, 7_500, 10_000, 1),
        "aten::relu": (1, 5_000, 5_000, 7_500, 10_000, 1),
        "(launch not recorded)": (0, 0, 0, 7_000, 7_000, 0),
        "aten::linear": (1, 10_000, 20_000, 0, 10_000, 0),
    }
    assert frame.loc[frame[s.OP] == "aten::addmm", s.ALLOCATES].tolist() == [512]


def test_recursion_counts_once_and_work_goes_to_the_innermost() -> None:
    t = TraceBuilder()
    t.op("aten::mm", 0, 20)
    t.op("aten::mm", 2, 10)
    t.launch(3, "gemm", 50, 10)
    figures = rows(
        attribution.ops(t.trace()), s.OP, s.CALLS, s.HOST_SELF_NS, s.HOST_TOTAL_NS, s.DEVICE_NS
    )
    assert figures == {"aten::mm": (1, 20_000, 20_000, 10_000)}


def test_shapes_tell_rows_apart() -> None:
    t = TraceBuilder()
    for start, dims in ((0, [[2, 3], [3, 4]]), (10, [[2, 3], [3, 4]]), (20, [[5, 5], [5, 5]])):
        t.add(ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=1, ts=start, dur=5,
              args={"Input Dims": dims})  # fmt: skip
    frame = attribution.ops(t.trace(), shapes=True)
    assert rows(frame, s.SHAPES, s.CALLS) == {"[[2, 3], [3, 4]]": (2,), "[[5, 5], [5, 5]]": (1,)}
    assert attribution.ops(t.trace())[s.SHAPES].isna().all()


def test_modules_and_annotations_and_stacks() -> None:
    trace = nested().trace()
    unowned = ("(launch not recorded)", (7_000, 7_000, 1))
    columns = (s.BUSY_NS, s.DEVICE_NS, s.DEVICE_EVENTS)
    assert rows(attribution.modules(trace), s.OWNED_PATH, *columns) == dict(
        [("Net_0", (15_000, 15_000, 2)), unowned]
    )
    assert rows(attribution.annotations(trace), s.OWNED_PATH, *columns) == dict(
        [("forward", (15_000, 15_000, 2)), unowned]
    )
    main = "train.py(1): main"
    assert rows(attribution.stacks(trace), s.STACK, *columns) == dict(
        [(f"{main};nn.Module: Net_0", (15_000, 15_000, 2)), unowned, (main, (0, 15_000, 0))]
    )


def test_a_row_holds_what_is_below_it() -> None:
    t = TraceBuilder()
    t.annotation("outer", 0, 40)
    t.annotation("inner", 2, 10)
    t.launch(3, "a", 50, 10)
    t.launch(20, "b", 55, 10, stream=8)
    figures = rows(attribution.annotations(t.trace()), s.OWNED_PATH, s.BUSY_NS, s.DEVICE_NS)
    assert figures == {"outer/inner": (7_500, 10_000), "outer": (7_500, 15_000)}


def test_folded_stacks() -> None:
    trace = nested().trace()
    on_device = attribution.folded(trace)
    stack = "train.py(1): main;nn.Module: Net_0"
    assert rows(on_device, s.STACK, s.NS) == {
        f"{stack};aten::linear;aten::addmm;gemm": (7_500,),
        f"{stack};aten::relu;relu": (7_500,),
        "gemm": (7_000,),
    }
    on_host = rows(attribution.folded(trace, host=True), s.STACK, s.NS)
    inside = "train.py(1): main;forward;nn.Module: Net_0;aten::linear;aten::addmm"
    assert on_host[inside] == (10_000,)
    assert sum(ns for (ns,) in on_host.values()) == 50_000


def test_kinds_of_work() -> None:
    t = TraceBuilder()
    t.op("aten::mm", 0, 5)
    t.launch(1, "nvjet_sm90_tst_64x8_NTT", 10, 5)
    t.launch(6, "Memcpy DtoD (Device -> Device)", 20, 5)
    frame = attribution.kinds(t.trace()).astype(object)
    assert frame.where(frame.notna(), None).to_numpy().tolist() == [
        ["copy", None, 1, 5000], ["gemm", "tensor cores", 1, 5000],
    ]  # fmt: skip


@given(recordings())
def test_each_view_adds_up_to_busy(t: TraceBuilder) -> None:
    trace = t.trace()
    busy = devices(trace)[s.BUSY_NS].sum()
    for name, view in VIEWS.items():
        frame = view(trace)
        assert frame[s.BUSY_NS].sum() == busy, name
        assert frame[s.DEVICE_EVENTS].sum() == len(trace.work), name
    assert attribution.folded(trace)[s.NS].sum() == busy


@given(recordings())
def test_what_lies_below_is_no_less_than_what_is_busy(t: TraceBuilder) -> None:
    trace = t.trace()
    for view in (attribution.ops, attribution.annotations, attribution.stacks):
        frame = view(trace)
        assert (frame[s.DEVICE_NS] >= frame[s.BUSY_NS]).all()
        assert (frame[s.BUSY_NS] >= frame[s.BACKWARD_NS]).all()
        assert (frame[s.HOST_TOTAL_NS] >= 0).all()


def test_every_view_of_real_recordings_adds_up(shared: Path, load: Callable[[Path], Trace]) -> None:
    files = [*(shared / "h200").glob("[a-c]*.json.gz"), *(shared / "public").glob("*.json.gz")]
    for file in files:
        trace = load(file) if "big" not in file.name else None
        if trace is not None and len(trace.work):
            busy = devices(trace)[s.BUSY_NS].sum()
            sums = {name: int(view(trace)[s.BUSY_NS].sum()) for name, view in VIEWS.items()}
            assert sums == dict.fromkeys(VIEWS, busy), file.name


def test_a_graph_of_many_kernels_takes_seconds() -> None:
    t = TraceBuilder()
    for launch in range(40):
        start = 2000 * launch
        t.annotation("replay", start, 20)
        t.graph(start + 1, [(start + 30 + kernel, 1) for kernel in range(1000)])
    trace = t.trace()
    frame = attribution.annotations(trace)
    assert rows(frame, s.OWNED_PATH, s.DEVICE_EVENTS, s.LAUNCHES, s.BUSY_NS) == {
        "replay": (40_000, 40, 40_000_000)
    }


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_nothing(name: str) -> None:
    assert VIEWS[name](TraceBuilder().trace())[s.BUSY_NS].sum() == 0
