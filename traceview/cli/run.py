"""`traceview run`: predict, record both sides in turn, compare, keep the record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traceview.capture import require_torch
from traceview.capture.jobs import apart, attention_jobs, attention_outcome
from traceview.capture.problem import Backend
from traceview.cli.attention_problem import Asked, problem_options
from traceview.cli.experiment_write import body, folder_option, hypothesis_options
from traceview.cli.output import output_options
from traceview.cli.recordings import changed, command_line, log, recording_options, watched
from traceview.cli.sides import load_sides
from traceview.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from traceview.capture.jobs import Outcome
    from traceview.capture.options import Options
    from traceview.cli.output import Output

HELP = """Does attention do what was predicted?

One command for the whole loop. The prediction is written first. Then both backends are recorded in
turn, each time in a process of its own, so that a drift of the machine reaches both sides alike;
the sides are compared; and what was observed goes into the file of the experiment. Needs PyTorch.

\b
Example:
  traceview run inplace-mask --before naive --after inplace \\
      --preset published \\
      --question 'What does the causal mask cost?' \\
      --hypothesis 'masked_fill copies the scores; masked_fill_ need not' \\
      --predict 'ratio("gpu_busy") in 0.85..0.90'

The recordings lie in FOLDER/recordings/ID, a folder a side. Backends and presets are those of
`traceview capture attention`, claims those of `traceview check` on two sides.
"""

_backend = click.Choice([backend.value for backend in Backend])


@click.command("run", help=HELP)
@click.argument("name", metavar="ID")
@click.option("--before", type=_backend, required=True, help="The backend of one side.")
@click.option("--after", type=_backend, required=True, help="The backend of the other side.")
@hypothesis_options
@problem_options
@click.option("--device", default="", metavar="NAME",
              help="torch's name of a device; the GPU if there is one.")  # fmt: skip
@click.option("--repeat", type=click.IntRange(min=1), default=3, show_default=True,
              help="Recordings of each side.")  # fmt: skip
@recording_options
@folder_option
@output_options
def command(
    *,
    name: str,
    before: str,
    after: str,
    question: str,
    hypothesis: str,
    predict: tuple[str, ...],
    falsified_if: tuple[str, ...],
    asked: Asked,
    device: str,
    repeat: int,
    options: Options,
    folder: Path,
    output: Output,
) -> None:
    """Go through the loop; what was predicted stays, whatever happens after it."""
    require_torch()
    if before == after:
        raise UsageError(f"both sides are {before}: nothing would change")
    # Imported here, since pandas takes longer to import than help may.
    from traceview.diff import diff  # noqa: PLC0415
    from traceview.experiment import create, find, observe, save  # noqa: PLC0415
    from traceview.experiment.record import plan  # noqa: PLC0415
    from traceview.report import diff as diff_report  # noqa: PLC0415
    from traceview.report import experiment as report  # noqa: PLC0415

    own = plan(
        name, question=question, hypothesis=hypothesis, predict=predict,
        falsified_if=falsified_if, change=f"backend: {before} -> {after}",
    )  # fmt: skip
    click.echo(f"predicted: {create(folder, own, body)}", err=True)
    recordings = folder / "recordings" / name
    backends = (Backend(before), Backend(after))
    _record(backends, asked, options, recordings, repeat=repeat, device=device)
    sides = [load_sides([str(recordings / f"attention_{backend}")]) for backend in backends]
    output.write(diff_report.document(diff(*sides)))
    made = observe(own, *sides)
    save(find([folder], name), made, body)
    click.echo(err=True)
    for line in report.of_record(made).lead:
        click.echo(line, err=True)


def _record(
    backends: Sequence[Backend],
    asked: Asked,
    options: Options,
    folder: Path,
    *,
    repeat: int,
    device: str,
) -> None:
    """Record the backends in turn, and stop where one of them refuses."""
    arguments = (
        *asked.arguments, *(("--device", device) if device else ()), *changed(options),
    )  # fmt: skip
    jobs = list(
        attention_jobs(
            backends, asked.problem, options, folder, repeat=repeat, device=device,
            command=lambda backend: command_line("attention", "--backend", backend, *arguments),
        )
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    for job in watched(jobs):
        outcomes.append(apart(attention_outcome, job, job.name))
        if outcomes[-1].refused:
            break
    log(jobs[: len(outcomes)], outcomes, folder)
    for outcome in outcomes:
        if outcome.refused:
            raise CaptureError(f"{outcome.name} refuses this work: {'; '.join(outcome.refused)}")
