"""How a recording is made, and why so."""

from __future__ import annotations

from dataclasses import dataclass

from traceview.errors import UsageError
from traceview.workload import Fact


@dataclass(frozen=True, slots=True)
class Options:
    """What the profiler records, and when.

    steps        steps in the recording. Ten or more show whether the steps agree.
    warmup       steps before them with the profiler already attached, and thrown away: what the
                 profiler sets up on first use is then no part of the recording. Before the first
                 recorded step the device is synchronized, so that no work of the warm-up runs into
                 the recording; after the last one torch itself synchronizes it.
    plain        steps before those without the profiler, for the timings outside of it.
    shapes       shapes and types of the inputs of each op: what tells whether two recordings are of
                 the same work.
    memory       every allocation and free: the peak, and who holds it.
    stacks       Python frames. They cost host time in every op, so only where the question is which
                 line of code.
    sync_events  waits of streams, events and the host, which tell a dependency from a slow device.

    Where torch has it, `trace_only` is on: the events are written, and not built a second time as
    Python objects. Never on: moving step ranges or timestamps (they would no longer be what the
    clock said), leaving out the ids that join ops and kernels, FLOP counts (matmul only).
    """

    steps: int = 20
    warmup: int = 3
    plain: int = 20
    shapes: bool = True
    memory: bool = True
    stacks: bool = False
    sync_events: bool = True

    def __post_init__(self) -> None:
        if self.steps < 1 or self.warmup < 1 or self.plain < 0:
            raise UsageError(
                f"steps={self.steps}, warmup={self.warmup}, plain={self.plain}: a recording needs "
                "one step and one step of warm-up at the least"
            )

    def facts(self, *, trace_only: bool) -> dict[str, Fact]:
        """The options as a recording tells them."""
        return {
            "steps": self.steps,
            "warmup": self.warmup,
            "record_shapes": self.shapes,
            "profile_memory": self.memory,
            "with_stack": self.stacks,
            "enable_cuda_sync_events": self.sync_events,
            "trace_only": trace_only,
        }
