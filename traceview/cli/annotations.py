"""`traceview annotations`: host and device time by annotation."""

from __future__ import annotations

from traceview.cli.reports import TERMS, report_command

HELP = f"""Which annotated regions take the time?

A region made with torch.profiler.record_function owns the work launched in it, and the work of the
backward pass for it. The profiler's own steps are left out: `traceview steps` shows them.

\b
Examples:
  traceview annotations trace.json.gz
  traceview annotations trace.json.gz --format json | jq .annotations

{TERMS}"""

command = report_command("annotations", HELP)
