"""What the commands for one recording share: load it, build the report, send it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from traceview.cli.output import FRAMES
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


def send_frame(recording: Trace | Snapshot, name: str, output: Output, **options: Any) -> None:
    """Send the frame of this name, made with the options of its metric."""
    from traceview.frames import frame  # noqa: PLC0415 -- help has no time for pandas

    output.write_frame(*frame(recording, name, **options))
