"""The recordings that a command is given: files, folders, globs; one side of a diff or both."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traceview.cli.progress import progress
from traceview.cli.slowness import tell_if_slow
from traceview.errors import NotATraceError, UsageError

if TYPE_CHECKING:
    from traceview.trace import Trace

ENDINGS = (".json", ".json.gz", ".zip", ".tar", ".tar.gz", ".tgz", ".zst", ".bz2", ".xz")
"""What a recording in a folder may be called; a file that is named is read whatever its name."""
_SIDES = ("--before", "--after")


class SidesCommand(click.Command):
    """A command whose --before and --after each take all files up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its files, which is how click reads several."""
        spread: list[str] = []
        side: str | None = None
        for argument in args:
            if argument.startswith("-") and argument != "-":
                side = argument if argument in _SIDES else None
                spread += [] if side else [argument]
            else:
                spread += [side, argument] if side else [argument]
        return super().parse_args(ctx, spread)


def load_sides(arguments: Sequence[str]) -> list[Trace]:
    """Read the recordings that arguments stand for, side by side on the cores there are.

    A folder stands for the recordings in it, where what is no trace is passed over with a word on
    stderr; a glob for its files. Raises UsageError when one of them holds no recording.
    """
    sources = [source for argument in arguments for source in _expanded(argument)]
    what = sources[0][0] if len(sources) == 1 else f"{len(sources)} recordings"
    for path, _ in sources:
        tell_if_slow(path)
    with progress(what), ThreadPoolExecutor() as pool:
        traces = list(pool.map(_load, *zip(*sources, strict=True)))
    found = [trace for trace in traces if trace is not None]
    if not found:
        raise UsageError(f"{', '.join(arguments)}: no recording in this folder")
    return found


def _load(path: str, listed: bool) -> Trace | None:
    """The trace of a file; None for one that a folder lists and that is none."""
    from traceview import kineto  # noqa: PLC0415 -- pandas takes longer to import than help may

    try:
        return kineto.load(path)
    except NotATraceError as error:
        if not listed:
            raise
        click.echo(f"traceview: passed over {error}", err=True)
        return None


def by_variant(traces: Sequence[Trace]) -> tuple[list[Trace], list[Trace]]:
    """The two variants that a folder of recordings declares, in order of their first recordings.

    Raises UsageError when it does not declare exactly two.
    """
    from traceview.workload import declared  # noqa: PLC0415 -- see above

    groups: dict[tuple[tuple[str, object], ...], list[Trace]] = {}
    for trace in traces:
        workload = declared(trace.metadata.properties)
        variant = workload.work.variant if workload else {}
        groups.setdefault(tuple(sorted(variant.items())), []).append(trace)
    if len(groups) != len(("before", "after")) or () in groups:
        raise UsageError(
            "one folder must hold recordings of exactly two declared variants; "
            "name the sides: --before A1 A2 --after B1 B2"
        )
    before, after = groups.values()
    return before, after


def _expanded(argument: str) -> list[tuple[str, bool]]:
    """(file, whether a folder listed it) of one argument."""
    path = Path(argument)
    if path.is_dir():
        names = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
        if not names:
            raise UsageError(f"{argument}: no recording in this folder")
        return [(str(file), True) for file in names]
    if not path.exists() and glob.has_magic(argument):
        matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 -- takes absolute ones
        if not matches:
            raise UsageError(f"{argument}: no file is called so")
        return [(match, False) for match in matches]
    return [(argument, False)]
