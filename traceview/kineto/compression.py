"""Decompression by content: gzip, bz2, xz and zstd, bounded, and telling what is broken."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final, Protocol, cast

from isal import igzip_lib, isal_zlib

from traceview.errors import FileError, UsageError
from traceview.trace import Note

BLOCK: Final = 1 << 22
DAMAGE: Final = frozenset({"truncated_container", "damaged_container", "interleaved_writers"})
"""The codes of notes on content of which a part is missing."""
VARIABLE: Final = "TRACEVIEW_MAX_SIZE"
"""The environment variable that allows compressed files to expand further."""
_SIZE = re.compile(r"\s*(?P<number>\d{1,15})\s*(?:(?P<unit>[kmgt])(?:i?b)?|b)?\s*", re.IGNORECASE)
_SHIFTS: Final = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_ENOUGH: Final = 1 << 12
"""So much of a text tells what it is, however short the parts are that it comes in."""
_XZ_MEMORY: Final = 1 << 28
_SALVAGE_STEP: Final = 1 << 12
_GZIP_HEADER = re.compile(rb"\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff]", re.DOTALL)
"""Method, flags, time, effort and system (RFC 1952, 2.3): three bytes alone occur by chance."""
_GZIP_HEADER_SIZE: Final = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a compressed file may expand: a file can be made that fills any machine.

    The ratio counts once the content is larger than `free_bytes`. Recordings of PyTorch expand 10
    to 60 times.
    """

    most_bytes: int = 1 << 37
    most_ratio: int = 250
    free_bytes: int = 1 << 28

    @classmethod
    def allowed(cls) -> Limits:
        """The usual limits, or content of any density up to the size that the environment names.

        Raises UsageError where it names none.
        """
        stated = os.environ.get(VARIABLE)
        if stated is None:
            return cls()
        size = _SIZE.fullmatch(stated)
        if size is None:
            raise UsageError(f"{VARIABLE}: {stated!r} is no size such as 64GiB")
        most = int(size["number"]) << _SHIFTS[(size["unit"] or "").upper()]
        return cls(most_bytes=most, free_bytes=most)


class _Member(Protocol):
    """One gzip member, bz2 stream or xz stream; what bz2 and lzma call a decompressor."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /, max_length: int = -1) -> bytes: ...


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    magic: bytes
    member: Callable[[], _Member]


def _gzip_member() -> _Member:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


_FORMATS: Final = (
    _Format("gzip", b"\x1f\x8b", _gzip_member),
    _Format("bz2", b"BZh", bz2.BZ2Decompressor),
    _Format("xz", b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY)),
)
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_FRAMES: Final = (_ZSTD[1:], b"\x2a\x4d\x18")
"""A frame, or one to be skipped, behind its first byte (RFC 8878, 3.1)."""
_ZSTD_STEP: Final = 1 << 13
_BROKEN: Final[tuple[type[Exception], ...]] = (
    cast("type[Exception]", isal_zlib.error),  # its stub calls it an instance
    OSError,
    lzma.LZMAError,
    EOFError,
)


class Counted(io.RawIOBase):
    """A raw stream that counts what is read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """As the stream beneath."""
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        """As the stream beneath."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """As the stream beneath."""
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        taken = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self.count += taken or 0
        return int(taken or 0)


class _Blocks(io.RawIOBase):
    """A raw stream over blocks of bytes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill what the current block has, and enough to tell what it is."""
        filled, enough = 0, min(len(buffer), _ENOUGH)
        while filled < enough:
            if not self._rest:
                block = next(self._blocks, None)
                if block is None:
                    break
                self._rest = memoryview(block)
            taken = self._rest[: len(buffer) - filled]
            buffer[filled : filled + len(taken)] = taken
            self._rest = self._rest[len(taken) :]
            filled += len(taken)
        return filled


def streamed(blocks: Iterator[bytes]) -> io.BufferedReader:
    """Blocks as a file that can be read from and looked ahead in."""
    return io.BufferedReader(_Blocks(blocks), BLOCK)


def plain(
    stream: io.BufferedReader, raw: Counted, name: str, limits: Limits, notes: list[Note]
) -> io.BufferedReader:
    """The content of `stream` with all layers of compression taken off, however many.

    `raw` is the file beneath, against which the expansion is measured.
    """
    while True:
        blocks = _unpacked(stream, name, notes)
        if blocks is None:
            return stream
        stream = streamed(bounded(blocks, lambda: raw.count, name, limits))


def peeked(stream: io.BufferedReader, size: int) -> bytes:
    """Up to `size` bytes from where the stream is, which stay to be read."""
    return stream.peek(size)[:size]


def _unpacked(stream: io.BufferedReader, name: str, notes: list[Note]) -> Iterator[bytes] | None:
    start = peeked(stream, 8)
    if start.startswith(_ZSTD):
        return _unpacked_zstd(stream, name, notes)
    for form in _FORMATS:
        if start.startswith(form.magic):
            return _unpacked_members(stream, form, name, notes)
    return None


def bounded(
    blocks: Iterator[bytes], consumed: Callable[[], int], name: str, limits: Limits
) -> Iterator[bytes]:
    """The same blocks, as long as they are not too much for the bytes `consumed` for them."""
    produced = 0
    for block in blocks:
        produced += len(block)
        too_dense = produced > limits.free_bytes and produced > limits.most_ratio * consumed()
        if too_dense or produced > limits.most_bytes:
            raise FileError(
                name,
                f"{consumed():,} bytes expand to more than {produced:,}, as those of a trace do "
                f"not; if you trust the file, set {VARIABLE} to the size to allow, such as 64GiB",
            )
        yield block


def _unpacked_members(
    stream: io.BufferedReader, form: _Format, name: str, notes: list[Note]
) -> Iterator[bytes]:
    """All members, one behind the other; what follows the last one is told in a note."""
    produced = 0
    rest = stream.read(BLOCK)
    while rest.startswith(form.magic):
        member, data = form.member(), rest
        while not member.eof:
            try:
                block = member.decompress(data, BLOCK)
            except _BROKEN as error:
                yield from _broken(stream, form, name, notes, produced, error)
                return
            if block:
                produced += len(block)
                yield block
            data = stream.read(BLOCK) if member.needs_input and not member.eof else b""
            if not data and not block and not member.eof:
                _cut(form.name, name, notes, produced)
                return
        rest = _following(member.unused_data, stream, len(form.magic), BLOCK)
    if rest:
        notes.append(_trailing(form.name, rest, stream))


def _following(rest: bytes, stream: io.BufferedReader, size: int, step: int) -> bytes:
    """What follows a member, without padding: `size` bytes at least, which tell the next one.

    `rest` is what was read of it already, maybe one byte of a mark whose others are still to come.
    """
    rest = rest.lstrip(b"\0")
    while len(rest) < size and (more := stream.read(step)):
        rest = (rest + more).lstrip(b"\0")
    return rest


def _trailing(form: str, rest: bytes, stream: io.BufferedReader) -> Note:
    count = len(rest) + sum(map(len, iter(partial(stream.read, BLOCK), b"")))
    text = f"bytes behind the end of the {form} data are ignored"
    return Note("trailing_bytes", text, count)


def _cut(form: str, name: str, notes: list[Note], produced: int) -> None:
    if not produced:
        raise FileError(name, f"the {form} file is cut off before its first byte of content")
    text = f"the {form} data is cut off after {produced:,} bytes of content"
    notes.append(Note("truncated_container", text))


def _broken(
    stream: io.BufferedReader,
    form: _Format,
    name: str,
    notes: list[Note],
    produced: int,
    error: Exception,
) -> Iterator[bytes]:
    """What is left before the break; several writers of one file leave other headers in it."""
    salvaged = 0
    headers = 0
    if form.name == "gzip" and stream.seekable():
        stream.seek(0)
        headers = _gzip_headers(stream)
        stream.seek(0)
        for block in _salvaged(stream, produced):
            salvaged += len(block)
            yield block
    several = f"; it holds {headers} headers, as when several processes write one file"
    told = several if headers > 1 else ""
    if not produced + salvaged:
        raise FileError(name, f"the {form.name} data cannot be read: {error}{told}") from None
    text = f"the {form.name} data breaks after {produced + salvaged:,} bytes of content{told}"
    notes.append(
        Note("interleaved_writers", text, headers) if told else Note("damaged_container", text)
    )


def _gzip_headers(stream: io.BufferedReader) -> int:
    count, tail = 0, b""
    while block := stream.read(BLOCK):
        text = tail + block
        count += len(_GZIP_HEADER.findall(text))
        tail = text[1 - _GZIP_HEADER_SIZE :]
    return count


def _salvaged(stream: io.BufferedReader, skip: int) -> Iterator[bytes]:
    """The content up to the break, in small steps, without its first `skip` bytes."""
    wbits = 16 + zlib.MAX_WBITS
    member, data, seen = zlib.decompressobj(wbits), b"", 0
    while data := data or stream.read(_SALVAGE_STEP):
        before = member.copy()
        try:
            block, broken = member.decompress(data, _SALVAGE_STEP), False
        except zlib.error:
            block, broken = _last_bytes(before, data), True
        fresh = block[max(0, skip - seen) :]
        seen += len(block)
        if fresh:
            yield fresh
        if broken:
            return
        data = member.unconsumed_tail
        if member.eof:
            data = member.unused_data.lstrip(b"\0")
            member = zlib.decompressobj(wbits)


def _last_bytes(member: zlib._Decompress, data: bytes) -> bytes:
    """What comes out of `data` before it breaks."""
    found = b""
    with suppress(zlib.error):
        for place in range(len(data)):
            found += member.decompress(data[place : place + 1])
    return found


def _unpacked_zstd(stream: io.BufferedReader, name: str, notes: list[Note]) -> Iterator[bytes]:
    """All frames, one behind the other, in steps so small that none of them expands to much."""
    import zstandard  # noqa: PLC0415 - few files need it

    produced, rest, frame = 0, stream.read(_ZSTD_STEP), None
    while rest:
        if frame is None and not rest.startswith(_ZSTD_FRAMES, 1):
            notes.append(_trailing("zstd", rest, stream))
            return
        frame = frame or zstandard.ZstdDecompressor().decompressobj()
        try:
            block = frame.decompress(rest)
        except zstandard.ZstdError as error:
            if not produced:
                raise FileError(name, f"the zstd data cannot be read: {error}") from None
            text = f"the zstd data breaks after {produced:,} bytes of content"
            notes.append(Note("damaged_container", text))
            return
        produced += len(block)
        if frame.eof:
            rest, frame = _following(frame.unused_data, stream, len(_ZSTD), _ZSTD_STEP), None
        else:
            rest = stream.read(_ZSTD_STEP)
        if block:
            yield block
    if frame is not None:
        _cut("zstd", name, notes, produced)
