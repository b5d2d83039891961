"""The text of a trace in whatever holds it: told by content, not by the file's name.

A file or a pipe, `-` for the standard input, and members of archives, which are named as
`archive.tar.gz:member`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final

from traceview.errors import EmptyTraceError, FileError, NotATraceError
from traceview.kineto.archive import Archive, Member, archive_in
from traceview.kineto.compression import BLOCK, Counted, Limits, peeked, plain
from traceview.kineto.encodings import encoding_of, transcoded
from traceview.trace import Note

STANDARD_INPUT: Final = "-"
_READING: Final = Lock()
_PIPES: Final = 8
"""So many pipes are kept at once."""
_LISTED: Final = 8


@dataclass(slots=True)
class Source:
    """A text in blocks. `notes` grows while they are read; `start` is a look at its first bytes."""

    name: str
    start: bytes
    blocks: Iterator[bytes]
    notes: list[Note] = field(default_factory=list)


@contextmanager
def opened(path: str, limits: Limits | None = None) -> Iterator[Source]:
    """The text that `path` names. Raises FileError in one plain sentence."""
    limits = limits or Limits.allowed()
    file, member = _located(path)
    with _stream(file) as raw:
        notes: list[Note] = []
        with _content(file, member, raw, limits, notes) as (name, stream):
            start = peeked(stream, 1 << 12)
            if not start:
                raise EmptyTraceError(name, "the file is empty")
            encoding = encoding_of(start)
            blocks = transcoded(_blocks(stream), encoding) if encoding else _blocks(stream)
            with closing(_ahead(_unpadded(blocks, notes))) as early:
                yield Source(name, start, _guarded(early, name), notes)


def members(path: str, limits: Limits | None = None) -> tuple[str, ...]:
    """The names by which the traces in `path` are opened: itself, or one for each in an archive."""
    limits = limits or Limits.allowed()
    file, member = _located(path)
    if member is not None or file == STANDARD_INPUT:
        return (path,)
    with _stream(file) as raw:
        archive = archive_in(raw, file, limits)
        return (path,) if archive is None else tuple(f"{file}:{name}" for name in archive.traces())


def _located(path: str) -> tuple[str, str | None]:
    """The file, and the member of it, that a path names."""
    if path == STANDARD_INPUT:
        return path, None
    try:
        if Path(path).exists():
            return path, None
        colon = path.find(":", 1)
        while colon > 0:
            if Path(path[:colon]).is_file() or Path(path[:colon]).is_fifo():
                return path[:colon], path[colon + 1 :]
            colon = path.find(":", colon + 1)
    except OSError as error:
        raise FileError(path, f"cannot be opened: {error.strerror}") from None
    raise FileError(path, "there is no such file")


@lru_cache(maxsize=1)
def _all_of(stream: BinaryIO) -> bytes:
    """What a stream that can be read once only holds, for whoever asks again."""
    return stream.read()


@lru_cache(maxsize=_PIPES)
def _all_at(file: str, inode: int) -> bytes:  # noqa: ARG001 -- tells pipes of one name apart
    """What a pipe that has a name holds, such as /dev/fd/63, for whoever asks again."""
    return Path(file).read_bytes()


@contextmanager
def _stream(file: str) -> Iterator[BinaryIO]:
    """The bytes of a file as they are; what can be read once only is kept, to be reread."""
    if file == STANDARD_INPUT:
        with _READING:
            content = _all_of(sys.stdin.buffer)
        yield io.BytesIO(content)
        return
    if Path(file).is_dir():
        raise FileError(file, "is a folder, not a trace file")
    try:
        stream = _seekable(Path(file))
    except OSError as error:
        raise FileError(file, f"cannot be opened: {error.strerror}") from None
    with stream:
        yield stream


def _seekable(path: Path) -> BinaryIO:
    """The file, or all of it where it has no places to go back to."""
    if path.is_fifo():
        with _READING:
            return io.BytesIO(_all_at(str(path), path.stat().st_ino))
    stream = path.open("rb", buffering=0)
    if stream.seekable():
        return stream
    with stream:
        return io.BytesIO(stream.readall())


@contextmanager
def _content(
    file: str, member: str | None, raw: BinaryIO, limits: Limits, notes: list[Note]
) -> Iterator[tuple[str, io.BufferedReader]]:
    """The text itself, out of its archive and without compression, and its name."""
    archive = archive_in(raw, file, limits)
    if archive is None:
        if member is not None:
            raise FileError(file, f"is no archive, so it has no member {member}")
        raw.seek(0)
        counted = Counted(raw)
        yield file, plain(io.BufferedReader(counted, BLOCK), counted, file, limits, notes)
        return
    chosen = _chosen(file, member, archive)
    name = f"{file}:{chosen}"
    with archive.opened(chosen) as stream:
        inner = Member(stream, name)
        yield name, plain(io.BufferedReader(inner, BLOCK), inner, name, limits, notes)


def _chosen(file: str, member: str | None, archive: Archive) -> str:
    if member is not None:
        names = archive.names()
        if member in names:
            return member
        raise FileError(file, f"has no member {member}; it holds {_list(names)}")
    traces = archive.traces()
    if len(traces) == 1:
        return traces[0]
    if traces:
        raise FileError(
            file,
            f"holds {len(traces)} traces; name one of them, as {file}:{traces[0]}: {_list(traces)}",
        )
    raise NotATraceError(file, f"this archive holds no trace, but {_list(archive.names())}")


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:_LISTED]) or "nothing at all"
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown


def _blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _ahead(blocks: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same blocks, each read and unpacked while the one before it is scanned.

    Both sides of it are native code that leaves the interpreter free.
    """
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, b"")
        while block := coming.result():
            coming = pool.submit(next, blocks, b"")
            yield block


def _unpadded(blocks: Iterator[bytes], notes: list[Note]) -> Iterator[bytes]:
    """Without the NULs at the end, which a file has that was allocated before it was written."""
    padding = 0
    for block in blocks:
        content = block.rstrip(b"\0")
        if content:
            while padding:
                size = min(padding, BLOCK)
                yield bytes(size)
                padding -= size
            yield content
        padding += len(block) - len(content)
    if padding:
        notes.append(Note("padding", f"{padding:,} NUL bytes at the end of the file are ignored"))


def _guarded(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    try:
        yield from blocks
    except OSError as error:
        raise FileError(name, f"cannot be read: {error.strerror or error}") from None
