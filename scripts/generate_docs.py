"""Write what README.md takes from the code: the example, the commands, the columns.

python scripts/generate_docs.py            # write it
python scripts/generate_docs.py --check    # exit with 1 where README.md is stale
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable
from pathlib import Path

import click

from traceview import kineto, schema, show
from traceview.cli.columns import document
from traceview.cli.group import COMMANDS, cli
from traceview.render import render

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
WIDTH = 80


def example() -> str:
    """What the first command of the README prints."""
    naive, flash = (
        kineto.load(ROOT / "sample_traces" / f"attention_{name}.json.gz")
        for name in ("naive", "flash")
    )
    return f"```text\n{show.diff(naive, flash, width=WIDTH)}```\n"


def commands() -> str:
    """The commands by the question they answer, then the help of each."""
    lines = []
    for title, questions in COMMANDS.items():
        lines += [f"\n| {title} | |", "| --- | --- |"]
        lines += [f"| `traceview {name}` | {question} |" for name, question in questions.items()]
    lines += ["", "<details>", "<summary>The help of every command</summary>", ""]
    with click.Context(cli, info_name="traceview", max_content_width=WIDTH) as above:
        for name in cli.list_commands(above):
            command = cli.get_command(above, name)
            if command is not None:
                lines += [f"#### {name}", "", "```text", _help(above, command, name), "```", ""]
    return "\n".join([*lines, "</details>", ""]).lstrip("\n")


def _help(above: click.Context, command: click.Command, name: str) -> str:
    with click.Context(
        command, above, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
    ) as context:
        return command.get_help(context)


def columns() -> str:
    """Every column of every frame."""
    text = render(document(schema.schemas().values()), "markdown", width=WIDTH)
    body = text.split("\n", 1)[1].strip().replace("\n## ", "\n#### ")
    summary = "<summary>All columns of all frames</summary>"
    return f"<details>\n{summary}\n\n{body}\n\n</details>\n"


PARTS: dict[str, Callable[[], str]] = {
    "example": example,
    "commands": commands,
    "columns": columns,
}
"""What is written between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""


def generated(text: str) -> str:
    """The README with its generated parts as the code would have them now."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}{part()}{end}{after}"
    return text


def main() -> int:
    """Write README.md, or say where it is stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    now = README.read_text(encoding="utf-8")
    wanted = generated(now)
    if not asked.check:
        README.write_text(wanted, encoding="utf-8")
        return 0
    stale = difflib.unified_diff(
        now.splitlines(), wanted.splitlines(), "README.md", "as the code has it", lineterm="", n=0
    )
    lines = list(stale)
    print("\n".join(lines) or "README.md is fresh")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
