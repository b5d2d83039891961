"""What the commands for one recording share: load it, build the report, send it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from traceview.cli.output import FRAMES, frame_options
from traceview.cli.progress import progress
from traceview.cli.slowness import tell_if_slow

if TYPE_CHECKING:
    from traceview.cli.output import Output
    from traceview.snapshot import Snapshot
    from traceview.trace import Trace

trace_argument: Callable[[Callable[..., None]], Callable[..., None]] = click.argument("trace")

limit_option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="Rows of a table to show in text and Markdown; the others are counted.",
)


TERMS = """\b
Terms:
  GPU busy     exclusive share of device work that the row launched itself;
               the column adds up to the busy time
  GPU total    union of the work that the row or what it calls launched;
               rows within each other hold the same work
  host total   host time in the row, recursion counted once
  backward     of GPU busy, what backward passes launched
"""
"""What the columns of a report by owner mean, for its help."""


def load(path: str) -> Trace:
    """Read a trace, with a sign of life where somebody is watching."""
    from traceview import kineto  # noqa: PLC0415 -- help has no time for pandas

    tell_if_slow(path)
    with progress(path):
        return kineto.load(path)


def report(name: str, trace: str, output: Output, **options: Any) -> None:
    """Send the report that `traceview.report` has under `name` for one recording.

    An option that is None was not given. As a frame it is the frame of that name.
    """
    output.spare(trace)
    loaded = load(trace)
    given = {option: value for option, value in options.items() if value is not None}
    if output.format in FRAMES:
        given.pop("limit", None)  # a frame has all rows
        send_frame(loaded, name, output, **given)
        return
    document = import_module(f"traceview.report.{name}").document
    output.write(document(loaded, **given))


def report_command(name: str, help: str) -> click.Command:  # noqa: A002 -- as click calls it
    """The command of this name, which sends the report of this name and has no options of its own.

    `help` begins with the question that it answers.
    """

    @click.command(name, help=help)
    @trace_argument
    @limit_option
    @frame_options
    def command(trace: str, output: Output, limit: int | None) -> None:
        report(name.replace("-", "_"), trace, output, limit=limit)

    return command


def send_frame(recording: Trace | Snapshot, name: str, output: Output, **options: Any) -> None:
    """Send the frame of this name, made with the options of its metric."""
    from traceview.frames import frame  # noqa: PLC0415 -- help has no time for pandas

    output.write_frame(*frame(recording, name, **options))
