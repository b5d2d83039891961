"""`traceview schema`: the JSON Schema of a report."""

from __future__ import annotations

from importlib import resources

import click

from traceview.errors import UsageError

HELP = """What does the JSON of a report hold?

Prints the JSON Schema of one report, or the names of all without one. A report has all keys that
its schema requires, with these types, and may have more. Times are integers of ns and sizes
integers of bytes; what is missing is null.

\b
Examples:
  traceview schema
  traceview schema diff > diff.schema.json
"""


@click.command("schema", help=HELP)
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print it."""
    folder = resources.files("traceview").joinpath("contracts")
    names = sorted(file.name.removesuffix(".json") for file in folder.iterdir())
    if name is None:
        click.echo("\n".join(names))
        return
    wanted = name.replace("-", "_")
    if wanted not in names:
        raise UsageError(f"no report is called {name!r}; the reports are {', '.join(names)}")
    click.echo(folder.joinpath(f"{wanted}.json").read_text("utf-8"), nl=False)
