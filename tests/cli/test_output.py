"""Where reports go. `columns` stands for all commands, which share these options."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commandline import traceview
from click.testing import CliRunner

from traceview import kineto
from traceview.cli.group import cli

ENDINGS = {"text": "txt", "markdown": "md", "html": "html", "json": "json", "csv": "csv"}


def complaint(*arguments: object) -> str:
    """The one line on stderr with which a command refuses, exit code 1."""
    ended = traceview(*arguments)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith("traceview: ")
    return ended.stderr


@pytest.mark.parametrize(("name", "ending"), ENDINGS.items())
def test_the_ending_picks_the_format(name: str, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"columns.{ending}"
    ended = traceview("columns", "-o", file)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert file.read_text(encoding="utf-8") == traceview("columns", "--format", name).stdout
    assert list(tmp_path.iterdir()) == [file]


def test_a_format_that_is_said_wins_over_the_ending(tmp_path: Path) -> None:
    file = tmp_path / "columns.txt"
    traceview("columns", "-o", file, "--format", "json")
    assert json.loads(file.read_text(encoding="utf-8"))["schema"] == "traceview.columns/1"


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    file, link = tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(file)
    traceview("columns", "-o", link)
    assert link.is_symlink()
    assert file.stat().st_size > 0
    assert traceview("columns", "-o", "/dev/stdout", "--format", "csv").stdout.startswith("table,")


def test_what_cannot_be_written_is_one_plain_sentence(tmp_path: Path) -> None:
    assert "the directory" in complaint("columns", "-o", tmp_path / "none" / "a.md")
    assert "names no format; use one of .txt" in complaint("columns", "-o", tmp_path / "a.docx")
    assert "this is a directory" in complaint("columns", "-o", tmp_path)


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    file, link = tmp_path / "trace.json", tmp_path / "link.json"
    file.write_text("{}", encoding="utf-8")
    link.symlink_to(file)
    assert "this is the recording" in complaint("summary", file, "-o", link)
    assert "this is the recording" in complaint("diff", file, file, "-o", file)
    assert file.read_text(encoding="utf-8") == "{}"


def test_usage_errors_end_with_2() -> None:
    for arguments in (["nothing"], ["columns", "--format", "pdf"], ["columns", "--width", "3"],
                      ["summary"], ["diff", "a", "b", "--margin", "gpu_busy"],
                      ["diff", "a", "b", "--margin", "gpu_busy=-1"],
                      ["kernels", "a", "--limit", "0"]):  # fmt: skip
        assert traceview(*arguments).returncode == 2


def test_width() -> None:
    for width in (60, 80, 120):
        lines = traceview("columns", "--width", width).stdout.split("\n")
        assert max(map(len, lines)) <= width


def test_an_encoding_without_the_letters_is_no_failure() -> None:
    assert traceview("columns", PYTHONIOENCODING="ascii").returncode == 0


def test_a_reader_that_stops_listening_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as deaf:
        ended = subprocess.run(
            [sys.executable, "-m", "traceview", "columns"],
            check=False, stdout=deaf, stderr=subprocess.PIPE, encoding="utf-8", timeout=60,
        )  # fmt: skip
    assert ended.stderr == ""


@pytest.mark.parametrize("arguments", [("columns",), ("schema", "diff"), ("--help",)])
def test_a_full_disk_is_one_plain_sentence(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "traceview", *arguments],
            check=False, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=60,
        )  # fmt: skip
    said = "traceview: the output cannot be written: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (1, said)


def test_an_interruption_is_no_unreadable_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kineto, "load", interrupted)
    ended = CliRunner().invoke(cli, ["summary", "trace.json"])
    assert (ended.exit_code, ended.stdout, ended.stderr) == (130, "", "\ntraceview: interrupted\n")


def on_a_terminal(**environment: str) -> str:
    """What `traceview columns` writes to a terminal."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "traceview", "columns"]
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=os.environ | environment):
        os.close(slave)
        written = b""
        while chunk := _chunk(master):
            written += chunk
    os.close(master)
    return written.decode("utf-8").replace("\r\n", "\n")


def _chunk(terminal: int) -> bytes:
    """The next bytes; none when the process has closed its side, which Linux calls EIO."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_a_terminal_gets_colour_unless_it_wants_none() -> None:
    assert "\x1b[1m" in on_a_terminal(NO_COLOR="", COLUMNS="80")
    assert on_a_terminal(NO_COLOR="1", COLUMNS="80") == traceview("columns").stdout


def test_a_wide_terminal_is_used() -> None:
    lines = on_a_terminal(NO_COLOR="1", COLUMNS="130").split("\n")
    assert 80 < max(map(len, lines)) <= 130
