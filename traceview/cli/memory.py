"""`traceview memory`: the peak of allocated memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """How high is the peak, and what was alive at it?

Needs a recording made with profile_memory=True.

\b
Examples:
  traceview memory trace.json.gz
  traceview memory trace.json.gz --format json | jq .memory[0]

\b
Terms:
  allocated   bytes in tensors
  reserved    bytes that the allocator holds from the driver, in use or not
  baseline    what was allocated before the recording began
  peak        the largest allocated of the recording, exact to the byte
"""


@click.command("memory", help=HELP)
@trace_argument
@limit_option
@output_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    report("memory", trace, output, limit=limit)
