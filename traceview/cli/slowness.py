"""A word on stderr where a file will take several times as long as it could."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import click

LARGE = 100 << 20
"""Bytes of a text that takes noticeably long without native code."""
EXPANSION = 12
"""So many bytes come of one, at the least: recordings of PyTorch expand 10 to 60 times."""
_PLAIN = (b"{", b"[", b" ", b"\t", b"\r", b"\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""What a text of JSON begins with; all else that holds a recording compresses it."""


def tell_if_slow(path: str) -> None:
    """Say, once, that native code was not built, where the file at `path` is large."""
    from traceview.kineto import native  # noqa: PLC0415 -- help has no time for numpy

    if native.library() is None and _text_size(Path(path)) > LARGE:
        tell()


def _text_size(path: Path) -> int:
    """About how many bytes of text the file holds; 0 where it does not tell beforehand."""
    try:
        if not path.is_file():  # a member of an archive or a pipe
            return 0
        with path.open("rb") as file:
            plain = file.read(3).startswith(_PLAIN)
        return path.stat().st_size * (1 if plain else EXPANSION)
    except OSError:  # what cannot be read anyway
        return 0


@cache
def tell() -> None:
    """Say it the first time that it is asked for."""
    click.echo(
        "traceview: the native code was not built (no C++ compiler at installation), so that "
        "reading takes several times as long",
        err=True,
    )
