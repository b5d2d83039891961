"""What the commands that record share: their options, the watch over the work, the result."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from traceview.capture.jobs import AttentionJob, Outcome, ScriptJob
from traceview.capture.options import Options

if TYPE_CHECKING:
    from rich.progress import Progress

LOG = "captures.jsonl"
"""The file beside recordings that says what was asked for, one line each, refusals included."""
_DEFAULTS = Options()
_Job = TypeVar("_Job", AttentionJob, ScriptJob)


def recording_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a recording; it receives them as one `options`."""
    flags = (
        click.option("--steps", type=click.IntRange(min=1), default=_DEFAULTS.steps,
                     show_default=True, help="Steps to record."),
        click.option("--warmup", type=click.IntRange(min=1), default=_DEFAULTS.warmup,
                     show_default=True, help="Steps under the profiler that are thrown away."),
        click.option("--plain", type=click.IntRange(min=0), default=_DEFAULTS.plain,
                     show_default=True, help="Steps to time without the profiler."),
        click.option("--memory/--no-memory", default=True, help="Record allocations (default)."),
        click.option("--stacks", is_flag=True, help="Record Python frames: slower, larger."),
    )  # fmt: skip

    @wraps(function)
    def with_options(**given: Any) -> None:
        names = ("steps", "warmup", "plain", "memory", "stacks")
        function(options=Options(**{name: given.pop(name) for name in names}), **given)

    decorated: Callable[..., None] = with_options
    for flag in reversed(flags):
        decorated = flag(decorated)
    return decorated


def changed(options: Options) -> Iterator[str]:
    """The options of a recording that are not as they are by default."""
    for name in ("steps", "warmup", "plain"):
        value = getattr(options, name)
        if value != getattr(_DEFAULTS, name):
            yield from (f"--{name}", str(value))
    if not options.memory:
        yield "--no-memory"
    if options.stacks:
        yield "--stacks"


def command_line(*words: str) -> str:
    """The command that makes the same recording again."""
    return shlex.join(("traceview", "capture", *words))


def watched(jobs: Sequence[_Job]) -> Iterator[_Job]:
    """The jobs one after the other, shown on stderr while each runs, if somebody watches."""
    if not sys.stderr.isatty():
        yield from jobs
        return
    with _bar() as bar:
        task = bar.add_task("", total=len(jobs))
        for job in jobs:
            bar.update(task, description=job.name)
            yield job
            bar.advance(task)


def _bar() -> Progress:
    from rich import progress as parts  # noqa: PLC0415 -- only where somebody watches
    from rich.console import Console  # noqa: PLC0415

    return parts.Progress(
        parts.SpinnerColumn(),
        parts.TextColumn("recording {task.description}", markup=False),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def log(jobs: Sequence[AttentionJob], outcomes: Sequence[Outcome], folder: Path) -> None:
    """Keep beside the recordings what was asked for and what came of it: refusals have no file."""
    with (folder / LOG).open("a", encoding="utf-8") as lines:
        for job, outcome in zip(jobs, outcomes, strict=True):
            file = None if outcome.path is None else Path(outcome.path).relative_to(folder)
            entry = {
                "schema": "traceview.captures/1",
                "command": job.command,
                "backend": job.backend,
                "work": job.problem.text,
                "file": None if file is None else file.as_posix(),
                "refused": outcome.refused,
            }
            lines.write(json.dumps(entry) + "\n")


def conclude(outcomes: Sequence[Outcome]) -> None:
    """Say what was recorded, as the recordings themselves tell it, and what was refused."""
    from traceview import kineto  # noqa: PLC0415 -- pandas takes longer to import than help may
    from traceview.render import render  # noqa: PLC0415
    from traceview.report import recordings  # noqa: PLC0415

    made = [(outcome.path, kineto.load(outcome.path)) for outcome in outcomes if outcome.path]
    refused = [(outcome.name, outcome.refused) for outcome in outcomes if not outcome.path]
    click.echo(render(recordings.document(made, refused), "text", width=100), nl=False)
