"""What holds on a GPU: a recording agrees with what was measured outside of it.

Run where there is one: `pytest -m gpu tests/capture`.
"""

from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
import torch

from traceview import kineto
from traceview.capture.attention import record_attention
from traceview.capture.backends import RefusedError, attention, pinned, refusals
from traceview.capture.inputs import Inputs, run
from traceview.capture.jobs import AttentionJob
from traceview.capture.options import Options
from traceview.capture.problem import ALL, COMPILING, PRESETS, Backend, Mask, Problem
from traceview.metrics.memory import memory_peaks
from traceview.metrics.steps import steps
from traceview.metrics.utilization import devices
from traceview.trace import Trace
from traceview.workload import Workload, declared

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
    pytest.mark.filterwarnings("default"),  # torch warns of its own inner workings
]
KERNELS = {"naive": 6, "inplace": 5, "math": 20, "efficient": 1, "flash": 1}
"""Kernels and copies of one forward pass, as published for an A100; memsets come on top."""
GRAPH_OVERHEAD_NS = 3000
"""What lies between short kernels is in the events' time, and not in the busy time."""


def recorded(backend: Backend, problem: Problem, folder: Path) -> tuple[Trace, Workload]:
    path = folder / f"{backend}.json.gz"
    job = AttentionJob(backend, problem, Options(), str(path), "a test", edges=False)
    assert record_attention(job).refused == ()
    trace = kineto.load(path)
    stamp = declared(trace.metadata.properties)
    assert stamp is not None
    return trace, stamp


@pytest.mark.parametrize("preset", ["published", "training"])
@pytest.mark.parametrize("backend", [backend for backend in ALL if backend not in COMPILING])
def test_a_recording_agrees_with_what_was_measured_outside(
    backend: Backend, preset: str, tmp_path: Path
) -> None:
    trace, stamp = recorded(backend, PRESETS[preset], tmp_path)
    frame = steps(trace)
    assert len(frame) == 20
    assert frame["excluded"].isna().sum() >= 15
    assert devices(trace)["unlinked_events"].tolist() == [0]
    assert stamp.work.ran == (backend.value,)
    assert stamp.numerics.verdict == "correct"
    peaks = memory_peaks(trace)
    assert peaks.loc[peaks["device_type"] == 1, "peak_allocated_bytes"].tolist() == [
        stamp.recorded.peak_allocated_bytes
    ]
    busy, outside = frame["busy_ns"].median(), median(stamp.outside.event_ns)
    assert abs(busy - outside) <= 0.02 * outside + GRAPH_OVERHEAD_NS
    if preset == "published" and backend in KERNELS:
        work = trace.work
        kernels = (work["category"] != "gpu_memset").sum() / len(frame)
        assert kernels == KERNELS[backend]


@pytest.mark.parametrize(
    ("backend", "problem", "reason"),
    [
        (Backend.FLASH, {"mask": Mask.PADDING}, "attn_mask"),
        (Backend.FLASH, {"kv_length": 512}, "seqlen_q != seqlen_k"),
        (Backend.FLASH, {"dtype": "float32"}, "float"),
        (Backend.EFFICIENT, {"head_dim": 7}, "divisible by"),
        (Backend.CUDNN, {"head_dim": 7}, "multiple of 8"),
        (Backend.NAIVE, {"batch": 4096, "length": 65536, "kv_length": 65536}, "out of memory"),
    ],
)
def test_a_refusal_says_why(backend: Backend, problem: dict[str, object], reason: str) -> None:
    asked = replace(PRESETS["published"], **{"batch": 1} | problem)  # type: ignore[arg-type] # a subset of the fields
    device = torch.device("cuda")
    small = replace(asked, batch=min(asked.batch, 8))
    with pytest.raises(RefusedError, match=reason), refusals(), pinned(backend):
        run(attention(backend, small, device), Inputs.of(small, device))
