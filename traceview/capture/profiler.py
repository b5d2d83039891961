"""torch's profiler, set up as Options say."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, schedule

from traceview.capture.options import Options

HAS_TRACE_ONLY = "trace_only" in (_ExperimentalConfig.__init__.__doc__ or "")
"""Whether this torch can write a trace without building its events in Python."""


def activities(device: torch.device) -> list[ProfilerActivity]:
    """What is recorded on this device."""
    if device.type == "cuda":
        return [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    return [ProfilerActivity.CPU]


def trace_only(options: Options) -> bool:
    """Whether a recording with these options is written without events in Python."""
    return HAS_TRACE_ONLY and not options.stacks


def profiler(
    options: Options,
    device: torch.device,
    *,
    scheduled: bool,
    ready: Callable[[profile], None] | None = None,
) -> profile:
    """A profiler that is yet to be started, for steps if `scheduled`, else for one window.

    `ready` is called when the recording is complete.
    """
    config = _ExperimentalConfig(enable_cuda_sync_events=options.sync_events)
    if trace_only(options):
        config.trace_only = True
    return profile(
        activities=activities(device),
        schedule=schedule(wait=0, warmup=options.warmup, active=options.steps, repeat=1)
        if scheduled
        else None,
        on_trace_ready=ready,
        record_shapes=options.shapes,
        profile_memory=options.memory,
        with_stack=options.stacks,
        experimental_config=config,
    )
