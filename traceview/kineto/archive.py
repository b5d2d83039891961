"""Zip and tar files: their members, and which of these are traces."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Final

from traceview.errors import FileError
from traceview.kineto.compression import BLOCK, Counted, Limits, bounded, peeked, plain, streamed
from traceview.kineto.encodings import encoding_of

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_START: Final = 256
"""So many bytes of a member tell whether it is a trace."""
_STEP: Final = 1 << 16


class Archive:
    """A zip or tar file. `each` goes through its regular files, by name and content."""

    def __init__(
        self, each: Callable[[], Iterator[tuple[str, BinaryIO]]], name: str, limits: Limits
    ) -> None:
        self._each = each
        self._name = name
        self._limits = limits

    def names(self) -> list[str]:
        """All members."""
        return [name for name, _ in self._each()]

    def traces(self) -> list[str]:
        """The members whose content starts as JSON does."""
        return [name for name, stream in self._each() if self._is_json(name, stream)]

    def _is_json(self, name: str, stream: BinaryIO) -> bool:
        if name.rpartition("/")[2].startswith("."):
            return False
        counted = Member(stream, name)
        try:
            content = plain(io.BufferedReader(counted), counted, name, self._limits, [])
            start = peeked(content, _START)
            encoding = encoding_of(start) or "utf-8"
            return start.decode(encoding, "ignore").lstrip("\ufeff \t\r\n").startswith(("{", "["))
        except FileError:
            return False

    @contextmanager
    def opened(self, member: str) -> Iterator[BinaryIO]:
        """The content of one member. Raises FileError where there is none of that name."""
        for name, stream in self._each():
            if name == member:
                yield stream
                return
        raise FileError(self._name, f"has no member {member}")


def archive_in(raw: BinaryIO, file: str, limits: Limits) -> Archive | None:
    """The archive that `raw` is, within whatever compression; None when it is none."""
    raw.seek(0)
    if raw.read(4) in _ZIP:
        return Archive(lambda: _zip_members(raw, file, limits), file, limits)

    def content() -> io.BufferedReader:
        raw.seek(0)
        counted = Counted(raw)
        return plain(io.BufferedReader(counted, BLOCK), counted, file, limits, [])

    start = peeked(content(), _TAR_MARK_AT + len(_TAR_MARK))
    if start[_TAR_MARK_AT:] == _TAR_MARK:
        return Archive(lambda: _tar_members(content(), file), file, limits)
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


class Member(Counted):
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
