"""Files that are no traces are named for what they look like."""

import gzip
import json
import pickle
from pathlib import Path

import pytest

from traceview.errors import NotATraceError
from traceview.kineto.read import read

CASES = {
    "execution trace": (json.dumps({"schema": "1.1.1-chakra", "pid": 1, "nodes": []}).encode()),
    "memory timeline": b"[[1, 2], [[0, 1], [0, 2]]]",
    "list of lists": b"[[-1, 1, 37888, 7], [5, 2, 100, 3]]",
    "pickle": pickle.dumps({"segments": [], "device_traces": []}),
    "HTML": b"\n<!DOCTYPE html><html></html>",
    "table": b"-------  ------------\n   Name    Self CPU %\n-------  ------------\n",
    "SQLite": b"SQLite format 3\x00\x10\x00",
    "speedscope": b'{"$schema": "https://www.speedscope.app", "shared": {}, "profiles": []}',
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    "plain text": b"hello, world",
    "binary": bytes(range(128, 256)) * 8,
    "without traceEvents": b'{"schemaVersion": 1, "traceEvents": null}',
    "the keys 'a', 'b'": b'{"a": 1, "b": 2}',
    "values such as 1": b"[1, 2, 3]",
    "empty JSON object": b"{}",
}


@pytest.mark.parametrize("words", CASES)
@pytest.mark.parametrize("compressed", [False, True])
def test_it_is_said_what_a_file_looks_like(tmp_path: Path, words: str, compressed: bool) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(gzip.compress(CASES[words]) if compressed else CASES[words])
    with pytest.raises(NotATraceError, match=words) as error:
        read(file)
    assert "\n" not in str(error.value)


def test_a_real_snapshot(shared: Path) -> None:
    with pytest.raises(NotATraceError, match="memory snapshot"):
        read(shared / "h200" / "snapshot.pickle")


def test_a_list_of_a_million_numbers_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    file.write_bytes(b"[" + b",".join([b"1"] * 1_000_000) + b"]")
    with pytest.raises(NotATraceError):
        read(file)


def test_a_memory_snapshot_is_sent_to_the_command_that_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(pickle.dumps({"segments": [], "device_traces": []}))
    with pytest.raises(NotATraceError, match="try `traceview memory FILE`"):
        read(file)
