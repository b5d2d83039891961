"""The public names: what they are, what they cost, and that a type checker sees them."""

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT, SAME_PACKAGE

import traceview

USE = """
import pandas as pd
import traceview

trace: traceview.Trace = traceview.load("trace.json.gz")
busy: pd.DataFrame = traceview.devices(trace)
compared: traceview.TraceDiff = traceview.diff(trace, trace, margins={"gpu_busy": 0.02})
frame: pd.DataFrame = compared.quantities
text: str = traceview.show.summary(trace, "markdown")
try:
    traceview.load("none")
except traceview.TraceviewError as error:
    print(error)
"""
MISUSE = {
    "traceview.load(1.5)": "arg-type",
    "traceview.devices('trace.json')": "arg-type",
    "traceview.devices()": "call-arg",
    "traceview.nothing": "attr-defined",
}


def python(code: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env=SAME_PACKAGE,
    )
    return ended.stdout.strip()


def test_importing_costs_nothing_heavy() -> None:
    heavy = "[m for m in ('numpy', 'pandas', 'matplotlib', 'torch', 'scipy') if m in sys.modules]"
    assert python(f"import sys, traceview; print({heavy})") == "[]"


@pytest.mark.parametrize("name", traceview.__all__)
def test_every_public_name_is_there_in_a_fresh_process(name: str) -> None:
    assert getattr(traceview, name) is not None
    assert name in dir(traceview)


def test_the_names_are_sorted_and_written_once() -> None:
    assert traceview.__all__ == sorted(set(traceview.__all__))


@pytest.mark.parametrize(
    "first", ["import traceview.diff", "import traceview.show", "from traceview.diff import judge"]
)
def test_diff_is_the_function_whatever_was_imported_before(first: str) -> None:
    assert python(f"{first}\nimport traceview\nprint(traceview.diff.__name__)") == "diff"
    assert python(f"{first}\nfrom traceview import diff\nprint(callable(diff))") == "True"


def test_what_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(traceview, "nothing")  # noqa: B009 -- a type checker knows it too


@pytest.mark.slow
def test_a_type_checker_sees_the_public_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    wrong = "\n".join(MISUSE)
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    (tmp_path / "misuse.py").write_text(f"import traceview\n{wrong}\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--follow-imports=silent",
         f"--cache-dir={tmp_path / 'cache'}", str(tmp_path / "use.py"),
         str(tmp_path / "misuse.py")],
        capture_output=True, check=False, encoding="utf-8", cwd=ROOT,
    )  # fmt: skip
    complaints = [line for line in ended.stdout.splitlines() if ": error:" in line]
    assert not [line for line in complaints if "misuse.py" not in line], ended.stdout
    assert [line.rsplit("[", 1)[1].rstrip("]") for line in complaints] == list(MISUSE.values())
