"""Bad input ends in one plain line, never in a traceback."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.commandline import ON_ONE_TRACE, traceview
from sparse import full


def missing(file: Path) -> None:
    """Write nothing."""


def directory(file: Path) -> None:
    file.mkdir()


def empty(file: Path) -> None:
    file.touch()


def not_json(file: Path) -> None:
    file.write_text("Dear reader,\nthis is a letter.\n", encoding="utf-8")


def no_trace(file: Path) -> None:
    file.write_text('{"schema": "1.1.1", "nodes": []}', encoding="utf-8")


def binary(file: Path) -> None:
    file.write_bytes(bytes(range(256)))


def truncated_gzip(file: Path) -> None:
    file.write_bytes(gzip.compress(b'{"traceEvents": [' + b" " * 1000 + b"]}")[:12])


BAD = (missing, directory, empty, not_json, no_trace, binary, truncated_gzip)


def refusal(*arguments: object) -> str:
    """The one line on stderr, exit code 1."""
    ended = traceview(*arguments)
    assert ended.stdout == ""
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("traceview: ")
    return ended.stderr


@pytest.mark.parametrize("make", BAD)
def test_summary_refuses_in_one_line(make: Callable[[Path], None], tmp_path: Path) -> None:
    file = tmp_path / "trace.json.gz"
    make(file)
    assert str(file) in refusal("summary", file)


@pytest.mark.parametrize("command", ON_ONE_TRACE)
def test_every_command_refuses_a_missing_file(command: str, tmp_path: Path) -> None:
    assert "none.json" in refusal(command, tmp_path / "none.json")


def test_diff_names_the_file_that_it_cannot_read(tmp_path: Path) -> None:
    assert "none.json" in refusal("diff", tmp_path / "none.json", tmp_path / "none.json")


def test_a_hostile_path_stays_on_one_line(tmp_path: Path) -> None:
    assert r"\n\x1b[31m.json" in refusal("summary", tmp_path / "a\n\x1b[31m.json")


def test_the_output_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    line = refusal("summary", tmp_path / "none.json", "-o", tmp_path / "none" / "a.md")
    assert "the directory" in line


def test_what_a_folder_holds_beside_recordings_is_passed_over_and_named(tmp_path: Path) -> None:
    # chakra #167: a scan of a folder takes execution traces and others for traces.
    full().write(tmp_path / "a.json")
    no_trace(tmp_path / "c_et.json")
    not_json(tmp_path / "d.json")
    ended = traceview("check", tmp_path, "--that", "gpu_busy > 0 us")
    assert ended.returncode == 0
    lines = sorted(ended.stderr.splitlines())
    assert [line.partition(": is no ")[0] for line in lines] == [
        f"traceview: passed over {tmp_path / name}" for name in ("c_et.json", "d.json")
    ]
    assert "an execution trace" in ended.stderr
