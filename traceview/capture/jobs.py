"""What is to be recorded, in which order, each in a process of its own.

A process of its own makes the first call a cold start and one recording independent of the others.
Recordings are interleaved (a b c a b c), so that a drift of the machine reaches all alike. Nothing
here imports torch but the processes that record.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from traceview.capture.options import Options
from traceview.capture.problem import Backend, Problem
from traceview.errors import CaptureError

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")
_ENDING = ".json.gz"


@dataclass(frozen=True, slots=True)
class AttentionJob:
    """One recording of one backend. `device` is torch's name of it, or empty for the best one."""

    backend: Backend
    problem: Problem
    options: Options
    path: str
    command: str
    device: str = ""
    edges: bool = True

    @property
    def name(self) -> str:
        """What progress and results call it."""
        return f"attention {self.backend}"


class Steps(StrEnum):
    """What ends a step of a script.

    A call of traceview.capture.step(), any optimizer's step, or nothing: then the whole script is
    recorded as one stretch.
    """

    CALL = "call"
    OPTIMIZER = "optimizer"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class ScriptJob:
    """One recording of a script. `finish` runs it to its end once it is recorded."""

    script: str
    arguments: tuple[str, ...]
    options: Options
    path: str
    command: str
    steps: Steps = Steps.CALL
    finish: bool = False

    @property
    def name(self) -> str:
        """What progress and results call it."""
        return Path(self.script).name


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: a recording at `path`, or the reasons of a refusal."""

    name: str
    path: str | None = None
    refused: tuple[str, ...] = ()


def attention_jobs(
    backends: Sequence[Backend],
    problem: Problem,
    options: Options,
    folder: Path,
    *,
    command: Callable[[Backend], str],
    repeat: int = 1,
    device: str = "",
    edges: bool = True,
) -> Iterator[AttentionJob]:
    """The jobs in order. Edge cases are checked once a backend: they do not change.

    One recording of a backend is `attention_BACKEND.json.gz`; several are numbered, in a folder
    `attention_BACKEND` that a comparison takes as one side.
    """
    for number in range(1, repeat + 1):
        for backend in backends:
            stem = f"attention_{backend}"
            name = f"{stem}{_ENDING}" if repeat == 1 else f"{stem}/{stem}_{number}{_ENDING}"
            yield AttentionJob(
                backend, problem, options, str(folder / name), command(backend), device,
                edges=edges and number == 1,
            )  # fmt: skip


def script_paths(output: Path, repeat: int) -> Iterator[Path]:
    """Where the recordings of a script go: `output`, or that many files in a folder `output`."""
    if repeat == 1:
        yield output
    for number in range(1, repeat + 1 if repeat > 1 else 1):
        yield output / f"{output.name}_{number}{_ENDING}"


def apart(function: Callable[[_Job], _Result], job: _Job, name: str) -> _Result:
    """What `function` makes of `job` in a new process, which then ends."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(function, job).result()
        except BrokenProcessPool as error:
            raise CaptureError(f"{name}: the process that recorded it died") from error


def attention_outcome(job: AttentionJob) -> Outcome:
    """Record in this process, which has to be new. What torch.compile makes is made anew."""
    _hush()
    with TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", cache)
        from traceview.capture.attention import record_attention  # noqa: PLC0415 -- not the parent

        return record_attention(job)


def script_outcome(job: ScriptJob) -> Outcome:
    """Run and record a script in this process."""
    _hush()
    from traceview.capture.script import record_script  # noqa: PLC0415 -- not the parent

    return record_script(job)


def _hush() -> None:
    """Keep torch from talking over progress about how it is used here.

    Its writer of traces announces each start and stop on stderr, at any level below this one.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "10")
    for message in (
        ".*Profiler clears events at the end of each cycle",
        "Attempting to run cuBLAS",
    ):
        warnings.filterwarnings("ignore", message)
