"""What comes through a pipe, what is large, and what expands further than it should."""

import gzip
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from builders import H200, TraceBuilder
from cli.commandline import ON_ONE_TRACE
from click.testing import CliRunner

from traceview import kineto
from traceview.cli import slowness
from traceview.cli.group import cli
from traceview.kineto import native


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    t = TraceBuilder(deviceProperties=[H200])
    for number in range(3):
        t.step(number, 100 * number, 90)
        t.op("aten::mm", 100 * number, 50)
        t.launch(100 * number + 5, "gemm", 100 * number + 10, 40)
    return t.write(tmp_path / "trace.json.gz")


def piped(file: Path, *arguments: str) -> str:
    """What the command prints that reads the file from a pipe."""
    command = [sys.executable, "-m", "traceview", *arguments]
    ended = subprocess.run(
        command, check=False, capture_output=True, input=file.read_bytes(), timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout.decode()


@pytest.mark.parametrize("command", [*ON_ONE_TRACE, "doctor", "critical-path"])
def test_a_command_reads_a_pipe(recording: Path, command: str) -> None:
    assert piped(recording, command, "-").startswith("-   NVIDIA H200")


def test_a_pipe_is_read_for_both_sides_of_a_diff(recording: Path) -> None:
    assert "- -> -" in piped(recording, "diff", "-", "-")


def test_a_pipe_is_laid_over(recording: Path, tmp_path: Path) -> None:
    piped(recording, "export", "-", "--overlay", "-o", str(tmp_path / "overlay.json"))
    assert (tmp_path / "overlay.json").stat().st_size > 1000


@pytest.mark.parametrize("command", ["summary", "memory"])
def test_a_pipe_that_has_a_name_is_read(recording: Path, command: str) -> None:
    assert piped(recording, command, "/dev/stdin").startswith("stdin   NVIDIA H200")


def test_a_pipe_that_has_a_name_is_read_for_both_sides_of_a_diff(recording: Path) -> None:
    assert "stdin -> stdin" in piped(recording, "diff", "/dev/stdin", "/dev/stdin")


def test_a_named_pipe_is_read_once_and_kept(recording: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(recording.read_bytes(),), daemon=True)
    writer.start()
    traces = [kineto.load(pipe), kineto.load(pipe)]
    assert [len(trace.device) for trace in traces] == [3, 3]


@pytest.fixture
def without_native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "library", lambda: None)
    slowness.tell.cache_clear()


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("arguments", [("summary",), ("diff", "")])
def test_a_large_file_without_native_code_is_told_once(
    recording: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(slowness, "LARGE", 10)
    command, *more = arguments
    files = [str(recording)] * (1 + len(more))
    ended = CliRunner().invoke(cli, [command, *files], catch_exceptions=False)
    assert ended.exit_code == 0
    assert ended.stderr.count("the native code was not built") == 1
    assert "several times as long" in ended.stderr


@pytest.mark.usefixtures("without_native")
def test_a_compressed_file_is_as_large_as_what_it_holds(
    recording: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = tmp_path / "trace.json"
    text.write_bytes(gzip.decompress(recording.read_bytes()))
    for file, times in ((recording, slowness.EXPANSION), (text, 1)):
        for limit, told in ((times * file.stat().st_size, 0), (times * file.stat().st_size - 1, 1)):
            monkeypatch.setattr(slowness, "LARGE", limit)
            slowness.tell.cache_clear()
            ended = CliRunner().invoke(cli, ["summary", str(file)], catch_exceptions=False)
            assert ended.stderr.count("the native code was not built") == told


@pytest.mark.usefixtures("without_native")
def test_a_small_file_is_read_without_a_word(recording: Path) -> None:
    ended = CliRunner().invoke(cli, ["summary", str(recording)], catch_exceptions=False)
    assert (ended.exit_code, ended.stderr) == (0, "")


def test_a_large_file_is_read_without_a_word_by_native_code(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if native.library() is None:
        pytest.skip("the native decoder was not built")
    monkeypatch.setattr(slowness, "LARGE", 10)
    ended = CliRunner().invoke(cli, ["summary", str(recording)], catch_exceptions=False)
    assert (ended.exit_code, ended.stderr) == (0, "")


@pytest.mark.usefixtures("without_native")
def test_doctor_says_that_python_read_the_file(recording: Path) -> None:
    ended = CliRunner().invoke(cli, ["doctor", str(recording)], catch_exceptions=False)
    assert "Python, several times slower: the native code was not built" in ended.stdout


def test_doctor_says_that_native_code_read_the_file(recording: Path) -> None:
    if native.library() is None:
        pytest.skip("the native decoder was not built")
    ended = CliRunner().invoke(cli, ["doctor", str(recording)], catch_exceptions=False)
    assert "native code" in ended.stdout
    assert "was not built" not in ended.stdout


def test_the_limit_of_expansion_can_be_raised(
    recording: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "dense.json.gz"
    file.write_bytes(gzip.compress(b" " * (1 << 20) + gzip.decompress(recording.read_bytes())))
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", "1MiB")
    refused = CliRunner().invoke(cli, ["summary", str(file)])
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert "set TRACEVIEW_MAX_SIZE to the size to allow, such as 64GiB" in refused.stderr
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", "2MiB")
    assert CliRunner().invoke(cli, ["summary", str(file)]).exit_code == 0
    monkeypatch.setenv("TRACEVIEW_MAX_SIZE", "two")
    assert "'two' is no size" in CliRunner().invoke(cli, ["summary", str(file)]).stderr
