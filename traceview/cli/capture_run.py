"""`traceview capture run`: a script of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from traceview.capture import require_torch
from traceview.capture.jobs import ScriptJob, Steps, apart, script_outcome, script_paths
from traceview.cli.recordings import changed, command_line, conclude, recording_options, watched

if TYPE_CHECKING:
    from traceview.capture.options import Options

HELP = """How do I record a script of my own?

Runs the script as Python would. It is recorded step by step, where a step ends with a call of
traceview.capture.step() in the script, or with each step of an optimizer.

\b
Examples:
  traceview capture run train.py -o train.json.gz -- --batch 8
  traceview capture run train.py --step optimizer --steps 10
  traceview capture run infer.py --step whole

\b
In the script:
  from traceview.capture import step
  for batch in batches:
      train(batch)
      step()          # does nothing where nobody records
"""


@click.command("run", help=HELP)
@click.argument("script", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--step",
    "steps_by",
    type=click.Choice([step.value for step in Steps]),
    default=Steps.CALL.value,
    show_default=True,
    help="What ends a step; whole: record the script as one stretch.",
)
@click.option(
    "--finish", is_flag=True, help="Run the script to its end, also after all is recorded."
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Recordings, each in a process of its own, into a folder.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The recording, or with --repeat their folder; named as the script if not given.",
)
@recording_options
def command(
    *,
    script: Path,
    arguments: tuple[str, ...],
    steps_by: str,
    finish: bool,
    repeat: int,
    output: Path | None,
    options: Options,
) -> None:
    """Record: in this process, or for --repeat in one process each."""
    require_torch()
    target = output or Path(script.stem if repeat > 1 else f"{script.stem}.json.gz")
    marks = () if steps_by == Steps.CALL else ("--step", steps_by)
    given = ("--", *arguments) if arguments else ()
    line = command_line("run", script.name, *marks, *changed(options), *given)
    jobs = [
        ScriptJob(str(script), arguments, options, str(path), line, Steps(steps_by), finish=finish)
        for path in script_paths(target, repeat)
    ]
    if repeat == 1:
        outcomes = [script_outcome(jobs[0])]
    else:
        outcomes = [apart(script_outcome, job, job.name) for job in watched(jobs)]
    conclude(outcomes)
