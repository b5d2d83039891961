"""Run a user's script and record its steps."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook

from traceview.capture.jobs import Outcome, ScriptJob, Steps
from traceview.capture.recording import Recording, step
from traceview.errors import CaptureError
from traceview.workload import Work


class _Recorded(BaseException):
    """All that was asked for is recorded: the script need not go on.

    A BaseException, so that no `except Exception` of the script holds it up.
    """


def record_script(job: ScriptJob) -> Outcome:
    """Run the script as Python would, and record it to `job.path`."""
    script = Path(job.script)
    if not script.is_file():
        raise CaptureError(f"{script}: there is no such script")
    work = Work(
        name=script.name,
        text=script.name,
        variant={"arguments": " ".join(job.arguments)} if job.arguments else {},
    )
    recording = Recording(
        Path(job.path), work, job.options, command=job.command, whole=job.steps is Steps.WHOLE,
        then=None if job.finish else _stop,
    )  # fmt: skip
    with _as_main(script, job.arguments), _marked(job), recording:
        try:
            runpy.run_path(str(script), run_name="__main__")
        except _Recorded:
            pass
        except SystemExit as end:
            if end.code not in (None, 0):
                raise CaptureError(f"{script.name}: ended with {end.code}") from end
    return Outcome(job.name, path=job.path)


@contextmanager
def _as_main(script: Path, arguments: tuple[str, ...]) -> Iterator[None]:
    """Let the script find its arguments, and the modules beside it."""
    argv, path = sys.argv, sys.path
    sys.argv = [str(script), *arguments]
    sys.path = [str(script.resolve().parent), *path]
    try:
        yield
    finally:
        sys.argv, sys.path = argv, path


@contextmanager
def _marked(job: ScriptJob) -> Iterator[None]:
    """Mark a step after each step of an optimizer, where the job says so."""
    if job.steps is not Steps.OPTIMIZER:
        yield
        return
    hook = register_optimizer_step_post_hook(_after_optimizer)
    try:
        yield
    finally:
        hook.remove()


def _after_optimizer(*_: Any) -> None:
    step()


def _stop() -> None:
    raise _Recorded
