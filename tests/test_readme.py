"""The README is code: every block runs, and what it shows is what comes out."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT, SAME_PACKAGE

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
EXAMPLE = re.search(r"<!-- example: begin -->\n```text\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.removeprefix("$ traceview ")
    for language, block in BLOCKS
    if language == "console"
    for line in block.splitlines()
]


def run(*arguments: str, cwd: Path) -> str:
    ended = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        cwd=cwd,
        env=SAME_PACKAGE,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A folder to run in that has the samples and where nothing of the project is overwritten."""
    (tmp_path / "sample_traces").symlink_to(ROOT / "sample_traces")
    return tmp_path


def test_only_languages_that_a_test_runs() -> None:
    assert {language for language, _ in BLOCKS} <= {"bash", "console", "python", "text"}


def test_setting_up_takes_two_commands() -> None:
    """`.ci/run` runs them word for word; here the first one's job is held to what is shown."""
    setup = [block.strip() for language, block in BLOCKS if language == "bash"]
    assert len(setup) == 2
    assert all("\n" not in command for command in setup)
    assert setup[1].endswith("&& .venv/bin/pytest")


def test_the_example_is_what_the_first_command_prints(beside: Path) -> None:
    first = next(block for language, block in BLOCKS if language == "bash")
    job = first.split("&&")[-1].split()
    assert job[0] == ".venv/bin/traceview"
    assert EXAMPLE is not None
    assert run("-m", "traceview", *job[1:], cwd=beside) == EXAMPLE[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, beside: Path) -> None:
    there = set(beside.iterdir())
    said = run("-m", "traceview", *shlex.split(command), cwd=beside)
    assert said or set(beside.iterdir()) - there


@pytest.mark.parametrize("block", [block for language, block in BLOCKS if language == "python"])
def test_python(block: str, beside: Path) -> None:
    assert run("-c", block, cwd=beside)


def test_generated_parts_are_fresh(beside: Path) -> None:
    assert "fresh" in run(str(ROOT / "scripts" / "generate_docs.py"), "--check", cwd=beside)
