"""`traceview capture`: record attention, or a script of your own."""

from __future__ import annotations

import click

from traceview.cli import capture_attention, capture_run

HELP = """How do I record a trace that can be compared with another?

Records with torch.profiler and puts into the trace what a reader of it has to know: what was
run, on what machine, what it took outside the profiler, and for attention whether the result is
right. Needs PyTorch: pip install 'torch>=2.5'

\b
Examples:
  traceview capture attention --backend naive,flash --preset training
  traceview capture run train.py -- --batch 8
"""


@click.group("capture", help=HELP)
def command() -> None:
    """Gather the ways to record."""


command.add_command(capture_attention.command)
command.add_command(capture_run.command)
