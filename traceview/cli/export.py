"""`traceview export`: a frame of a recording to a file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traceview.cli.output import FRAMES, chosen
from traceview.cli.reports import load, send_frame, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output
    from traceview.snapshot import Snapshot
    from traceview.trace import Trace

_PIECE = 1 << 20

HELP = """Where do I get the rows for an analysis of my own?

Writes one frame of a recording to a file, whole and with its dtypes: Parquet, Arrow or CSV, by
the ending of the file. `traceview columns` explains the frames; traceview.store.read brings a
file back as the same frame, and pandas, polars or duckdb read it as well.

With --overlay it writes the recording itself with tracks added: gaps by cause, sync stalls, the
critical path, queue depth, memory, and beside another recording what work is matched with what.
Perfetto and chrome://tracing show it, and traceview reads it.

\b
Examples:
  traceview export trace.json.gz gaps -o gaps.parquet
  traceview export trace.json.gz launches -o launches.csv
  traceview export trace.json.gz --overlay -o overlay.json.gz
  traceview export after.json --overlay --against before.json \\
      --step ProfilerStep#12 -o overlay.json.gz
"""


_ENDINGS = FRAMES | {"csv": ".csv"}
_RECORDINGS = {"gz": ".json.gz", "json": ".json"}
"""What an overlay is written as: a recording again."""


@click.command("export", help=HELP)
@trace_argument
@click.argument("frame", required=False)
@click.option("--overlay", is_flag=True, help="Write the recording with tracks of its metrics.")
@click.option("--against", metavar="BEFORE", help="Add what work of BEFORE is matched with.")
@click.option("--step", metavar="NAME", help="Keep only what happens in this step.")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    required=True,
    help="Write to FILE; its ending picks the format: "
    + " ".join([*_ENDINGS.values(), *_RECORDINGS.values()]),
)
def command(
    trace: str,
    frame: str | None,
    path: str,
    *,
    overlay: bool,
    against: str | None,
    step: str | None,
) -> None:
    """Send the frame, or the recording with its overlay."""
    if overlay is (frame is not None):
        raise click.UsageError("name one frame, or say --overlay")
    if not overlay and (against or step):
        raise click.UsageError("--against and --step go with --overlay")
    output = chosen(None, path, None, _RECORDINGS if overlay else _ENDINGS)
    output.spare(trace, *filter(None, [against]))
    if frame is not None:
        send_frame(_loaded(trace), frame, output)
    else:
        _lay_over(trace, output, against, step)


def _lay_over(trace: str, output: Output, against: str | None, step: str | None) -> None:
    from traceview.overlay import overlay  # noqa: PLC0415 -- help has no time for pandas

    before = load(against) if against else None
    pieces = overlay(load(trace), against=before, step=step)
    output.send(lambda place: _written(pieces, place, packed=output.format == "gz"))


def _written(pieces: Iterable[bytes], place: Path, *, packed: bool) -> None:
    """Write a recording; packed without a date, so that the same one gives the same bytes."""
    with place.open("wb") as file:
        if not packed:
            file.writelines(pieces)
            return
        # GzipFile takes its time for each piece, however short.
        stream = gzip.GzipFile("", "wb", 6, file, mtime=0)
        with stream, io.BufferedWriter(stream, _PIECE) as joining:
            joining.writelines(pieces)


def _loaded(path: str) -> Trace | Snapshot:
    from traceview import snapshot  # noqa: PLC0415 -- help has no time for pandas

    return snapshot.load(path) if snapshot.is_pickle(path) else load(path)
