"""`traceview steps`: one row a step."""

from __future__ import annotations

from traceview.cli.reports import report_command

HELP = """How long is a step, and do the steps agree?

One row a ProfilerStep#N, with the work that was launched in it, on whatever thread. Steps that
hold the profiler's own start or end are shown as excluded and are in no mean.

\b
Examples:
  traceview steps trace.json.gz
  traceview steps trace.json.gz -o steps.csv

\b
Terms:
  host            the range on the host, from the begin to the end of the step
  device period   from the last end of the device work of the step before
                  to the last end of this step's
  busy            time in which the step's work kept the device busy
"""

command = report_command("steps", HELP)
