"""`traceview summary`: one recording on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.reports import report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """Is the GPU doing useful work, and what does it wait for?

The first look at one recording: busy and idle time of each device, the steps, the largest
causes of idle time, what launches and synchronization cost, the peak of memory, the longest
kernels, and at the end what the recording lacks and which events were left out.

\b
Examples:
  traceview summary trace.json.gz
  traceview summary trace.json.gz --format json | jq '.devices[0].busy_ns'

\b
Terms:
  window   first start to last end of a device's work
  busy     time in which the device ran at least one kernel, copy or set
  idle     the rest of the window: busy + idle = window, exactly
  step     a ProfilerStep#N and the work that was launched in it
"""


@click.command("summary", help=HELP)
@trace_argument
@output_options
def command(trace: str, output: Output) -> None:
    """Send the report."""
    report("summary", trace, output)
