"""`traceview experiment`: predictions, what came of them, and the map of both."""

from __future__ import annotations

import click

from traceview.cli import experiment_read, experiment_write

HELP = """What was predicted, what came of it, and what is known by now?

An experiment is one Markdown file. It begins with a prediction that can fail, and one change;
recordings then fill in what was observed, and the numbers decide.

\b
Examples:
  traceview experiment new inplace-mask \\
      --question 'What does the causal mask cost?' \\
      --hypothesis 'masked_fill copies the scores; masked_fill_ need not' \\
      --change 'mask_op: masked_fill -> masked_fill_' \\
      --predict 'delta(kernel("Memcpy DtoD").count) == -1' \\
      --predict 'ratio("gpu_busy") in 0.85..0.90'
  traceview experiment record inplace-mask --before naive/ --after inplace/
  traceview experiment map -o map.md

\b
Verdicts, by the recorded numbers and never by hand:
  confirmed    all that was predicted holds, nothing that falsifies it does
  refuted      something predicted fails, or something falsifies it
  cannot tell  neither; or more than the declared factor changed
  open         nothing was recorded yet
"""


@click.group("experiment", help=HELP)
def command() -> None:
    """Gather the commands."""


for subcommand in (*experiment_write.COMMANDS, *experiment_read.COMMANDS):
    command.add_command(subcommand)
