"""Who launched it, in recordings whose answer can be read off."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from builders import BACKWARD, MAIN, TraceBuilder
from hypothesis import given
from strategies import recordings

from traceview import schema as s
from traceview.context import covering, thread_numbers
from traceview.owners import owners
from traceview.trace import OP, Trace

PUBLIC = ("tl_h100_qwen05b", "tl_mi300_resnet_ckpt", "tl_b200_eager", "hta_ns_absolute")


def column(trace: Trace, which: s.Column) -> list[str | None]:
    return [None if pd.isna(text) else str(text) for text in owners(trace)[which]]


def numbered(
    t: TraceBuilder, name: str, start: int, length: int, number: int, **where: Any
) -> None:
    """An op with a sequence number; `forward` is autograd's number of the forward thread."""
    t.add(ph="X", cat="cpu_op", name=name, pid=t.process, tid=where.get("thread", MAIN), ts=start,
          dur=length, args={"Sequence number": number, "Fwd thread id": where.get("forward", 0)},
          )  # fmt: skip


def identified(t: TraceBuilder, start: int, correlation: int, identity: int) -> None:
    """A kernel with an external id and no launch."""
    t.add(ph="X", cat="kernel", name="gemm", pid=0, tid=7, ts=start, dur=5,
          args={"correlation": correlation, "External id": identity, "device": 0, "stream": 7},
          )  # fmt: skip


def test_work_belongs_to_what_is_open_when_its_launch_begins() -> None:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.annotation("attention", 5, 40)
    t.annotation("scores", 6, 10)
    t.op("aten::matmul", 7, 8)
    t.op("aten::bmm", 8, 6)
    t.launch(10, "gemm", 50, 5)
    t.op("aten::softmax", 20, 10)
    t.launch(22, "softmax", 60, 5)
    t.launch(70, "alone", 80, 5)
    trace = t.trace()
    assert column(trace, s.OWNER_OP) == ["aten::bmm", "aten::softmax", None]
    assert column(trace, s.OP_PATH) == ["aten::matmul/aten::bmm", "aten::softmax", None]
    assert column(trace, s.ANNOTATION_PATH) == ["attention/scores", "attention", None]
    assert column(trace, s.HOW) == ["launch"] * 3
    assert trace.host[s.NAME].iloc[owners(trace)[s.OP_POSITION].iloc[0]] == "aten::bmm"


def test_a_graph_replay_belongs_to_what_surrounds_the_graph_launch() -> None:
    t = TraceBuilder()
    t.annotation("replay", 0, 10)
    t.python("train.py(52): step", 1, 8)
    t.graph(2, [(20, 5), (30, 5), (40, 5)])
    trace = t.trace()
    assert column(trace, s.ANNOTATION_PATH) == ["replay"] * 3
    assert column(trace, s.OWNER_FRAME) == ["train.py(52): step"] * 3
    assert column(trace, s.OWNER_OP) == [None] * 3


def test_modules_and_the_innermost_frame_with_a_line() -> None:
    t = TraceBuilder()
    t.python("nn.Module: Net_0", 0, 20)
    t.python("model.py(7): forward", 1, 18)
    t.python("nn.Module: Linear_1", 2, 10)
    t.python("<built-in method linear at 0x7f00>", 3, 8)
    t.launch(4, "gemm", 30, 5)
    trace = t.trace()
    assert column(trace, s.MODULE_PATH) == ["Net_0/Linear_1"]
    assert column(trace, s.OWNER_FRAME) == ["model.py(7): forward"]


def test_a_region_owns_its_backward() -> None:
    t = TraceBuilder()
    t.annotation("mask", 0, 10)
    numbered(t, "aten::empty", 1, 1, 5)
    numbered(t, "aten::mul", 3, 4, 5)
    t.launch(4, "mul", 20, 5)
    t.annotation("train", 30, 40)
    numbered(t, "MulBackward0", 40, 10, 5, thread=BACKWARD, forward=1)
    t.op("aten::mul", 42, 5, BACKWARD)
    t.launch(43, "mul", 60, 5, thread=BACKWARD)
    t.op("torch::autograd::AccumulateGrad", 51, 5, BACKWARD)
    t.launch(52, "add", 70, 5, thread=BACKWARD)
    trace = t.trace()
    assert column(trace, s.ANNOTATION_PATH) == ["mask", "mask", "train"]
    assert column(trace, s.DIRECTION) == ["forward", "backward", "backward"]
    assert column(trace, s.OP_PATH) == [
        "aten::mul", "MulBackward0/aten::mul", "torch::autograd::AccumulateGrad",
    ]  # fmt: skip


def test_of_several_forward_threads_the_one_with_the_numbers_is_meant() -> None:
    t = TraceBuilder()
    t.annotation("first", 0, 30, thread=11)
    numbered(t, "aten::mul", 1, 2, 5, thread=11)
    numbered(t, "aten::mul", 4, 2, 6, thread=11)
    t.annotation("second", 0, 30, thread=12)
    numbered(t, "aten::mul", 2, 2, 6, thread=12)
    numbered(t, "aten::mul", 5, 2, 7, thread=12)
    for start, number in ((40, 6), (50, 7)):
        numbered(t, "MulBackward0", start, 5, number, thread=BACKWARD, forward=2)
        t.launch(start + 1, "mul", start + 20, 5, thread=BACKWARD)
    assert column(t.trace(), s.ANNOTATION_PATH) == ["second", "second"]


def test_the_external_id_answers_where_the_launch_is_lost() -> None:
    t = TraceBuilder()
    t.annotation("forward", 0, 50)
    t.add(ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=MAIN, ts=1, dur=3,
          args={"External id": 7})  # fmt: skip
    t.call("cudaLaunchKernel", 2, 1)
    identified(t, 10, 900, 7)
    identified(t, 20, 901, 8)
    trace = t.trace()
    assert column(trace, s.HOW) == ["external_id", "none"]
    assert column(trace, s.OWNER_OP) == ["aten::mm", None]
    assert column(trace, s.ANNOTATION_PATH) == ["forward", None]
    assert column(trace, s.DIRECTION) == ["forward", None]


def test_an_external_id_that_repeats_the_correlation_is_no_id() -> None:
    t = TraceBuilder()
    for number in (900, 901):
        t.add(ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=MAIN, ts=number, dur=1,
              args={"External id": number})  # fmt: skip
        identified(t, number + 10, number, number)
    assert column(t.trace(), s.HOW) == ["none", "none"]


def test_recordings_of_modules_without_frames() -> None:
    t = TraceBuilder()
    for name, start, length, path in (
        ("aten::linear", 0, 20, "Net.fc"),
        ("aten::mm", 1, 9, "Net.fc"),
    ):
        t.add(ph="X", cat="cpu_op", name=name, pid=t.process, tid=MAIN, ts=start, dur=length,
              args={"Module Hierarchy": path})  # fmt: skip
    t.launch(2, "gemm", 30, 5)
    assert column(t.trace(), s.MODULE_PATH) == ["Net.fc"]


def test_nothing_is_owned_where_no_host_was_recorded() -> None:
    t = TraceBuilder()
    assert owners(t.trace()).empty
    t.work("gemm", 0, 5)
    assert column(t.trace(), s.HOW) == ["none"]


@given(recordings())
def test_each_piece_of_work_has_one_owner_and_the_op_is_the_innermost(t: TraceBuilder) -> None:
    trace = t.trace()
    found = owners(trace)
    assert len(found) == len(trace.work)
    assert (found[s.HOW] == "launch").tolist() == trace.work[s.LAUNCH].notna().tolist()
    assert list(found.columns) == list(s.OWNERS.columns)


def test_time_and_external_id_agree_on_real_recordings(
    shared: Path, load: Callable[[Path], Trace]
) -> None:
    for name in PUBLIC:
        trace = load(shared / "public" / f"{name}.json.gz")
        found = owners(trace)
        known = found[s.OP_POSITION].notna() & trace.work[s.EXTERNAL_ID].notna()
        op = found.loc[known, s.OP_POSITION].to_numpy(dtype=np.int64)
        named = trace.host[s.EXTERNAL_ID].iloc[op].to_numpy(dtype=np.int64)
        assert (named == trace.work.loc[known, s.EXTERNAL_ID].to_numpy(dtype=np.int64)).all()


def test_real_regions_own_their_work(shared: Path, load: Callable[[Path], Trace]) -> None:
    naive = owners(load(shared / "h200" / "attn_naive.pt.trace.json.gz"))
    forward = naive[naive[s.DIRECTION] == "forward"]
    assert forward[s.ANNOTATION_PATH].astype("str").value_counts().to_dict() == {
        "attention/mask": 100, "attention/scores": 60, "attention/softmax": 20,
        "attention/values": 20,
    }  # fmt: skip
    graph = owners(load(shared / "h200" / "cudagraph.pt.trace.json.gz"))
    counts = graph[s.ANNOTATION_PATH].astype("str").value_counts().to_dict()
    assert counts == {"eager": 800, "replay": 800}
    unlinked = owners(load(shared / "public" / "tl_h100_qwen05b.json.gz"))
    assert (unlinked[s.HOW] == "none").sum() == 509


def test_the_op_is_what_a_search_by_time_finds(shared: Path, load: Callable[[Path], Trace]) -> None:
    trace = load(shared / "h200" / "train_stack.pt.trace.json.gz")
    launch = trace.work[s.LAUNCH].to_numpy(dtype=np.int64)
    calls = trace.host.iloc[launch]
    searched = covering(trace, OP, thread_numbers(trace, calls), calls[s.START_NS])
    assert owners(trace)[s.OP_POSITION].tolist() == searched.tolist()
