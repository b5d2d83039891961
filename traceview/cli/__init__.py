"""The `traceview` command.

Each command is a small module of its own, imported when it is called and not before; `group` knows
them by name and question, so that help costs nothing.
"""

from traceview.cli.group import main

__all__ = ["main"]
