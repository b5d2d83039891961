"""`traceview experiment new` and `record`: a prediction, and what was observed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traceview.cli.sides import SidesCommand, load_sides
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.experiment import Record

FOLDER = Path("experiments")


def hypothesis_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what a plan is made of, apart from its change."""
    options = (
        click.option("--question", required=True, help="What should be known afterwards."),
        click.option("--hypothesis", required=True, help="What is thought to be so, and why."),
        click.option("--predict", multiple=True, required=True, metavar="CLAIM",
                     help="What has to hold if it is so; all of several."),
        click.option("--falsified-if", multiple=True, metavar="CLAIM",
                     help="What must not hold; none of several."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def folder_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the folder of the experiments; it receives it as `folder`."""

    @click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=FOLDER,
                  show_default=True, help="The folder of the experiments.")  # fmt: skip
    @wraps(command)
    def with_folder(**given: Any) -> None:
        command(**given)

    return with_folder


def body(record: Record) -> str:
    """The Markdown that is generated into the file of a record."""
    from traceview.render import render  # noqa: PLC0415 -- help needs none of it
    from traceview.report import experiment as report  # noqa: PLC0415

    return render(report.of_record(record), "markdown")


NEW = """Write down what is predicted, before anything is recorded.

\b
A claim is as in `traceview check` on two sides:
  ratio("gpu_busy") in 0.8..0.95, delta(kernel("Memcpy").count) == -1,
  verdict("host_step") != regressed, after("peak_allocated") < 2 GiB
"""


@click.command("new", help=NEW)
@click.argument("name", metavar="ID")
@hypothesis_options
@click.option("--change", required=True, metavar="FACTOR: BEFORE -> AFTER",
              help="The one thing that will differ; none for a run repeated.")  # fmt: skip
@folder_option
def new(*, name: str, folder: Path, **texts: Any) -> None:
    """Write the file, and say where it is."""
    from traceview.experiment import create  # noqa: PLC0415 -- help needs none of it
    from traceview.experiment.record import plan  # noqa: PLC0415

    click.echo(create(folder, plan(name, **texts), body))


RECORD = """Fill in what was observed, from the recordings of both sides.

What else differs between the sides is found and named, by what they say of device, versions,
profiler options, declared work, shapes and types. Then an effect cannot be put down to the declared
change, and the verdict is `cannot tell`.
"""


@click.command("record", help=RECORD, cls=SidesCommand)
@click.argument("name", metavar="ID")
@click.option("--before", multiple=True, required=True, metavar="FILE...",
              help="Recordings of one side.")  # fmt: skip
@click.option("--after", multiple=True, required=True, metavar="FILE...",
              help="Recordings of the other side.")  # fmt: skip
@click.option("--noise", metavar="FILE", help="A noise profile that `traceview noise` wrote.")
@click.option("--late", is_flag=True, help="Take older recordings than the prediction; mark it so.")
@folder_option
def record(
    *,
    name: str,
    before: tuple[str, ...],
    after: tuple[str, ...],
    noise: str | None,
    late: bool,
    folder: Path,
) -> None:
    """Observe, write, and show the verdict."""
    from traceview.diff.noise import load_profile  # noqa: PLC0415 -- help needs none of it
    from traceview.experiment import find, observe, save  # noqa: PLC0415
    from traceview.report import experiment as report  # noqa: PLC0415

    entry = find([folder], name)
    if entry.record is None or entry.problems:
        raise UsageError(next(entry.faults))
    if entry.record.observed is not None:
        raise UsageError(f"{entry.path}: is recorded already; what is tried again has a new id")
    profile = load_profile(noise) if noise else None
    sides = load_sides(before), load_sides(after)
    made = observe(entry.record.plan, *sides, noise=profile, late=late)
    save(entry, made, body)
    for line in report.of_record(made).lead:
        click.echo(line)
    click.echo(entry.path)


COMMANDS = (new, record)
