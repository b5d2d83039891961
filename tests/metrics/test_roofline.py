"""Achieved rates beside the GPU's peak."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import H200, MAIN, TraceBuilder

from traceview import schema as s
from traceview.metrics.roofline import roofline
from traceview.trace import Trace

BF16, FP32 = "c10::BFloat16", "float"


def product(
    t: TraceBuilder, start: int, size: int, dtype: str = BF16, name: str = "aten::mm"
) -> None:
    """An op of 8 us that multiplies two square matrices."""
    t.add(ph="X", cat="cpu_op", name=name, pid=t.process, tid=MAIN, ts=start, dur=8,
          args={"Input Dims": [[size, size]] * 2, "Input type": [dtype] * 2})  # fmt: skip


def builder() -> TraceBuilder:
    return TraceBuilder(deviceProperties=[H200])


def only(trace: Trace, **peaks: float) -> dict[str, Any]:
    """The one row."""
    frame = roofline(trace, peaks or None)
    assert len(frame) == 1
    return {str(key): value for key, value in frame.iloc[0].items()}


def test_rates_and_shares() -> None:
    t = builder()
    for start in (0, 10):
        product(t, start, 1000)
        t.launch(start + 1, "nvjet_sm90_tst_64x8_NTT", 100 + start, 5)
    row = only(t.trace())
    assert row[s.CALLS] == 2
    assert row[s.USEFUL_FLOP] == row[s.EXECUTED_FLOP] == 2 * 2 * 10**9
    assert row[s.DEVICE_NS] == 10_000
    assert row[s.USEFUL_RATE] == pytest.approx(4e14)
    assert row[s.COMPUTE_SHARE] == pytest.approx(400 / 989.4)
    assert row[s.MEMORY_SHARE] == pytest.approx(2 * 6e6 / 10e-6 / 4.8e12)
    assert row[s.BOUND] == "compute"
    assert only(t.trace(), bf16=800.0)[s.COMPUTE_SHARE] == pytest.approx(0.5)


def test_the_outermost_op_counts_with_all_its_work() -> None:
    t = builder()
    t.add(ph="X", cat="cpu_op", name="aten::linear", pid=t.process, tid=MAIN, ts=0, dur=20,
          args={"Input Dims": [[10, 10]] * 2, "Input type": [BF16] * 2})  # fmt: skip
    product(t, 2, 10)
    t.launch(3, "gemm", 50, 5)
    t.launch(12, "bias", 60, 3)
    row = only(t.trace())
    assert (row[s.OP], row[s.CALLS], row[s.DEVICE_NS]) == ("aten::linear", 1, 8000)


def test_32_bit_on_tensor_cores_is_tf32() -> None:
    for kernel, precision in (("s1688gemm_tf32f32", "tf32"), ("ampere_sgemm_32x32_nn", "fp32")):
        t = builder()
        product(t, 0, 100, FP32)
        t.launch(1, kernel, 50, 5)
        assert only(t.trace())[s.PRECISION] == precision


def test_calls_without_work_and_ops_without_shapes_have_no_row() -> None:
    t = builder()
    product(t, 0, 100)
    t.op("aten::mm", 10, 8)
    t.launch(11, "gemm", 50, 5)
    assert roofline(t.trace()).empty


def test_an_unknown_gpu_has_rates_but_no_shares() -> None:
    t = TraceBuilder()
    product(t, 0, 100)
    t.launch(1, "gemm", 50, 5)
    row = only(t.trace())
    assert row[s.USEFUL_RATE] == pytest.approx(4e11)
    assert roofline(t.trace())[[s.COMPUTE_SHARE, s.MEMORY_SHARE, s.BOUND]].isna().all(axis=None)


def test_nothing_runs_faster_than_its_gpu(shared: Path, load: Callable[[Path], Trace]) -> None:
    rows = 0
    for file in [*(shared / "h200").glob("*.json.gz"), *(shared / "public").glob("*.json.gz")]:
        frame = roofline(load(file))
        rows += len(frame)
        assert (frame[s.USEFUL_FLOP] <= frame[s.EXECUTED_FLOP]).all()
        for share in (s.COMPUTE_SHARE, s.MEMORY_SHARE):
            assert (frame[share].dropna() < 1).all(), file.name
    assert rows > 100


def test_attention_of_a_real_recording(shared: Path, load: Callable[[Path], Trace]) -> None:
    flash = roofline(load(shared / "h200" / "attn_flash.pt.trace.json.gz"))
    by_op = {row[s.OP]: row for row in flash.to_dict("records")}
    forward = by_op["aten::_scaled_dot_product_flash_attention"]
    backward = by_op["aten::_scaled_dot_product_flash_attention_backward"]
    assert forward[s.USEFUL_FLOP] == 20 * 2 * 4 * 16 * 2048**2 * 64
    assert 2 * backward[s.USEFUL_FLOP] == 5 * forward[s.USEFUL_FLOP]
    math = roofline(load(shared / "h200" / "attn_math.pt.trace.json.gz"))
    row = math[math[s.OP].str.contains("math")].iloc[0]
    assert row[s.EXECUTED_FLOP] == 2 * row[s.USEFUL_FLOP] == 2 * forward[s.USEFUL_FLOP]
