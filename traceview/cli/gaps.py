"""`traceview gaps`: idle time by its cause."""

from __future__ import annotations

from traceview.cli.reports import report_command

HELP = """What does the GPU wait for while it is idle?

A gap is a stretch in which a device runs nothing. It is explained by the launch that ends it;
the parts of a gap add up to the gap, and what cannot be explained is called so.

\b
Examples:
  traceview gaps trace.json.gz
  traceview gaps trace.json.gz --limit 20 --format markdown

\b
Terms:
  sync             the host was synchronizing, or a sync had drained the queue
  allocation       the host was allocating or freeing memory
  memcpy_blocking  the host was in a blocking copy, or one drained the queue
  overhead         the profiler, code loading, compilation
  dataloader       the host was waiting for the DataLoader
  launch_call      the host was in a runtime or driver call
  cpu_op, python   the host was in an op; in Python, but in no op
  launch_latency   from the return of the launch call to the start of its work
  stream_wait      launched in time, but told to wait for an event
  graph            between two pieces of one graph launch
  queued           launched in time, delayed by the device itself
  unobserved       nothing was recorded: unexplained
  unlinked         the launch is not in the file: unexplained
"""

command = report_command("gaps", HELP)
