"""`traceview doctor`: what a file is, and which views it supplies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.reports import load, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """What is this file, is it sound, and what can be computed from it?

Names what recorded the file, with which versions and options; what of it was repaired or left
out, and where; and for each view what the recording lacks, with the option that supplies it.

A compressed file that expands further than a trace does is refused, here and by every command;
the environment variable TRACEVIEW_MAX_SIZE, such as 64GiB, lets it expand to that size.

\b
Examples:
  traceview doctor trace.json.gz
  traceview doctor trace.json.gz --format json | jq .views

\b
Terms:
  time in any   time in which at least one event of the category ran
  partly        the view is computed, with less detail
"""


@click.command("doctor", help=HELP)
@trace_argument
@output_options
def command(trace: str, output: Output) -> None:
    """Send the report."""
    output.spare(trace)
    loaded = load(trace)

    from traceview.report import doctor  # noqa: PLC0415 -- help has no time for pandas

    output.write(doctor.document(loaded))
