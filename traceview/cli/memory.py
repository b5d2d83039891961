"""`traceview memory`: the peak of allocated memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traceview.cli.output import FRAMES, frame_options
from traceview.cli.reports import limit_option, load, report, send_frame, trace_argument

if TYPE_CHECKING:
    from traceview.cli.output import Output

HELP = """How high is the peak, and what was alive at it?

Needs a recording made with profile_memory=True, or a snapshot that
torch.cuda.memory._dump_snapshot wrote. Nothing that a snapshot names is imported or run.

\b
Examples:
  traceview memory trace.json.gz
  traceview memory snapshot.pickle
  traceview memory trace.json.gz --format json | jq .peaks
  traceview memory trace.json.gz -o timeline.parquet

\b
Terms:
  allocated   bytes in tensors
  reserved    bytes that the allocator holds from the driver, in use or not
  before recording    what was allocated when the recording began
  peak        the largest allocated of the recording, exact to the byte where
              the allocator's totals are recorded
  at its begin, at its end    allocated when the host entered and left a step
"""


@click.command("memory", help=HELP)
@trace_argument
@limit_option
@frame_options
def command(trace: str, output: Output, limit: int | None) -> None:
    """Send the report."""
    from traceview.snapshot.unpickle import is_pickle  # noqa: PLC0415 -- help needs none of it

    if is_pickle(trace):
        _snapshot(trace, output, limit)
    elif output.format in FRAMES:
        output.spare(trace)
        send_frame(load(trace), "memory_timeline", output)
    else:
        report("memory", trace, output, limit=limit)


def _snapshot(path: str, output: Output, limit: int | None) -> None:
    from traceview import snapshot  # noqa: PLC0415 -- help has no time for pandas
    from traceview.report import snapshot as snapshot_report  # noqa: PLC0415

    output.spare(path)
    taken = snapshot.load(path)
    if output.format in FRAMES:
        send_frame(taken, "snapshot_timeline", output)
    else:
        output.write(snapshot_report.document(taken, limit=limit))
