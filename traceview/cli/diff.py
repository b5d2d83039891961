"""`traceview diff`: what changed between two recordings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.reports import load

if TYPE_CHECKING:
    from traceview.cli.output import Output

NOT_COMPARABLE = 4
"""The exit code under --strict where the two are not of the same work."""


def _margins(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    """Read QUANTITY=PERCENT pairs as shares of one by quantity."""
    margins = {}
    for value in values:
        quantity, _, percent = value.partition("=")
        try:
            share = float(percent.rstrip(" %")) / 100
        except ValueError:
            share = math.nan
        if not quantity or not 0 <= share < math.inf:
            raise click.BadParameter(f"{value!r} is not like gpu_busy=2 (a quantity and per cent)")
        margins[quantity.strip()] = share
    return margins


HELP = """What changed between two recordings, where does it come from, and is it real?

First it is checked whether both are recordings of the same work. Then each quantity gets a
verdict of its own, with the interval it rests on, and the difference of the device period is
split over kernels and causes of idle time so that the rows add up to it.

\b
Examples:
  traceview diff before.json after.json
  traceview diff before.json after.json --margin gpu_busy=3
  traceview diff before.json after.json --strict -o diff.md

\b
Terms:
  delta, ratio  after - before, after / before
  quantities    gpu_busy, device_period, gpu_idle, host_step, launch_overhead,
                sync_stall, peak_allocated; times are those of a step
  verdict       improved, regressed: the whole interval is beyond the margin;
                same: all of it is inside; cannot_tell: neither of these, with
                what would settle it
  basis         where the interval comes from: `prior` is the run-to-run
                spread measured for such quantities; `exact` needs none
"""


@click.command("diff", help=HELP)
@click.argument("before")
@click.argument("after")
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="QUANTITY=PERCENT",
    callback=_margins,
    help="How large a change must be to matter, for each quantity;"
    " unless given, 1.5 for gpu_busy, 0 for peak_allocated, which is exact, and 5 for the others.",
)
@click.option("--strict", is_flag=True, help="Exit with 4 where the two are not comparable.")
@output_options
@click.pass_context
def command(
    context: click.Context,
    *,
    before: str,
    after: str,
    output: Output,
    margins: dict[str, float],
    strict: bool,
) -> None:
    """Compare, send the report, and let --strict decide how the command ends."""
    output.spare(before, after)
    recordings = load(before), load(after)
    from traceview.diff import Comparability, diff  # noqa: PLC0415 -- help has no time for pandas
    from traceview.report import diff as report  # noqa: PLC0415

    compared = diff(*recordings, margins=margins)
    output.write(report.document(compared))
    if strict and compared.comparable is Comparability.NO:
        context.exit(NOT_COMPARABLE)
