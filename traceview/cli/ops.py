"""`traceview ops`: host and device time by op."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """Which ops take the time, on the host and on the GPU?

Device work belongs to the innermost op around its launch call, so that no kernel counts twice.
A table by kind of kernel follows: attention and its backend, gemm, copies, ...

\b
Examples:
  traceview ops trace.json.gz
  traceview ops trace.json.gz --shapes --format csv -o ops.csv

\b
Terms:
  GPU busy     exclusive share of device work that the row launched itself;
               the column adds up to the busy time
  host self    host time in the row, but in nothing below it
  host total   host time in the row, recursion counted once
  allocated    device memory allocated in it; frees are not taken off
"""


@click.command("ops", help=HELP)
@trace_argument
@click.option("--shapes", is_flag=True, help="A row for each set of input shapes.")
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None, shapes: bool) -> None:
    """Send the report."""
    report("ops", trace, output, limit=limit, shapes=shapes or None)
