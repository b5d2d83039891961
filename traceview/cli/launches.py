"""`traceview launches`: what launches cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """What do the launches cost the host, and do they keep the GPU fed?

A launch is a runtime or driver call whose correlation has device work; a graph launch is one
call with much work.

\b
Examples:
  traceview launches trace.json.gz
  traceview launches trace.json.gz --format csv -o launches.csv

\b
Terms:
  host time        time of the host inside launch calls
  back-pressure    the part of it in which the device was busy and its queue
                   full: the host was waiting, cheaper launches gain nothing
  launch latency   start of the work minus start of its launch call; unknown,
                   never negative, where the two clocks disagree
  shorter          calls that took longer than the work that they launched
"""


@click.command("launches", help=HELP)
@trace_argument
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    report("launches", trace, output, limit=limit)
