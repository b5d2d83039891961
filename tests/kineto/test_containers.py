"""The same trace out of every container, and what is said of broken ones."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from reading import assert_same_columns, counts

from traceview.errors import EmptyTraceError, FileError, NotATraceError, UsageError
from traceview.kineto import compression
from traceview.kineto.compression import Limits
from traceview.kineto.container import members
from traceview.kineto.read import read

EVENT = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5.5, "dur": 2}
TRACE = json.dumps({"schemaVersion": 1, "traceEvents": [EVENT] * 500}).encode()


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def tarred(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name.replace("__", "."))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def headed(data: bytes) -> bytes:
    """gzip whose header has an extra field, a name, a comment and a checksum (RFC 1952, 2.3)."""
    flags = 2 | 4 | 8 | 16
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(4) + b"\0\xff"
    header += b"\x03\0abc" + b"trace.json\0" + b"a comment\0"
    checksum = (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    return header + checksum + gzip.compress(data)[10:]


def zstd(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").compress(data))


CONTAINERS: dict[str, Callable[[], bytes]] = {
    "plain": lambda: TRACE,
    "gzip": lambda: gzip.compress(TRACE),
    "two members": lambda: gzip.compress(TRACE[:999]) + gzip.compress(TRACE[999:]),
    "padded": lambda: gzip.compress(TRACE) + bytes(512),
    "gzip with every field": lambda: headed(TRACE),
    "gzip twice": lambda: gzip.compress(gzip.compress(TRACE)),
    "bz2": lambda: bz2.compress(TRACE),
    "xz": lambda: lzma.compress(TRACE),
    "zstd": lambda: zstd(TRACE),
    "an empty member first": lambda: gzip.compress(b"") + gzip.compress(TRACE),
    "a member of one byte first": lambda: gzip.compress(TRACE[:1]) + gzip.compress(TRACE[1:]),
    "padded between": lambda: gzip.compress(TRACE[:999]) + bytes(99) + gzip.compress(TRACE[999:]),
    "two frames": lambda: zstd(TRACE[:999]) + zstd(TRACE[999:]),
    "a frame to skip": lambda: zstd(TRACE[:9]) + b"\x50\x2a\x4d\x18\2\0\0\0hi" + zstd(TRACE[9:]),
    "gzip of UTF-16": lambda: gzip.compress(TRACE.decode().encode("utf-16")),
    "zip of UTF-16": lambda: zipped(a__json=TRACE.decode().encode("utf-16")),
    "zip": lambda: zipped(a__json=TRACE, readme__txt=b"hello"),
    "zip of gzip": lambda: zipped(a__json__gz=gzip.compress(TRACE)),
    "tar": lambda: tarred(readme=b"hello", a__json=TRACE),
    "tar.gz": lambda: gzip.compress(tarred(a__json=TRACE)),
    "tar.xz": lambda: lzma.compress(tarred(a__json=TRACE)),
    "byte order mark": lambda: b"\xef\xbb\xbf" + TRACE,
    "UTF-16": lambda: TRACE.decode().encode("utf-16"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Its name says nothing of what is in it."""
    return tmp_path / "recording"


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_holds_the_same_trace(file: Path, container: str) -> None:
    file.write_bytes(TRACE)
    expected = read(file)
    file.write_bytes(CONTAINERS[container]())
    found = read(file)
    assert_same_columns(found, expected)
    assert len(found) == 500
    assert found.notes == ()


MEMBERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}


@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("packing", MEMBERS)
def test_a_read_may_end_within_the_mark_of_the_next_member(
    file: Path, monkeypatch: pytest.MonkeyPatch, packing: str, padding: int
) -> None:
    first, second = (MEMBERS[packing](part) for part in (TRACE[:999], TRACE[999:]))
    file.write_bytes(first + bytes(padding) + second)
    for more in range(8):
        for size in ("BLOCK", "_ZSTD_STEP"):
            monkeypatch.setattr(compression, size, len(first) + more)
        found = read(file)
        assert (len(found), found.notes) == (500, ())


@pytest.mark.parametrize("container", CONTAINERS)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, container: str) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(CONTAINERS[container]()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert len(read("-")) == 500


@pytest.mark.parametrize("archive", [zipped, tarred, lambda **f: gzip.compress(tarred(**f))])
def test_several_traces_are_named(file: Path, archive: Callable[..., bytes]) -> None:
    other = json.dumps([EVENT]).encode()
    file.write_bytes(archive(rank0__json=TRACE, rank1__json=other, notes__txt=b"no trace"))
    with pytest.raises(FileError, match=r"holds 2 traces; .*rank0\.json, rank1\.json"):
        read(file)
    assert members(str(file)) == (f"{file}:rank0.json", f"{file}:rank1.json")
    assert len(read(f"{file}:rank0.json")) == 500
    assert len(read(f"{file}:rank1.json")) == 1
    with pytest.raises(FileError, match=r"has no member rank2\.json; it holds rank0\.json"):
        read(f"{file}:rank2.json")


def test_a_file_that_is_no_archive_is_its_only_member(file: Path) -> None:
    file.write_bytes(TRACE)
    assert members(str(file)) == (str(file),)
    with pytest.raises(FileError, match="is no archive"):
        read(f"{file}:a.json")


def test_a_real_archive_of_ranks(shared: Path) -> None:
    ranks = members(str(shared / "public" / "param_dlrm_v100.tar.gz"))
    assert len(ranks) == 8
    with tarfile.open(shared / "public" / "param_dlrm_v100.tar.gz") as archive:
        for name in ranks:
            content = archive.extractfile(name.partition(".tar.gz:")[2])
            assert content is not None
            assert len(read(name)) == len(json.load(content)["traceEvents"])


def test_an_archive_without_a_trace(file: Path) -> None:
    file.write_bytes(zipped(readme__txt=b"hello"))
    with pytest.raises(NotATraceError, match=r"holds no trace, but readme\.txt"):
        read(file)


# What breaks.


def test_cut_gzip_keeps_what_was_before_the_cut(file: Path) -> None:
    data = gzip.compress(TRACE, compresslevel=0)
    file.write_bytes(data[: len(data) // 2])
    found = read(file)
    assert 230 <= len(found) <= 255
    assert counts(found)["cut_end"] == 1
    assert "truncated_container" in counts(found)


def test_cut_before_the_first_byte_is_an_error(file: Path) -> None:
    file.write_bytes(gzip.compress(TRACE)[:9])
    with pytest.raises(FileError, match="cut off before its first byte"):
        read(file)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_bytes_behind_the_compressed_data_are_counted(
    file: Path, compress: Callable[[bytes], bytes]
) -> None:
    file.write_bytes(compress(TRACE) + b"garbage")
    found = read(file)
    assert len(found) == 500
    assert counts(found) == {"trailing_bytes": 7}


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_cut_data_keep_what_was_before_the_cut(
    file: Path, compress: Callable[[bytes], bytes]
) -> None:
    many = [{**EVENT, "dur": n, "name": f"op {n * 7919 % 65537}"} for n in range(60_000)]
    data = compress(json.dumps(many).encode())
    file.write_bytes(data[: len(data) * 9 // 10])
    found = read(file)
    assert 10_000 < len(found) < 60_000
    assert found.duration_ns.tolist() == [n * 1000 for n in range(len(found))]
    assert counts(found) == {"truncated_container": None, "cut_end": 1}


def test_a_wrong_checksum_costs_nothing(file: Path) -> None:
    data = bytearray(gzip.compress(TRACE))
    data[-8:-4] = b"abcd"
    file.write_bytes(bytes(data))
    assert len(read(file)) == 500
    assert counts(read(file)) == {"damaged_container": None}


def test_two_traces_one_behind_the_other_are_told(file: Path) -> None:
    file.write_bytes(gzip.compress(TRACE) + gzip.compress(TRACE))
    assert len(read(file)) == 500
    assert counts(read(file)) == {"trailing_text": None}


def test_a_broken_gzip_keeps_what_was_before_the_break(file: Path) -> None:
    many = json.dumps([{**EVENT, "dur": n, "name": f"op {n * 7919 % 65537}"} for n in range(9999)])
    data = bytearray(gzip.compress(many.encode()))
    place = len(data) // 2
    data[place : place + 64] = b"\xff" * 64
    file.write_bytes(bytes(data))
    found = read(file)
    assert 4000 < len(found) < 9999
    assert found.duration_ns[:4000].tolist() == [n * 1000 for n in range(4000)]
    assert "damaged_container" in counts(found)


def test_several_writers_of_one_gzip_are_told(file: Path) -> None:
    one = gzip.compress(json.dumps([{**EVENT, "dur": n} for n in range(5000)]).encode())
    middle = len(one) // 2
    file.write_bytes(one[:middle] + one[:middle] + one[middle:] + one[middle:])
    assert counts(read(file))["interleaved_writers"] == 2


def test_what_too_short_interleaved_data_are_is_said_in_the_refusal(file: Path) -> None:
    one = gzip.compress(TRACE[:90], mtime=0)
    file.write_bytes(one[:30] + one[:30] + one[30:] + one[30:])
    with pytest.raises(FileError, match="2 headers, as when several processes write one file"):
        read(file)


BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip twice": lambda content: gzip.compress(gzip.compress(content)),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
    "zip": lambda content: zipped(a__json=content),
    "tar.gz": lambda content: gzip.compress(tarred(a__json=content)),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_decompression_is_bounded(file: Path, monkeypatch: pytest.MonkeyPatch, bomb: str) -> None:
    file.write_bytes(BOMBS[bomb](b"{" + b" " * (1 << 22) + TRACE[1:]))
    sentence = "expand to more than .* set TRACEVIEW_MAX_SIZE to the size to allow"
    with pytest.raises(FileError, match=sentence):
        read(file, Limits(free_bytes=1 << 20))
    with pytest.raises(FileError, match=sentence):
        read(file, Limits(most_bytes=1 << 20))
    assert len(read(file)) == 500
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", "1MiB")
    with pytest.raises(FileError, match=sentence):
        read(file)
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", "8 MB")
    assert len(read(file)) == 500


@pytest.mark.parametrize("content", [bomb(TRACE) for bomb in (gzip.compress, bytes)])
def test_a_limit_that_is_no_size_is_said(
    file: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    file.write_bytes(content)
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", "much")
    with pytest.raises(UsageError, match="'much' is no size such as 64GiB"):
        read(file)


@pytest.mark.parametrize(
    ("text", "size"),
    [("7", 7), ("7B", 7), ("2k", 2048), ("2 KiB", 2048), ("1MB", 1 << 20), ("64GiB", 1 << 36)],
)
def test_the_limit_is_a_size(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", text)
    assert Limits.allowed() == Limits(most_bytes=size, free_bytes=size)


@pytest.mark.parametrize(
    "content", [b"", gzip.compress(b"", mtime=0), b" \n\t", b"\xef\xbb\xbf"], ids=repr
)
def test_an_empty_file(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(EmptyTraceError):
        read(file)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        read(tmp_path / "missing.json")
    with pytest.raises(FileError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(FileError):
        read("x" * 5000)
