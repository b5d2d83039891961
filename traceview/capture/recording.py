"""A recording in the making: the steps of a workload go by, some timed, some recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Self

import torch
from torch.profiler import profile

from traceview.capture.clock import Clock
from traceview.capture.environment import default_device, hardware, software
from traceview.capture.options import Options
from traceview.capture.profiler import profiler, trace_only
from traceview.capture.stamp import sealed, stamp
from traceview.errors import CaptureError
from traceview.workload import PROPERTY, Fact, Numerics, Outside, Work

_ENDINGS = (".json", ".json.gz")
_current: list[Recording] = []
"""The recordings that are open, the innermost last: what `step` speaks to."""


class Recording:
    """One recording, made while a `with` block runs; `step` marks the end of each step.

    The first step is timed as cold start, `options.plain` steps without the profiler, then
    `options.warmup` steps pass with it, and `options.steps` are recorded and written to `path`.
    What comes after that is neither timed nor recorded. `whole` records the block from its begin to
    its end instead, without steps. With `outside` given, nothing is timed here. `then` is called
    from the step that completes the recording.
    """

    def __init__(
        self,
        path: Path,
        work: Work,
        options: Options,
        *,
        device: torch.device | None = None,
        command: str = "",
        outside: Outside | None = None,
        numerics: Numerics | None = None,
        whole: bool = False,
        then: Callable[[], None] | None = None,
    ) -> None:
        if not path.name.endswith(_ENDINGS):
            raise CaptureError(f"{path}: a recording is named .json or .json.gz")
        self.path = path
        self._work, self._options, self._command = work, options, command
        self._device = device or default_device()
        self._clock = Clock(self._device)
        self._outside, self._numerics = outside or Outside(), numerics or Numerics()
        timed = outside is None and not whole
        self._cold = 1 if timed else 0
        self._attach = self._cold + (options.plain if timed else 0)
        self._start = self._attach + options.warmup
        self._end = self._start + options.steps
        self._whole, self._then = whole, then
        self._count = 0
        self._marks: list[torch.cuda.Event] = []
        self._began = 0
        self._profiler: profile | None = None
        self._stamp = ""
        self.done = False

    @property
    def needed(self) -> int:
        """How many steps it takes until the recording is complete."""
        return self._end

    def __enter__(self) -> Self:
        _current.append(self)
        if self._whole:
            self._clock.synchronize()
            self._reset_peak()
        if self._attach == 0 or self._whole:
            self._attach_profiler()
        elif self._device.type == "cuda":
            before = torch.cuda.memory_allocated(self._device)
            self._outside = replace(self._outside, allocated_before_bytes=before)
        self._began = perf_counter_ns()
        return self

    def step(self) -> None:
        """Mark the end of a step."""
        if self.done or self._whole:
            return
        self._count += 1
        if self._count <= self._attach:
            self._plain_step()
        else:
            self._profiled_step()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _current.remove(self)
        if self.done:
            return
        started = self._whole or self._count > self._start
        if kind is None and started:
            self._finish()
        elif self._profiler is not None:
            self._profiler.on_trace_ready = None
            self._profiler.stop()
        if kind is None and not started:
            raise CaptureError(
                f"{self.path.name}: the workload made {self._count} steps, and the first recorded "
                f"one is step {self._start + 1}: mark more steps, or ask for fewer before them"
            )

    def _plain_step(self) -> None:
        """One step without the profiler: the first is the cold start, the others are timed."""
        if self._count == self._cold:
            self._clock.synchronize()
            cold = perf_counter_ns() - self._began
            self._outside = replace(self._outside, cold_start_ns=cold)
            self._reset_peak()
            self._began = perf_counter_ns()
        if self._device.type == "cuda":
            self._marks.append(torch.cuda.Event(enable_timing=True))
            self._marks[-1].record()
        if self._count == self._attach:
            self._close_plain_steps()
            self._attach_profiler()

    def _close_plain_steps(self) -> None:
        self._clock.synchronize()
        wall = (perf_counter_ns() - self._began) // max(self._attach - self._cold, 1)
        events = tuple(
            round(before.elapsed_time(after) * 10**6) for before, after in pairwise(self._marks)
        )
        self._outside = replace(
            self._outside,
            wall_ns=(wall,) if self._attach > self._cold else (),
            event_ns=events,
            peak_allocated_bytes=self._peak(),
        )

    def _attach_profiler(self) -> None:
        self._stamp = self._stamped()
        self._profiler = profiler(
            self._options, self._device, scheduled=not self._whole, ready=self._write
        )
        self._profiler.start()

    def _profiled_step(self) -> None:
        if self._profiler is None:
            raise AssertionError("the profiler is attached after the last plain step")
        if self._count == self._start:
            self._clock.synchronize()  # what is still running would run into the recording
            self._reset_peak()
        if self._count == self._end:
            self._finish()
            if self._then is not None:
                self._then()
        else:
            self._profiler.step()

    def _finish(self) -> None:
        """End the recording: say what it is while the profiler still listens, and write it."""
        if self._profiler is None:
            raise AssertionError("a recording ends after it began")
        self._profiler.add_metadata_json(PROPERTY, sealed(self._stamp, self._peak()))
        if not self._whole and self._count == self._end:
            self._profiler.step()
        self._profiler.stop()
        self.done = True

    def _stamped(self) -> str:
        return stamp(
            {
                "command": self._command,
                "workload": asdict(self._work),
                "options": self._options.facts(trace_only=trace_only(self._options)),
                "environment": software() | hardware(self._device),
                "outside": asdict(self._outside),
                "numerics": asdict(self._numerics),
            }
        )

    def _write(self, finished: profile) -> None:
        """Write the file whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(f".partial.{self.path.name}")
        try:
            finished.export_chrome_trace(str(partial))
            partial.replace(self.path)
        except OSError as error:
            raise CaptureError(f"{self.path}: cannot be written: {error.strerror}") from error
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()

    def _reset_peak(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self._device)

    def _peak(self) -> int | None:
        if self._device.type != "cuda":
            return None
        return torch.cuda.max_memory_allocated(self._device)


def record(
    path: str | Path,
    *,
    name: str = "",
    problem: Mapping[str, Fact] | None = None,
    variant: Mapping[str, Fact] | None = None,
    options: Options | None = None,
) -> Recording:
    """Record the steps of a `with` block to `path`, ending in .json or .json.gz.

    `problem` is what two recordings must have in common to be compared (shapes, dtype, batch),
    `variant` what they may differ in (a backend, a commit). Both travel in the trace.
    """
    path = Path(path)
    work = Work(
        name=name or path.name.split(".")[0],
        text=", ".join(f"{key} {value}" for key, value in (problem or {}).items()),
        problem=problem or {},
        variant=variant or {},
    )
    return Recording(path, work, options or Options())


def step() -> None:
    """Mark the end of a step of the recording that is open; without one, do nothing.

    A script that calls this can be recorded by `traceview capture run`, and runs as ever without.
    """
    if _current:
        _current[-1].step()
