"""`traceview critical-path`: what the length of a step consists of."""

from __future__ import annotations

from traceview.cli.reports import report_command

HELP = """What would have to be faster for a step to be shorter?

From the end of each step the path goes back in time, always to what was waited for last: work
before on the same stream, an event, a launch call, what the host thread did before that, and in
a blocking call back to the device. Its parts add up to the step, exactly.

\b
Examples:
  traceview critical-path trace.json.gz
  traceview critical-path trace.json.gz -o path.parquet

\b
Terms:
  step           its device period: from the last device end of the step
                 before to the last device end of its own work
  launch_latency from the return of a launch call to the start of the work
  queued         between two pieces of work that were launched in time
"""

command = report_command("critical-path", HELP)
