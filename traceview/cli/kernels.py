"""`traceview kernels`: one row a kernel name."""

from __future__ import annotations

from traceview.cli.reports import report_command

HELP = """Which kernels keep the GPU busy?

One row a name, the longest first. Where kernels overlap, each instant is shared equally among
those that run, so that the rows add up to the busy time.

\b
Examples:
  traceview kernels trace.json.gz --limit 10
  traceview kernels trace.json.gz -o kernels.csv

\b
Terms:
  busy     the part of the device's busy time that is this kernel's share
  count    how many times it ran
  median   its median duration
"""

command = report_command("kernels", HELP)
