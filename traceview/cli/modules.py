"""`traceview modules`: host and device time by nn.Module."""

from __future__ import annotations

from traceview.cli.reports import TERMS, report_command

HELP = f"""Which nn.Modules take the time?

Needs a recording made with with_stack=True or with_modules=True. Work of the backward pass belongs
to the module of the forward op whose gradient it computes.

\b
Examples:
  traceview modules trace.json.gz
  traceview modules trace.json.gz --limit 50 -o modules.md

{TERMS}"""

command = report_command("modules", HELP)
