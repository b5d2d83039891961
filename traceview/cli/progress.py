"""A sign of life for files that take their time, and nothing for all others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 1.0
"""How long a file may take before anything is shown."""


@contextmanager
def progress(path: str) -> Iterator[None]:
    """Show on stderr that `path` is being read, for how long, if somebody watches long enough."""
    if not sys.stderr.isatty():
        yield
        return
    with ExitStack() as shown:
        timer = Timer(PATIENCE_S, lambda: shown.enter_context(_bar(path)))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # a bar that is just appearing has to be there before it can go


def _bar(path: str) -> Progress:
    from rich import progress as parts  # noqa: PLC0415 -- most files need no bar
    from rich.console import Console  # noqa: PLC0415

    bar = parts.Progress(
        parts.SpinnerColumn(),
        parts.TextColumn("reading {task.description}", markup=False),
        parts.TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(path, total=None)
    return bar
