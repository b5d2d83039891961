"""`traceview diff`: what changed between two sides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.reports import limit_option
from traceview.cli.sides import SidesCommand, by_variant, load_sides

if TYPE_CHECKING:
    from traceview.cli.output import Output
    from traceview.trace import Trace

GATE_FAILED = 3
"""The exit code where a --fail-on did not hold."""
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
split over regions, ops, kernels and causes of idle time so that the rows add up to it.

Several recordings a side show how far runs differ by themselves; from 3 a side on, that is what
verdicts rest on. A folder stands for the recordings in it. One folder alone is split by the two
variants that `traceview capture` recorded into it.

\b
Examples:
  traceview diff before.json after.json
  traceview diff --before a1.json a2.json a3.json \\
      --after b1.json b2.json b3.json
  traceview diff before/ after/ --fail-on 'gpu_busy>2%' -o diff.md
  traceview diff before.json after.json --margin gpu_busy=3 --strict

\b
Terms:
  delta, ratio  after - before, after / before
  quantities    gpu_busy, device_period, gpu_idle, host_step, launch_overhead,
                sync_stall, peak_allocated; times are those of a step
  verdict       improved, regressed: the whole interval is beyond the margin;
                same: all of it is inside; cannot_tell: neither of these, with
                what would settle it
  basis         where the interval comes from: `measured` is the spread of 3
                or more recordings a side, `profile` that of a noise profile,
                `prior` that of other programs; `exact` needs none
  replaced      other kernels that do the job of the ones before, in the
                innermost region, module or op that both sides have

\b
Exit codes: 0; 3 where a --fail-on does not hold; 4 under --strict where the
sides are not comparable.
"""


@click.command("diff", help=HELP, cls=SidesCommand)
@click.argument("recordings", nargs=-1, metavar="[BEFORE AFTER | FOLDER]")
@click.option("--before", multiple=True, metavar="FILE...", help="Recordings of one side.")
@click.option("--after", multiple=True, metavar="FILE...", help="Recordings of the other side.")
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="QUANTITY=PERCENT",
    callback=_margins,
    help="How large a change must be to matter, for each quantity;"
    " unless given, 1.5 for gpu_busy, 0 for peak_allocated, which is exact, and 5 for the others.",
)
@click.option("--noise", metavar="FILE", help="A noise profile that `traceview noise` wrote.")
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Exit with 3 where a quantity regressed: `regressed` for any, or `gpu_busy>2%` for one by"
    " more than that. A verdict that cannot be told fails nothing.",
)
@click.option("--strict", is_flag=True, help="Exit with 4 where the two are not comparable.")
@limit_option
@output_options
@click.pass_context
def command(
    context: click.Context,
    *,
    recordings: tuple[str, ...],
    before: tuple[str, ...],
    after: tuple[str, ...],
    output: Output,
    margins: dict[str, float],
    noise: str | None,
    gates: tuple[str, ...],
    strict: bool,
    limit: int | None,
) -> None:
    """Compare, send the report, and let --fail-on and --strict decide how the command ends."""
    output.spare(*recordings, *before, *after)
    # Imported here, since pandas takes longer to import than help may.
    from traceview.diff import Comparability, diff  # noqa: PLC0415
    from traceview.diff import gate as gating  # noqa: PLC0415
    from traceview.diff.noise import load_profile  # noqa: PLC0415
    from traceview.report import diff as report  # noqa: PLC0415

    wanted = [gating.parse(text) for text in gates]
    profile = load_profile(noise) if noise else None
    compared = diff(
        *_sides(recordings, before, after),
        margins=margins,
        noise=profile,
    )
    output.write(report.document(compared, limit=limit))
    failed = gating.failures(wanted, compared.quantities)
    for line in failed:
        click.echo(f"traceview: {line}", err=True)
    if strict and compared.comparable is Comparability.NO:
        context.exit(NOT_COMPARABLE)
    if failed:
        context.exit(GATE_FAILED)


def _sides(
    recordings: tuple[str, ...], before: tuple[str, ...], after: tuple[str, ...]
) -> tuple[list[Trace], list[Trace]]:
    """Both sides, however they were named."""
    match recordings, before, after:
        case (first, second), (), ():
            return load_sides([first]), load_sides([second])
        case (folder,), (), ():
            return by_variant(load_sides([folder]))
        case (), (_, *_), (_, *_):
            return load_sides(before), load_sides(after)
    raise click.UsageError(
        "name both sides: BEFORE AFTER, or --before FILE... --after FILE..., or one folder"
    )
