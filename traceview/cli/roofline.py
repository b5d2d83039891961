"""`traceview roofline`: achieved rates beside the GPU's peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import frame_options
from traceview.cli.reports import limit_option, report, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """How near do matrix products and attention come to what the GPU could do?

Operations follow from the recorded shapes (record_shapes=True), the time is that of the device
work of the op. Peaks are the dense figures of a table of known GPUs.

\b
Examples:
  traceview roofline trace.json.gz
  traceview roofline trace.json.gz --peak bf16=800 --peak memory=4.3

\b
Terms:
  useful      operations that the result needs, a second: causal attention
              counts half of its square
  executed    operations that are carried out: the math backend of attention
              computes the whole square
  of peak     executed, as a share of the GPU's rate at this precision
  of memory   least bytes (each input read once, each output written once)
              a second, as a share of the GPU's bandwidth
  in          precision of the inputs; tf32 is fp32 on tensor cores
"""


def _rates(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> dict[str, float] | None:
    """`bf16=989.4` as a name and a rate."""
    rates: dict[str, float] = {}
    for text in given:
        name, _, number = text.partition("=")
        try:
            rates[name.strip()] = float(number)
        except ValueError:
            raise click.BadParameter(f"{text!r} is not NAME=NUMBER, as in bf16=989.4") from None
        if not 0 < rates[name.strip()] < float("inf"):
            raise click.BadParameter(f"{text!r}: the rate must be above 0")
    return rates or None


@click.command("roofline", help=HELP)
@trace_argument
@click.option(
    "--peak",
    "peaks",
    multiple=True,
    metavar="NAME=RATE",
    callback=_rates,
    help="A peak to count instead, in TFLOP/s (bf16, fp16, tf32, fp32, fp64, fp8, int8) or TB/s"
    " (memory). May be given several times.",
)
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None, peaks: dict[str, float] | None) -> None:
    """Send the report."""
    report("roofline", trace, output, limit=limit, peaks=peaks)
