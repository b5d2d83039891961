"""The bytes of a trace within whatever they are wrapped in, told by content, not by name."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from isal import isal_zlib

from traceview.errors import EmptyTraceError, FileError
from traceview.trace import Note

BLOCK: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"


@dataclass(slots=True)
class Source:
    """A text in blocks; `notes` grows while they are read."""

    name: str
    blocks: Iterator[bytes]
    notes: list[Note] = field(default_factory=list)


@contextmanager
def opened(path: str) -> Iterator[Source]:
    """The text in the file at `path`. Raises FileError in one plain sentence."""
    file = Path(path)
    if file.is_dir():
        raise FileError(path, "is a folder, not a trace file")
    try:
        stream = file.open("rb")
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except OSError as error:
        raise FileError(path, f"cannot be opened: {error.strerror}") from None
    with stream:
        start = stream.peek(4)[:4] if hasattr(stream, "peek") else b""
        if not start:
            raise EmptyTraceError(path, "the file is empty")
        source = Source(path, iter(()))
        source.blocks = (
            _gunzipped(stream, source) if start.startswith(_GZIP) else _blocks(stream)
        )
        yield source


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _gunzipped(stream: BinaryIO, source: Source) -> Iterator[bytes]:
    """All members of a gzip stream. What follows the last one is told in a note."""
    produced = 0
    decompressor = isal_zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    rest = b""
    while compressed := rest or stream.read(BLOCK):
        try:
            block = decompressor.decompress(compressed, BLOCK * 4)
        except isal_zlib.error as error:
            if not produced:
                raise FileError(source.name, f"is no readable gzip file: {error}") from None
            source.notes.append(Note("damaged_gzip", f"the gzip stream breaks off: {error}"))
            return
        if block:
            produced += len(block)
            yield block
        if decompressor.eof:
            rest = decompressor.unused_data.lstrip(b"\0")
            if not rest:
                rest = stream.read(BLOCK)
            if not rest:
                break
            if not rest.startswith(_GZIP):
                source.notes.append(Note("trailing_bytes", "bytes after the gzip data ignored"))
                return
            decompressor = isal_zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        else:
            rest = decompressor.unconsumed_tail
    if not decompressor.eof:
        if not produced:
            raise FileError(source.name, "is a gzip file cut off before its first byte of content")
        source.notes.append(Note("truncated_gzip", "the gzip file is cut off"))
