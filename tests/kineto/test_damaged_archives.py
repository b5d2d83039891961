"""Archives that are cut or flipped: one plain sentence, never a traceback."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from traceview.errors import FileError
from traceview.kineto.read import read

EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": f"op {n * 7919 % 1000}", "pid": 1, "tid": 1, "ts": n,
     "dur": 1}
    for n in range(3000)
]  # fmt: skip
CONTENT = json.dumps({"traceEvents": EVENTS}).encode()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", CONTENT)
    return file.getvalue()


def tarred(mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("trace.json")
        info.size = len(CONTENT)
        archive.addfile(info, io.BytesIO(CONTENT))
    return file.getvalue()


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("flipped.zip", flipped(zipped())),
        ("cut.tar", tarred("w")[: len(CONTENT) // 2]),
        ("cut.tar.gz", tarred("w:gz")[:-4000]),
    ],
    ids=["a flipped bit in a zip", "a cut tar", "a cut tar.gz"],
)
def test_damage_is_told_or_what_is_whole_is_read(tmp_path: Path, name: str, data: bytes) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    try:
        events = read(file)
    except FileError as error:
        sentence = str(error)
    else:
        assert 0 < len(events) <= len(EVENTS)
        sentence = events.notes[0].text
    assert sentence
    assert "\n" not in sentence
