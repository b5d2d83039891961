"""`traceview launches`: what launches cost."""

from __future__ import annotations

from traceview.cli.reports import report_command

HELP = """What do the launches cost the host, and do they keep the GPU fed?

A launch is a runtime or driver call whose correlation has device work; a graph launch is one
call with much work.

\b
Examples:
  traceview launches trace.json.gz
  traceview launches trace.json.gz --format csv -o launches.csv

\b
Terms:
  host time        time of the host inside launch calls
  back-pressure    the part of it in which the device was busy and its queue
                   full: the host was waiting, cheaper launches gain nothing
  launch latency   start of the work minus start of its launch call; unknown,
                   never negative, where the two clocks disagree
  shorter          calls that took longer than the work that they launched
"""

command = report_command("launches", HELP)
