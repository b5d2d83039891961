"""Two sides of an experiment, written out: three steps with a matmul and a copy each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from builders import H200, TraceBuilder

from traceview.stats import Verdict

EPOCH_NS = 1_700_000_000 * 10**9
"""When the recordings were made, unless a test says otherwise: 2023-11-14."""
GEMM, COPY = "gemm_bf16", "Memcpy DtoD (Device -> Device)"


def mirrored(verdict: str) -> str:
    """The verdict on the same two sides, the other way round."""
    swapped: dict[str, str] = {
        Verdict.IMPROVED: Verdict.REGRESSED,
        Verdict.REGRESSED: Verdict.IMPROVED,
    }
    return swapped.get(verdict, verdict)


def side(
    *,
    gemm: int = 500,
    copies: int = 1,
    dtype: str = "c10::BFloat16",
    rows: int = 64,
    epoch_ns: int | None = EPOCH_NS,
    stamp: dict[str, Any] | None = None,
    **properties: Any,
) -> TraceBuilder:
    """Steps of 1000 us; a matmul of `gemm` us in the annotation `attention`, then copies of 50."""
    stamped = {} if stamp is None else {"traceview": {"schema": "traceview.capture/1", **stamp}}
    based = {} if epoch_ns is None else {"baseTimeNanoseconds": epoch_ns}
    t = TraceBuilder(**{"deviceProperties": [H200], **based, **stamped, **properties})
    for number in range(3):
        at = 1000 * number
        t.step(number, at, 900)
        t.annotation("attention", at + 5, 50)
        t.add(ph="X", cat="cpu_op", name="aten::mm", pid=t.process, tid=1, ts=at + 10, dur=20,
              args={"Input Dims": [[rows, 64], [64, 64]], "Input type": [dtype] * 2})  # fmt: skip
        t.launch(at + 12, GEMM, at + 20, gemm)
        for copy in range(copies):
            t.launch(at + 60 + 10 * copy, COPY, at + 20 + gemm + 50 * copy, 50)
    return t


def stamp(backend: str = "naive", **problem: Any) -> dict[str, Any]:
    """What a recording made by `traceview capture` says of itself."""
    return {
        "workload": {
            "name": "attention",
            "text": "B1 H4 S64 D64",
            "problem": {"batch": 1, "dtype": "bfloat16", **problem},
            "variant": {"backend": backend},
        },
        "environment": {"torch": "2.11.0", "sm_clock_mhz": 1980},
        "numerics": {"verdict": "correct"},
    }


def write(folder: Path, name: str, **how: Any) -> Path:
    """The file of a side."""
    return side(**how).write(folder / f"{name}.json")
