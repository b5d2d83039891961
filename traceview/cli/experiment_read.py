"""`traceview experiment list`, `show`, `map` and `merge`: what is known by now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traceview.cli.experiment_write import FOLDER, folder_option
from traceview.cli.output import output_options

if TYPE_CHECKING:
    from traceview.cli.output import Output
    from traceview.experiment import Entry

_with_lines = partial(output_options, special=("jsonl",))


def _selection(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command folders and filters; it receives the `entries` that they leave."""
    options = (
        click.option("--folder", "folders", multiple=True, default=(FOLDER,), show_default=True,
                     type=click.Path(path_type=Path, file_okay=False),
                     help="A folder of experiments; several are shown together."),
        click.option("--question", default="", help="Only questions with this text."),
        click.option("--work", default="", help="Only declared workloads with this text."),
        click.option("--gpu", default="", help="Only GPUs with this text."),
        click.option("--verdict", "verdicts", multiple=True,
                     type=click.Choice(["confirmed", "refuted", "cannot tell", "open"]),
                     help="Only this verdict; may be given several times."),
    )  # fmt: skip

    @wraps(command)
    def with_entries(**given: Any) -> None:
        names = ("folders", "question", "work", "gpu", "verdicts")
        chosen = _chosen(**{name: given.pop(name) for name in names})
        command(entries=chosen, **given)

    decorated: Callable[..., None] = with_entries
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _chosen(
    *, folders: tuple[Path, ...], question: str, work: str, gpu: str, verdicts: tuple[str, ...]
) -> list[Entry]:
    """The records that the filters leave; damaged files are always among them."""
    from traceview.experiment import entries  # noqa: PLC0415 -- help needs none of it
    from traceview.report import experiment as report  # noqa: PLC0415

    def wanted(entry: Entry) -> bool:
        record = entry.record
        if record is None:
            return True
        texts = (
            (question, record.plan.question),
            (work, report.work(record)),
            (gpu, report.device(record)),
        )
        return all(part.casefold() in text.casefold() for part, text in texts) and (
            not verdicts or record.verdict.value in verdicts
        )

    return [entry for entry in entries(folders) if wanted(entry)]


@click.command("list", help="Which experiments are there? A line each; damaged files are named.")
@_selection
@_with_lines
def list_all(*, entries: list[Entry], output: Output) -> None:
    """Send the list."""
    from traceview.report import experiment as report  # noqa: PLC0415 -- help needs none of it

    output.write(report.listing(entries))


MAP = """What is known by now? What was tried, by question, workload and GPU.

Refuted and undecided experiments are part of it. A damaged file is named with the line that is
wrong, and the others are shown.

\b
Examples:
  traceview experiment map
  traceview experiment map --folder mine --folder yours -o map.md
  traceview experiment map --gpu H200 --verdict refuted --format jsonl
"""


@click.command("map", help=MAP)
@_selection
@_with_lines
def overview(*, entries: list[Entry], output: Output) -> None:
    """Send the map."""
    from traceview.report import experiment as report  # noqa: PLC0415 -- help needs none of it

    output.write(report.overview(entries))


@click.command("show", help="What was predicted and observed in one experiment?")
@click.argument("name", metavar="ID")
@folder_option
@output_options
def show(*, name: str, folder: Path, output: Output) -> None:
    """Send one record."""
    from traceview.experiment import find  # noqa: PLC0415 -- help needs none of it
    from traceview.report import experiment as report  # noqa: PLC0415

    output.write(report.document(find([folder], name)))


@click.command("merge", help="Copy the experiments of other folders into one; nothing is lost.")
@click.argument("sources", nargs=-1, required=True, metavar="FROM...",
                type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
@folder_option
def merge(*, sources: tuple[Path, ...], folder: Path) -> None:
    """Copy, and name the new files."""
    from traceview.experiment import merge as merged  # noqa: PLC0415 -- help needs none of it

    for path in merged(sources, folder):
        click.echo(path)


COMMANDS = (list_all, show, overview, merge)
