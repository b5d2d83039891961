"""A word on stderr where a file will take several times as long as it could."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import click

LARGE = 100 << 20
"""Bytes of a file that takes noticeably long without native code."""


def tell_if_slow(path: str) -> None:
    """Say, once, that native code was not built, where the file at `path` is large."""
    from traceview.kineto import native  # noqa: PLC0415 -- help has no time for numpy

    try:
        large = Path(path).stat().st_size > LARGE
    except OSError:  # a member of an archive, the standard input, or what cannot be read anyway
        return
    if large and native.library() is None:
        tell()


@cache
def tell() -> None:
    """Say it the first time that it is asked for."""
    click.echo(
        "traceview: the native code was not built (no C++ compiler at installation), so that "
        "reading takes several times as long",
        err=True,
    )
