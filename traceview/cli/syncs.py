"""`traceview syncs`: blocking calls of the host."""

from __future__ import annotations

from traceview.cli.reports import report_command

HELP = """Where does the host wait for the GPU?

Calls that block the host, such as cudaStreamSynchronize and what .item() turns into, by the
site that makes them: the call, the innermost op around it and the annotation around that.

\b
Examples:
  traceview syncs trace.json.gz
  traceview syncs trace.json.gz --limit 5

\b
Terms:
  blocked       time of the host inside the call
  GPU idle      the part of it in which the GPU had nothing to do either

The synchronization that the profiler makes when it stops is left out.
"""

command = report_command("syncs", HELP)
