"""A recording in the making: the steps of a workload go by, some timed, some recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

import torch
from torch.profiler import profile

from traceview.capture.clock import Clock, Passing
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
        self.done = False
        self._work, self._options, self._command = work, options, command
        self._device = device or default_device()
        self._clock = Clock(self._device)
        self._outside, self._numerics = outside or Outside(), numerics or Numerics()
        self._whole, self._then = whole, then
        self._attach = 0 if whole or outside is not None else 1 + options.plain
        self._start = self._attach + options.warmup
        self._count = 0
        self._passing = Passing(self._clock)
        self._profiler = profiler(options, self._device, scheduled=not whole, ready=self._write)
        self._attached = False
        self._stamp = ""

    @property
    def needed(self) -> int:
        """How many steps it takes until the recording is complete."""
        return self._start + self._options.steps

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        _current.append(self)
        if self._attach > 0:
            self._passing.begin()
        else:
            self._attach_profiler()
        return self

    def step(self) -> None:
        """Mark the end of a step."""
        if self.done or self._whole:
            return
        self._count += 1
        if self._count > self._attach:
            self._profiled_step()
        else:
            self._passing.mark()
            if self._count == self._attach:
                self._outside = self._passing.outside()
                self._attach_profiler()

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
        elif self._attached:
            self._profiler.on_trace_ready = None
            self._profiler.stop()
        if kind is None and not started:
            raise CaptureError(
                f"{self.path.name}: the workload made {self._count} steps, and the first recorded "
                f"one is step {self._start + 1}: mark more steps, or ask for fewer before them"
            )

    def _attach_profiler(self) -> None:
        self._stamp = self._stamped()
        if self._whole:
            self._clock.reset_peak()
        self._profiler.start()
        self._attached = True

    def _profiled_step(self) -> None:
        """One step of the warm-up or of the recording."""
        if self._count == self._start:
            self._clock.reset_peak()  # and nothing may run on into the recording
        if self._count < self.needed:
            self._profiler.step()
            return
        self._finish()
        if self._then is not None:
            self._then()

    def _finish(self) -> None:
        """End the recording: say what it is while the profiler still listens, and write it."""
        self.done = True
        peak = self._clock.peak_allocated_bytes()
        self._profiler.add_metadata_json(PROPERTY, sealed(self._stamp, peak))
        if self._count == self.needed:
            self._profiler.step()
        self._profiler.stop()

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
        partial = self.path.with_name(f".partial.{self.path.name}")
        try:
            finished.export_chrome_trace(str(partial))
            partial.replace(self.path)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            partial.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> CaptureError:
        return CaptureError(f"{self.path}: cannot be written: {error.strerror}")


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
