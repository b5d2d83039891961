"""Every command in every format, on a recording whose figures a reader can do in the head."""

import csv
import json
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from cli.commandline import ON_ONE_TRACE
from cli.recordings import recording
from click.testing import CliRunner

from traceview import show
from traceview.cli.group import cli
from traceview.kineto import load
from traceview.render import ENDINGS

HOSTILE = "\x1b[2J=cmd|' /C calc'!A0\n\u202e<script>`x`|" + "T<" * 200


def printed(*arguments: object) -> str:
    """What a command prints, run in this process, which is quicker."""
    ended = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert (ended.exit_code, ended.stderr) == (0, ""), arguments
    return ended.stdout


@pytest.mark.parametrize("kernel", ["gemm", HOSTILE])
def test_every_command_works_in_every_format_whatever_the_names(
    kernel: str, tmp_path: Path
) -> None:
    file = recording(tmp_path / "trace.json", kernel=kernel)
    for command, name in product((*ON_ONE_TRACE, "diff"), ENDINGS):
        files = (file, file) if command == "diff" else (file,)
        text = printed(command, *files, "--format", name)
        assert text, (command, name)
        assert all(line.isprintable() for line in text.split("\n")), (command, name)
        if name == "json":
            assert json.loads(text)["schema"].startswith(f"traceview.{command}/")


def test_all_formats_tell_the_same(tmp_path: Path) -> None:
    file = recording(tmp_path / "trace.json")
    data = json.loads(printed("summary", file, "--format", "json"))
    rows = list(csv.DictReader(StringIO(printed("kernels", file, "--format", "csv"))))
    assert data["devices"][0]["busy_ns"] == 1_500_000
    assert sum(row["ns"] for row in data["idle"]) == data["devices"][0]["idle_ns"] == 1_000_000
    assert [row["busy_ns"] for row in data["kernels"]] == [1_500_000]
    assert "1500000" in [value for row in rows for value in row.values()]
    for name in ("text", "markdown"):
        assert "1.50" in printed("kernels", file, "--format", name)


def test_the_library_says_what_the_command_says(tmp_path: Path) -> None:
    file = recording(tmp_path / "trace.json")
    trace = load(str(file))
    for command in ON_ONE_TRACE:
        report = getattr(show, command)
        assert report(trace, "markdown") == printed(command, file, "--format", "markdown")
    assert show.diff(trace, trace, width=100) == printed(
        "diff", file, file, "--width", 100
    )  # fmt: skip


def test_limit_counts_the_rows_that_it_hides(tmp_path: Path) -> None:
    file = recording(tmp_path / "trace.json")
    assert "... and 2 more" in printed("steps", file, "--limit", 1)
    assert "... and" not in printed("steps", file, "--limit", 3)
