"""`traceview critical-path`: what the length of a step consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """What would have to be faster for a step to be shorter?

From the end of each step the path goes back in time, always to what was waited for last: work
before on the same stream, an event, a launch call, what the host thread did before that, and in
a blocking call back to the device. Its parts add up to the step, exactly.

\b
Examples:
  traceview critical-path trace.json.gz
  traceview critical-path trace.json.gz -o path.parquet

\b
Terms:
  step           its device period: from the last device end of the step
                 before to the last device end of its own work
  launch_latency from the return of a launch call to the start of the work
  queued         between two pieces of work that were launched in time
"""


@click.command("critical-path", help=HELP)
@trace_argument
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    report("critical_path", trace, output, limit=limit)
