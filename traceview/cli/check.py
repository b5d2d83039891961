"""`traceview check`: whether claims about recordings hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import output_options
from traceview.cli.sides import SidesCommand, load_sides

if TYPE_CHECKING:
    from traceview.check import Claim, Finding
    from traceview.cli.output import Output

NOT_HELD = 3
"""The exit code where a claim fails, or cannot be told."""

HELP = """Does a claim about one recording, repeated ones or two sides hold?

A claim compares a metric with an amount. `traceview check --list` shows what can be claimed.

\b
Examples:
  traceview check trace.json.gz --that 'gpu_idle_ratio < 20%' \\
      --that 'annotation("attention").busy_ratio > 40%'
  traceview check runs/ --that 'gpu_busy < 5 ms' --that 'syncs == 0'
  traceview check --before a.json --after b.json \\
      --that 'ratio("gpu_busy") < 0.8' \\
      --that 'delta(kernel("Memcpy DtoD").count) == -1'

\b
Answers:
  holds        the value fulfils the claim, with all of its interval
  fails        none of the interval does
  cannot tell  some of it does, or the value was not recorded

A value is exact where it is of one recording. Of several recordings, and of two sides, it has an
interval, the same as in `traceview diff`.

\b
Exit codes: 0 where every claim holds; 3 where one fails or cannot be told
(with --allow-unknown only where one fails).
"""


@click.command("check", help=HELP, cls=SidesCommand)
@click.argument("recordings", nargs=-1, metavar="[TRACE...]")
@click.option("--that", "texts", multiple=True, metavar="CLAIM", help="What has to hold.")
@click.option("--before", multiple=True, metavar="FILE...", help="Recordings of one side.")
@click.option("--after", multiple=True, metavar="FILE...", help="Recordings of the other side.")
@click.option("--noise", metavar="FILE", help="A noise profile that `traceview noise` wrote.")
@click.option("--allow-unknown", is_flag=True, help="Exit with 0 where a claim cannot be told.")
@click.option("--list", "listed", is_flag=True, help="Show what can be claimed, and stop.")
@output_options
@click.pass_context
def command(
    context: click.Context,
    *,
    recordings: tuple[str, ...],
    texts: tuple[str, ...],
    before: tuple[str, ...],
    after: tuple[str, ...],
    noise: str | None,
    allow_unknown: bool,
    listed: bool,
    output: Output,
) -> None:
    """Answer each claim; the exit code says whether all of them hold."""
    # Imported here, since pandas takes longer to import than help may.
    from traceview.check import Answer, parse  # noqa: PLC0415
    from traceview.report import check as report  # noqa: PLC0415

    if listed:
        output.write(report.listing())
        return
    if not texts:
        raise click.UsageError("say what has to hold: --that CLAIM; --list shows what there is")
    if noise and not (before and after):
        raise click.UsageError("--noise compares two sides: name them with --before and --after")
    output.spare(*recordings, *before, *after)
    claims = [parse(text) for text in texts]
    findings = _findings(claims, recordings, (before, after), noise)
    output.write(report.document(findings))
    answers = {finding.answer for finding in findings}
    if Answer.FAILS in answers or (Answer.CANNOT_TELL in answers and not allow_unknown):
        context.exit(NOT_HELD)


def _findings(
    claims: list[Claim],
    recordings: tuple[str, ...],
    sides: tuple[tuple[str, ...], tuple[str, ...]],
    noise: str | None,
) -> list[Finding]:
    """The claims held against one side, or against a diff."""
    from traceview.check import find  # noqa: PLC0415 -- see above
    from traceview.diff import diff  # noqa: PLC0415
    from traceview.diff.noise import load_profile  # noqa: PLC0415
    from traceview.diff.recordings import measured_side  # noqa: PLC0415

    match recordings, sides:
        case (_, *_), ((), ()):
            one = measured_side("here", load_sides(recordings))
            return [find(claim, one) for claim in claims]
        case (), ((_, *_), (_, *_)):
            profile = load_profile(noise) if noise else None
            both = diff(load_sides(sides[0]), load_sides(sides[1]), noise=profile)
            return [find(claim, both) for claim in claims]
    raise click.UsageError("name recordings of one program, or --before FILE... --after FILE...")
