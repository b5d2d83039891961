"""What a step takes outside the profiler, in ns: cold start, steady state, and the host's view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter_ns

import torch

from traceview.capture.options import Options
from traceview.capture.profiler import profiler

Step = Callable[[], object]

_BLOCKS, _FEW = 5, 3
_FLUSH_BYTES = 256 * 2**20
_LONGEST_BLOCK_NS = 2 * 10**9
_STRETCH_NS = 2 * 10**6
_SPIN_CYCLES_PER_NS = 2.5
"""No GPU's clock is faster, so that as many cycles last as long as they have to."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Times steps on one device."""

    device: torch.device

    def synchronize(self) -> None:
        """Wait until the device has done all it was given."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def wall_ns(self, step: Step, count: int = 1) -> int:
        """The mean of `count` steps by the host's clock, from an idle device to an idle device."""
        self.synchronize()
        start = perf_counter_ns()
        for _ in range(count):
            step()
        self.synchronize()
        return (perf_counter_ns() - start) // count

    def block(self, step: Step, count: int) -> int:
        """How many steps make a block: `count`, or less where steps are very long."""
        return max(1, min(count, _LONGEST_BLOCK_NS // max(self.wall_ns(step), 1)))

    def queued_ns(self, step: Step, count: int) -> tuple[int, ...]:
        """The mean step of each of `count` stretches by CUDA events, with the device never waiting.

        The device spins until the host has queued the steps, so that these are times of the device
        even where the host is slower. A stretch is long enough for the events to cost nothing.
        """
        stretch = max(1, _STRETCH_NS // max(self.wall_ns(step), 1))
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        self._spin(step, count * stretch)
        marks[0].record()
        for mark in marks[1:]:
            for _ in range(stretch):
                step()
            mark.record()
        self.synchronize()
        return tuple(_between(a, b) // stretch for a, b in pairwise(marks))

    def flushed_ns(self, step: Step, count: int) -> tuple[int, ...]:
        """Each of `count` steps by CUDA events around it, with nothing of it in the L2 cache."""
        flush = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device=self.device)
        pairs = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(count)
        ]
        self._spin(step, count)
        for before, after in pairs:
            flush.zero_()
            before.record()
            step()
            after.record()
        self.synchronize()
        return tuple(_between(before, after) for before, after in pairs)

    def peak_allocated_bytes(self, step: Step) -> int | None:
        """The most that the caching allocator holds at one time in a few steps; None on a CPU."""
        if self.device.type != "cuda":
            return None
        self.wall_ns(step, _FEW)  # after this its cache is as it stays
        torch.cuda.reset_peak_memory_stats(self.device)
        self.wall_ns(step, _FEW)
        return torch.cuda.max_memory_allocated(self.device)

    def disturbance_ns(
        self, step: Step, count: int, options: Options
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Blocks of `count` steps by the host's clock: without the profiler, and with it.

        One after the other in turn, so that a drift of the machine reaches both alike.
        """
        plain, profiled = [], []
        for _ in range(_BLOCKS):
            plain.append(self.wall_ns(step, count))
            with profiler(options, self.device, scheduled=False):
                step()  # the profiler sets itself up on its first events
                profiled.append(self.wall_ns(step, count))
        return tuple(plain), tuple(profiled)

    def _spin(self, step: Step, count: int) -> None:
        """Keep the device busy for longer than the host takes to queue `count` steps."""
        self.synchronize()
        start = perf_counter_ns()
        step()
        queueing = perf_counter_ns() - start
        torch.cuda._sleep(int(2 * queueing * count * _SPIN_CYCLES_PER_NS))  # noqa: SLF001


def _between(before: torch.cuda.Event, after: torch.cuda.Event) -> int:
    milliseconds: float = before.elapsed_time(after)
    return round(milliseconds * 10**6)
