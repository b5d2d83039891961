"""Help is quick and teaches."""

import subprocess
import sys

import pytest
from cli.commandline import COMMANDS, traceview

CPU_OF_HELP = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "traceview", "--help"], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
"""
LOADED = "import sys, {module}; print(sorted(sys.modules.keys() & {heavy}))"


def python(code: str) -> str:
    """What a new interpreter prints for this code."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8", timeout=60
    ).stdout.strip()


def test_help_names_every_command_under_its_question() -> None:
    shown = traceview("--help")
    assert shown.returncode == 0
    words = shown.stdout.split()
    assert [command for command in COMMANDS if command not in words] == []
    titles = [line for line in shown.stdout.split("\n") if line.endswith(":")]
    assert titles[:3] == ["Options:", "What changed:", "Where the time goes:"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_asks_a_question_and_gives_an_example(command: str) -> None:
    lines = traceview(command, "--help").stdout.split("\n")
    question = " ".join(line.strip() for line in lines[2 : lines.index("", 2)])
    assert question.endswith("?")
    assert any(line.strip().startswith(f"traceview {command}") for line in lines[1:])
    assert [line for line in lines if len(line) > 80] == []


def test_help_costs_less_than_a_third_of_a_second() -> None:
    assert float(python(CPU_OF_HELP)) < 0.3


def test_help_imports_no_pandas() -> None:
    heavy = {"pandas", "numpy", "rich", "matplotlib", "torch"}
    assert python(LOADED.format(module="traceview.cli", heavy=heavy)) == "[]"


def test_the_library_imports_neither_matplotlib_nor_torch() -> None:
    heavy = {"matplotlib", "torch"}
    assert python(LOADED.format(module="traceview", heavy=heavy)) == "[]"


def test_version() -> None:
    assert traceview("--version").stdout.startswith("traceview ")


def test_a_command_that_is_mistyped_is_guessed() -> None:
    ended = traceview("sumary", "trace.json")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith("No such command 'sumary'. Did you mean 'summary'?\n")
    assert "Did you mean" not in traceview("frobnicate").stderr


def test_help_tells_of_the_standard_input() -> None:
    assert "- reads one from the standard input" in " ".join(traceview("--help").stdout.split())
