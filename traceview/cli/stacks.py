"""`traceview stacks`: host and device time by Python stack."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from traceview.cli.output import FRAMES, output_options
from traceview.cli.reports import TERMS, limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = f"""Which lines of Python take the time?

Needs a recording made with with_stack=True. As `.folded` it is collapsed-stack text for flame
graphs: speedscope, flamegraph.pl, inferno.

\b
Examples:
  traceview stacks trace.json.gz
  traceview stacks trace.json.gz -o gpu.folded
  traceview stacks trace.json.gz --host -o host.folded

{TERMS}"""


@click.command("stacks", help=HELP)
@trace_argument
@click.option("--host", is_flag=True, help="Fold the host's self time instead of GPU time.")
@limit_option
@partial(output_options, special=("folded", *FRAMES))
def command(trace: str, output: Output, limit: int | None, host: bool) -> None:
    """Send the report."""
    folds_host = host and output.format not in FRAMES
    report("stacks", trace, output, limit=limit, host=folds_host or None)
