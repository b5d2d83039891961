"""`traceview modules`: host and device time by nn.Module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """Which nn.Modules take the time?

Needs a recording made with with_stack=True or with_modules=True. Work of the backward pass belongs
to the module of the forward op whose gradient it computes.

\b
Examples:
  traceview modules trace.json.gz
  traceview modules trace.json.gz --limit 50 -o modules.md

\b
Terms:
  GPU busy     exclusive share of device work that the row launched itself;
               the column adds up to the busy time
  GPU total    union of the work that the row or what it calls launched;
               rows within each other hold the same work
  host total   host time in the row, recursion counted once
  backward     of GPU busy, what backward passes launched
"""


@click.command("modules", help=HELP)
@trace_argument
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    report("modules", trace, output, limit=limit)
