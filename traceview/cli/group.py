"""The commands by the question they answer, and what happens when one of them fails."""

from __future__ import annotations

import errno
import os
import sys
from difflib import get_close_matches
from importlib import import_module, metadata
from io import TextIOWrapper
from typing import IO, Any

import click

from traceview.errors import TraceviewError

COMMANDS = {
    "What changed": {
        "diff": "What changed between two recordings, where it comes from, is it real?",
        "noise": "How far do recordings of one program differ by themselves?",
        "check": "Does a claim about recordings hold?",
    },
    "Where the time goes": {
        "summary": "Is the GPU doing useful work? All of one recording on a screen.",
        "steps": "How long is a step, and do the steps agree?",
        "kernels": "Which kernels keep the GPU busy?",
        "ops": "Which ops take the time, on the host and on the GPU?",
        "modules": "Which nn.Modules take the time?",
        "annotations": "Which annotated regions take the time?",
        "stacks": "Which lines of Python take the time?",
        "roofline": "How near do matrix products and attention come to the GPU's peak?",
        "gaps": "What does the GPU wait for while it is idle?",
        "launches": "What do the launches cost the host, and do they keep the GPU fed?",
        "syncs": "Where does the host wait for the GPU?",
        "critical-path": "What would have to be faster for a step to be shorter?",
    },
    "What fills the memory": {
        "memory": "How high is the peak, and what was alive at it?",
    },
    "To show to others": {
        "plot": "What does it look like, for a talk or a paper?",
    },
    "Make a recording": {
        "capture": "How do I record a trace that can be compared with another?",
    },
    "What is known": {
        "experiment": "What was predicted, what came of it, and what is known by now?",
        "run": "Does attention do what was predicted? The whole loop in one command.",
    },
    "The data": {
        "doctor": "What is this file, is it sound, and what can be computed from it?",
        "export": "Where do I get the rows for an analysis of my own?",
        "columns": "What does each column of the frames mean?",
        "schema": "What does the JSON of a report hold?",
    },
}
"""Sections of `traceview --help`, their commands, and the question that each command answers."""


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What writing to stdout meets where there is no room."""


class Refusal(click.ClickException):
    """A TraceviewError on its way out: one line, exit code 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it on stderr."""
        click.echo(f"traceview: {self.format_message()}", file=file, err=True)


class Interrupted(Refusal):
    """Ctrl-C; the exit code is what shells have for it, 128 and the number of the signal."""

    exit_code = 130


class Commands(click.Group):
    """A group that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """List the names of all commands, as help shows them."""
        return [name for commands in COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name from the module of this name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = f"traceview.cli.{cmd_name.replace('-', '_')}"
        command: click.Command = import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; where there is none, say which may have been."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx))
            if not near:
                raise
            guess = f"{error.message} Did you mean {' or '.join(map(repr, near))}?"
            raise click.UsageError(guess, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below what they are for, all in one column, importing none."""
        width = max(map(len, self.list_commands(ctx)))
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), question) for name, question in commands.items()]
                )

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a TraceviewError is said in one line, a bug stays a traceback."""
        try:
            return super().invoke(ctx)
        except TraceviewError as error:
            from traceview.render.names import visible  # noqa: PLC0415 -- only needed to fail

            raise Refusal(visible(str(error))) from error
        except KeyboardInterrupt:
            click.echo(err=True)  # ends the line on which the terminal shows ^C
            raise Interrupted("interrupted") from None


def _print_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    try:
        version = metadata.version("traceview")
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        version = "of a checkout"
    click.echo(f"traceview {version}")
    ctx.exit()


HELP = """Read the traces of PyTorch's profiler: what changed, and is it real?

A TRACE is a file that torch.profiler wrote (export_chrome_trace), as .json or .json.gz;
- reads one from the standard input.

\b
Start with one recording:   traceview summary trace.json.gz
Compare two of them:        traceview diff before.json after.json
Keep the answer:            traceview diff before.json after.json -o diff.md
"""


@click.group(
    cls=Commands,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`traceview COMMAND --help` explains the terms that a command uses.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Gather the commands."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may not fit the encoding
    try:
        cli(prog_name="traceview")
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        click.echo(f"traceview: the output cannot be written: {error.strerror}", err=True)
        # What is still in the buffer would fail again when the interpreter ends, in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Refusal.exit_code)
