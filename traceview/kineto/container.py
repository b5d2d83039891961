"""The text of a trace in whatever holds it: told by content, not by the file's name.

A file, `-` for the standard input, and members of archives, named as `archive.tar.gz:member`.
"""

from __future__ import annotations

import codecs
import io
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Final

from traceview.errors import EmptyTraceError, FileError, NotATraceError
from traceview.kineto.compression import BLOCK, Counted, Limits, bounded, peeked, plain, streamed
from traceview.trace import Note

STANDARD_INPUT: Final = "-"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NULS: Final[dict[tuple[bool, ...], str]] = {
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
}
"""Where NULs stand in the first four bytes: JSON begins with ASCII (RFC 4627, 3)."""
_JSON_STARTS: Final = b"{[ \t\r\n\0"
_READING: Final = Lock()
_DAMAGED: Final = "traceview.damaged"
_START: Final = 256
_STEP: Final = 1 << 16
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
            encoding = _encoding(start)
            blocks = _transcoded(stream, encoding) if encoding else _blocks(stream)
            with closing(_ahead(_unpadded(blocks, notes))) as early:
                yield Source(name, start, _guarded(early, name), notes)


def members(path: str, limits: Limits | None = None) -> tuple[str, ...]:
    """The names by which the traces in `path` are opened: itself, or one for each in an archive."""
    limits = limits or Limits.allowed()
    file, member = _located(path)
    if member is not None or file == STANDARD_INPUT:
        return (path,)
    with _stream(file) as raw:
        archive = _archive(raw, file, limits)
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
            if Path(path[:colon]).is_file():
                return path[:colon], path[colon + 1 :]
            colon = path.find(":", colon + 1)
    except OSError as error:
        raise FileError(path, f"cannot be opened: {error.strerror}") from None
    raise FileError(path, "there is no such file")


@lru_cache(maxsize=1)
def _all_of(stream: BinaryIO) -> bytes:
    """What a stream that can be read once only holds, for whoever asks again."""
    return stream.read()


@contextmanager
def _stream(file: str) -> Iterator[BinaryIO]:
    """The bytes of a file as they are; the standard input is kept, so that it can be reread."""
    if file == STANDARD_INPUT:
        with _READING:
            content = _all_of(sys.stdin.buffer)
        yield io.BytesIO(content)
        return
    if Path(file).is_dir():
        raise FileError(file, "is a folder, not a trace file")
    try:
        stream = Path(file).open("rb", buffering=0)  # noqa: SIM115 - closed below
    except OSError as error:
        raise FileError(file, f"cannot be opened: {error.strerror}") from None
    with stream:
        yield stream


@contextmanager
def _content(
    file: str, member: str | None, raw: BinaryIO, limits: Limits, notes: list[Note]
) -> Iterator[tuple[str, io.BufferedReader]]:
    """The text itself, out of its archive and without compression, and its name."""
    archive = _archive(raw, file, limits)
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
        inner = _Member(stream, name)
        yield name, plain(io.BufferedReader(inner, BLOCK), inner, name, limits, notes)


def _chosen(file: str, member: str | None, archive: _Archive) -> str:
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


class _Archive:
    """A zip or tar file. `each` goes through its regular files, by name and content."""

    def __init__(
        self, each: Callable[[], Iterator[tuple[str, BinaryIO]]], name: str, limits: Limits
    ) -> None:
        self._each = each
        self._name = name
        self._limits = limits

    def names(self) -> list[str]:
        return [name for name, _ in self._each()]

    def traces(self) -> list[str]:
        """The members whose content starts as JSON does."""
        return [name for name, stream in self._each() if self._is_json(name, stream)]

    def _is_json(self, name: str, stream: BinaryIO) -> bool:
        if name.rpartition("/")[2].startswith("."):
            return False
        counted = _Member(stream, name)
        try:
            content = plain(io.BufferedReader(counted), counted, name, self._limits, [])
            start = peeked(content, _START)
            encoding = _encoding(start) or "utf-8"
            return start.decode(encoding, "ignore").lstrip("\ufeff \t\r\n").startswith(("{", "["))
        except FileError:
            return False

    @contextmanager
    def opened(self, member: str) -> Iterator[BinaryIO]:
        for name, stream in self._each():
            if name == member:
                yield stream
                return
        raise FileError(self._name, f"has no member {member}")


def _archive(raw: BinaryIO, file: str, limits: Limits) -> _Archive | None:
    """The archive that `raw` is, within whatever compression; None when it is none."""
    raw.seek(0)
    if raw.read(4) in _ZIP:
        return _Archive(lambda: _zip_members(raw, file, limits), file, limits)

    def content() -> io.BufferedReader:
        raw.seek(0)
        counted = Counted(raw)
        return plain(io.BufferedReader(counted, BLOCK), counted, file, limits, [])

    start = peeked(content(), _TAR_MARK_AT + len(_TAR_MARK))
    if start[_TAR_MARK_AT:] == _TAR_MARK:
        return _Archive(lambda: _tar_members(content(), file), file, limits)
    return None


def _zip_members(raw: BinaryIO, file: str, limits: Limits) -> Iterator[tuple[str, BinaryIO]]:
    try:
        with zipfile.ZipFile(raw) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as stream:
                        blocks = iter(partial(stream.read, _STEP), b"")
                        packed = partial(int, info.compress_size)
                        content = bounded(blocks, packed, f"{file}:{info.filename}", limits)
                        yield info.filename, streamed(content)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise FileError(file, f"the zip file cannot be read: {error}") from None


def _tar_members(stream: io.BufferedReader, file: str) -> Iterator[tuple[str, BinaryIO]]:
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for info in archive:
                content = archive.extractfile(info) if info.isfile() else None
                if content is not None:
                    yield info.name, content  # type: ignore[misc]
    except tarfile.TarError as error:
        raise FileError(file, f"the tar file cannot be read: {error}") from None


class _Member(Counted):
    """A member of an archive; damage in it is a FileError."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream)
        self._name = name

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        try:
            return super().readinto(buffer)
        except (zlib.error, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
            problem = f"the archive is damaged: {str(error) or 'it ends early'}"
            raise FileError(self._name, problem) from None


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


def _encoding(start: bytes) -> str | None:
    """UTF-16 or UTF-32, by their mark or by where the NULs stand; None for UTF-8."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    if not all(byte in _JSON_STARTS for byte in start[:2]):
        return None
    return _NULS.get(tuple(byte == 0 for byte in start[:4]))


def _transcoded(stream: io.BufferedReader, encoding: str) -> Iterator[bytes]:
    """UTF-16, as a shell of Windows writes what is redirected into a file.

    What is no character becomes bytes that are no UTF-8, which whoever reads an entry counts.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors=_DAMAGED)
    for block in chain(_blocks(stream), [b""]):
        content = decoder.decode(block, final=not block).encode("utf-8", "surrogatepass")
        if content:
            yield content


def _half_a_pair(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udfff", error.end


codecs.register_error(_DAMAGED, _half_a_pair)


def _guarded(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    try:
        yield from blocks
    except OSError as error:
        raise FileError(name, f"cannot be read: {error.strerror or error}") from None
