"""`traceview noise`: how far recordings of one program differ by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.sides import load_sides

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """How far do recordings of one program differ by themselves?

Give it 3 or more recordings of the same program, made in separate processes. The profile that it
writes with `-o noise.json` lets `traceview diff --noise noise.json` judge single recordings of such
a program on such a machine by its own run-to-run spread.

\b
Example:
  traceview noise runs/ -o noise.json
  traceview diff before.json after.json --noise noise.json
"""


@click.command("noise", help=HELP)
@click.argument("recordings", nargs=-1, required=True)
@output_options
def command(*, recordings: tuple[str, ...], output: Output) -> None:
    """Measure the spread and send it."""
    output.spare(*recordings)
    traces = load_sides(recordings)
    from traceview.diff.noise import profile  # noqa: PLC0415 -- pandas takes longer than help may
    from traceview.report import noise as report  # noqa: PLC0415

    output.write(report.document(profile(traces)))
