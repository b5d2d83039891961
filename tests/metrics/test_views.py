"""What a recording supplies follows from what it holds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import TraceBuilder
from hypothesis import given
from strategies import recordings

from traceview import schema as s
from traceview.metrics.views import NO, PARTLY, YES, recorded, views
from traceview.trace import Trace


def available(trace: Trace) -> dict[str, str]:
    frame = views(trace)
    return dict(zip(frame[s.VIEW], frame[s.AVAILABLE], strict=True))


def supply(trace: Trace, view: str) -> list[str]:
    frame = views(trace)
    return frame.loc[frame[s.VIEW] == view, s.SUPPLY].dropna().tolist()


def whole() -> TraceBuilder:
    """A recording with something of everything."""
    t = TraceBuilder(traceview={})
    t.step(1, 0, 50)
    t.annotation("forward", 0, 20)
    t.python("nn.Module: Net_0", 0, 20)
    t.add(ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=1, ts=1, dur=10,
          args={"Input Dims": [[2, 2]]})  # fmt: skip
    t.launch(2, "gemm", 10, 5)
    t.memory(3, 512, 512, address=1)
    return t


def test_a_recording_of_everything_supplies_every_view() -> None:
    assert set(available(whole().trace()).values()) == {YES}


def test_every_view_of_an_empty_recording_says_what_to_record() -> None:
    frame = views(TraceBuilder().trace())
    assert frame[s.SUPPLY].notna().all()
    assert set(frame[s.AVAILABLE]) == {PARTLY, NO}


@pytest.mark.parametrize(
    ("view", "option"),
    [
        ("memory", "profile_memory=True"),
        ("stacks", "with_stack=True"),
        ("kernels", "activities=[..., ProfilerActivity.CUDA] (or XPU)"),
        ("annotations", "record_function(...) around it"),
    ],
)
def test_what_cannot_be_computed_names_the_option(view: str, option: str) -> None:
    t = TraceBuilder()
    t.op("aten::mm", 0, 10)
    assert available(t.trace())[view] == NO
    assert supply(t.trace(), view) == [option]


def test_only_what_a_view_cannot_do_without_makes_it_impossible() -> None:
    t = TraceBuilder()
    t.work("gemm", 0, 10)
    assert available(t.trace())["gaps"] == PARTLY
    assert available(t.trace())["launches"] == NO


def test_waits_of_streams_are_known_with_sync_records_only() -> None:
    t = whole()
    number = t.call("cudaStreamWaitEvent", 30, 1)
    assert available(t.trace())["critical-path"] == PARTLY
    assert "enable_cuda_sync_events" in supply(t.trace(), "critical-path")[0]
    t.sync_record("Stream Wait Event", 30, 1, number, 7)
    assert available(t.trace())["critical-path"] == YES


@given(recordings())
def test_every_event_is_counted_once(built: TraceBuilder) -> None:
    trace = built.trace()
    events = len(trace.host) + len(trace.device) + len(trace.memory)
    assert recorded(trace)[s.ENTRIES].sum() == events


def test_time_covered_is_a_union() -> None:
    t = TraceBuilder()
    t.op("aten::linear", 0, 10)
    t.op("aten::mm", 2, 5)
    row = recorded(t.trace()).iloc[0]
    assert (row[s.ENTRIES], row[s.COVERED_NS]) == (2, 10_000)


@pytest.mark.parametrize(
    ("file", "impossible"),
    [
        ("h200/attn_naive.pt.trace.json.gz", {"modules", "stacks"}),
        ("h200/train_stack.pt.trace.json.gz", set()),
        ("public/tl_mi210_gpu_only.json.gz",
         {"memory", "ops", "annotations", "modules", "stacks", "roofline"}),
    ],
)  # fmt: skip
def test_real_recordings(
    shared: Path, load: Callable[[Path], Trace], file: str, impossible: set[str]
) -> None:
    found = available(load(shared / file))
    assert {view for view, state in found.items() if state == NO} == impossible
