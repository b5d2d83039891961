"""What a step takes outside the profiler, in ns: cold start, steady state, and the host's view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter_ns

import torch

from traceview.capture.options import Options
from traceview.capture.profiler import profiler
from traceview.workload import Outside

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

    def peak_of(self, step: Step) -> int | None:
        """The most that the caching allocator holds at one time in a few steps; None on a CPU."""
        self.wall_ns(step, _FEW)  # after this its cache is as it stays
        self.reset_peak()
        self.wall_ns(step, _FEW)
        return self.peak_allocated_bytes()

    def reset_peak(self) -> None:
        """Let the device finish, and watch for the peak of allocated memory from here on."""
        self.synchronize()
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)

    def peak_allocated_bytes(self) -> int | None:
        """The peak since then; None on a CPU."""
        if self.device.type != "cuda":
            return None
        return torch.cuda.max_memory_allocated(self.device)

    def allocated_bytes(self) -> int | None:
        """What is allocated now; None on a CPU."""
        if self.device.type != "cuda":
            return None
        return torch.cuda.memory_allocated(self.device)

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


class Passing:
    """Times steps as they pass by: the first as cold start, the others as they come."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._allocated: int | None = None
        self._began = 0
        self._cold: int | None = None
        self._count = 0
        self._marks: list[torch.cuda.Event] = []

    def begin(self) -> None:
        """Start before the first step."""
        self._allocated = self._clock.allocated_bytes()
        self._clock.synchronize()
        self._began = perf_counter_ns()

    def mark(self) -> None:
        """Note the end of a step."""
        if self._cold is None:
            self._clock.synchronize()
            self._cold = perf_counter_ns() - self._began
            self._clock.reset_peak()
            self._began = perf_counter_ns()
        else:
            self._count += 1
        if self._clock.device.type == "cuda":
            self._marks.append(torch.cuda.Event(enable_timing=True))
            self._marks[-1].record()

    def outside(self) -> Outside:
        """What was measured so far."""
        self._clock.synchronize()
        passed = perf_counter_ns() - self._began
        return Outside(
            cold_start_ns=self._cold,
            event_ns=tuple(_between(before, after) for before, after in pairwise(self._marks)),
            wall_ns=(passed // self._count,) if self._count else (),
            allocated_before_bytes=self._allocated,
            peak_allocated_bytes=self._clock.peak_allocated_bytes() if self._count else None,
        )


def _between(before: torch.cuda.Event, after: torch.cuda.Event) -> int:
    milliseconds: float = before.elapsed_time(after)
    return round(milliseconds * 10**6)
