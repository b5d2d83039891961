"""Record one attention: check it, time it, record it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.profiler import profile

from traceview.capture.backends import RefusedError, attention, pinned, refusals
from traceview.capture.clock import Clock
from traceview.capture.environment import default_device
from traceview.capture.identity import backends_seen
from traceview.capture.inputs import Inputs, run
from traceview.capture.jobs import AttentionJob, Outcome
from traceview.capture.numerics import numerics
from traceview.capture.options import Options
from traceview.capture.problem import COMPILING, Backend, Problem
from traceview.capture.profiler import activities
from traceview.capture.recording import Recording
from traceview.workload import Outside, Work


@dataclass(frozen=True, slots=True)
class _Bench:
    """A backend with inputs on a device, ready to run a step."""

    step: Callable[[], tuple[Tensor, ...]]
    clock: Clock
    cold_start_ns: int
    allocated_before_bytes: int | None


def record_attention(job: AttentionJob) -> Outcome:
    """Record one backend to `job.path`; a refusal is an outcome like any other."""
    with pinned(job.backend):
        try:
            with refusals():
                bench = _bench(job)
        except RefusedError as refused:
            return Outcome(job.name, refused=refused.reasons)
        device = bench.clock.device
        ran = backends_seen(_names(bench))
        checked = numerics(job.backend, job.problem, device, edges=job.edges)
        _forget(job.backend, device)
        outside = _measure(bench, job.options)
        work = _work(job.problem, {"backend": job.backend.value}, ran)
        recording = Recording(
            Path(job.path), work, job.options,
            device=device, command=job.command, outside=outside, numerics=checked,
        )  # fmt: skip
        with recording:
            for _ in range(recording.needed):
                bench.step()
                recording.step()
    return Outcome(job.name, path=job.path)


def _work(problem: Problem, variant: dict[str, str], ran: tuple[str, ...]) -> Work:
    return Work("attention", problem.text, problem.facts(), dict(variant), ran)


def _bench(job: AttentionJob) -> _Bench:
    """Set up the step and run it for the first time."""
    device = torch.device(job.device) if job.device else default_device()
    clock = Clock(device)
    inputs = Inputs.of(job.problem, device)
    attend = attention(job.backend, job.problem, device)
    clock.synchronize()
    before = clock.allocated_bytes()

    def step() -> tuple[Tensor, ...]:
        return run(attend, inputs)

    return _Bench(step, clock, clock.wall_ns(step), before)


def _names(bench: _Bench) -> set[str]:
    """The ops and kernels of one step, as the profiler sees them."""
    with profile(activities=activities(bench.clock.device)) as seen:
        bench.step()
        bench.clock.synchronize()
    return {event.name for event in seen.events() or ()}


def _forget(backend: Backend, device: torch.device) -> None:
    """Drop what the check left behind: cached memory, and code for other shapes."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    if backend in COMPILING:
        torch.compiler.reset()


def _measure(bench: _Bench, options: Options) -> Outside:
    """The light timings, in turn with the profiler's own disturbance."""
    clock, step = bench.clock, bench.step
    step()
    count = clock.block(step, options.plain)
    cuda = clock.device.type == "cuda"
    peak = clock.peak_of(step)
    plain, profiled = clock.disturbance_ns(step, count, options)
    return Outside(
        cold_start_ns=bench.cold_start_ns,
        event_ns=clock.queued_ns(step, count) if cuda else (),
        queued=cuda,
        event_flushed_ns=clock.flushed_ns(step, count) if cuda else (),
        wall_ns=plain,
        profiled_wall_ns=profiled,
        allocated_before_bytes=bench.allocated_before_bytes,
        peak_allocated_bytes=peak,
    )
