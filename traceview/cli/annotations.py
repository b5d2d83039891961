"""`traceview annotations`: host and device time by annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """Which annotated regions take the time?

A region made with torch.profiler.record_function owns the work launched in it, and the work of the
backward pass for it. The profiler's own steps are left out: `traceview steps` shows them.

\b
Examples:
  traceview annotations trace.json.gz
  traceview annotations trace.json.gz --format json | jq .annotations

\b
Terms:
  GPU busy     exclusive share of device work that the row launched itself;
               the column adds up to the busy time
  GPU total    union of the work that the row or what it calls launched;
               rows within each other hold the same work
  host total   host time in the row, recursion counted once
  backward     of GPU busy, what backward passes launched
"""


@click.command("annotations", help=HELP)
@trace_argument
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    report("annotations", trace, output, limit=limit)
