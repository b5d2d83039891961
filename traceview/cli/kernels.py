"""`traceview kernels`: one row a kernel name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """Which kernels keep the GPU busy?

One row a name, the longest first. Where kernels overlap, each instant is shared equally among
those that run, so that the rows add up to the busy time.

\b
Examples:
  traceview kernels trace.json.gz --limit 10
  traceview kernels trace.json.gz -o kernels.csv

\b
Terms:
  busy     the part of the device's busy time that is this kernel's share
  count    how many times it ran
  median   its median duration
"""


@click.command("kernels", help=HELP)
@trace_argument
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    report("kernels", trace, output, limit=limit)
