"""`traceview plot`: a figure of one recording, or of several beside each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from traceview.cli.output import chosen
from traceview.cli.reports import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from traceview.trace import Trace

PICTURES = {"png": ".png", "svg": ".svg"}
WHAT = ("steps", "waterfall", "idle", "gaps", "latency", "queue", "memory", "roofline", "kernels")

HELP = """What does it look like, for a talk or a paper?

Draws one figure of one recording, or of several beside each other. Sides can be told apart in
grey and by every eye, and every axis has its unit.

\b
Examples:
  traceview plot before.json after.json -o steps.png
  traceview plot before.json after.json --what waterfall -o waterfall.svg
  traceview plot trace.json.gz --what memory -o memory.png

\b
Figures:
  steps      the device period of every step
  waterfall  where the difference of two recordings comes from; adds up
  idle       idle time by cause
  gaps       how many gaps are how long
  latency    how long work waits after its launch
  queue      how much launched work waits, over time
  memory     allocated memory over time, and who holds the peak
  roofline   rates of ops below what the GPU could do
  kernels    busy time of the kernels that take most
"""


@click.command("plot", help=HELP)
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option("--what", type=click.Choice(WHAT), default="steps", show_default=True,
              help="The figure to draw.")  # fmt: skip
@click.option("-o", "--output", "path", metavar="FILE", required=True,
              help="Write to FILE, a .png or .svg.")  # fmt: skip
def command(traces: tuple[str, ...], what: str, path: str) -> None:
    """Draw it and write it."""
    output = chosen(None, path, None, PICTURES)
    output.spare(*traces)
    drawn = _figure(what, {_label(trace, traces): load(trace) for trace in traces})
    # Without a date the same recordings give the same file.
    look: dict[str, Any] = {"metadata": {"Date": None}} if output.format == "svg" else {"dpi": 160}
    output.send(lambda place: drawn.savefig(place, format=output.format, **look))


def _label(path: str, paths: tuple[str, ...]) -> str:
    """The name of a file without its endings; the whole path where names are alike."""
    name = PurePath(path).name.split(".")[0]
    alike = sum(PurePath(other).name.split(".")[0] == name for other in paths) > 1
    return path if alike else name


def _figure(what: str, traces: dict[str, Trace]) -> Figure:
    from traceview import plots  # noqa: PLC0415 -- help has no time for matplotlib
    from traceview.metrics import gaps, kernels, launches, steps  # noqa: PLC0415

    metrics: dict[str, tuple[Callable[[Trace], Any], Callable[[dict[str, Any]], Figure]]] = {
        "steps": (steps.steps, plots.steps),
        "idle": (gaps.idle, plots.idle_by_cause),
        "gaps": (gaps.gaps, plots.gap_lengths),
        "latency": (launches.launches, plots.launch_latency),
        "queue": (launches.launches, plots.queue_depth),
        "kernels": (kernels.kernels, plots.kernels),
    }
    if what in metrics:
        metric, draw = metrics[what]
        return draw({label: metric(trace) for label, trace in traces.items()})
    return _waterfall(traces) if what == "waterfall" else _of_one(what, traces)


def _waterfall(traces: dict[str, Trace]) -> Figure:
    from traceview import plots  # noqa: PLC0415 -- see above
    from traceview import schema as s  # noqa: PLC0415
    from traceview.diff import diff  # noqa: PLC0415

    if len(traces) != len(("before", "after")):
        raise click.UsageError("a waterfall is of two recordings: BEFORE AFTER")
    compared = diff(*traces.values())
    return plots.waterfall(compared.attribution, int(compared.attribution[s.BEFORE_NS].sum()))


def _of_one(what: str, traces: dict[str, Trace]) -> Figure:
    from traceview import plots  # noqa: PLC0415 -- see above
    from traceview.metrics.memory import memory_at_peak, memory_timeline  # noqa: PLC0415
    from traceview.metrics.roofline import roofline  # noqa: PLC0415
    from traceview.peaks import peak_of  # noqa: PLC0415

    if len(traces) != 1:
        raise click.UsageError(f"{what} is drawn of one recording")
    (trace,) = traces.values()
    if what == "memory":
        return plots.memory(memory_timeline(trace), memory_at_peak(trace))
    return plots.roofline(roofline(trace), peak_of(trace.metadata.device_names))
