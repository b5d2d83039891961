"""`traceview export`: a frame of a recording to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import FRAMES, chosen
from traceview.cli.reports import load, send_frame, trace_argument

if TYPE_CHECKING:
    from traceview.snapshot import Snapshot
    from traceview.trace import Trace

HELP = """Where do I get the rows for an analysis of my own?

Writes one frame of a recording to a file, whole and with its dtypes: Parquet, Arrow or CSV, by
the ending of the file. `traceview columns` explains the frames; traceview.store.read brings a
file back as the same frame, and pandas, polars or duckdb read it as well.

\b
Examples:
  traceview export trace.json.gz gaps -o gaps.parquet
  traceview export trace.json.gz host -o host.arrow
  traceview export trace.json.gz launches -o launches.csv
"""


_ENDINGS = FRAMES | {"csv": ".csv"}


@click.command("export", help=HELP)
@trace_argument
@click.argument("frame")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    required=True,
    help="Write to FILE; its ending picks the format: " + " ".join(_ENDINGS.values()),
)
def command(trace: str, frame: str, path: str) -> None:
    """Send the frame."""
    output = chosen(None, path, None, _ENDINGS)
    output.spare(trace)
    send_frame(_loaded(trace), frame, output)


def _loaded(path: str) -> Trace | Snapshot:
    from traceview import snapshot  # noqa: PLC0415 -- help has no time for pandas

    return snapshot.load(path) if snapshot.is_pickle(path) else load(path)
