"""The package builds with and without a compiler; what is built carries what it needs."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from places import ROOT

PARTS = ("pyproject.toml", "README.md", "LICENSE", "traceview")


def built(folder: Path, **environment: str) -> Path:
    """The wheel that pip makes of a copy of the project."""
    source = folder / "source"
    source.mkdir()
    for part in PARTS:
        origin = ROOT / part
        if origin.is_dir():
            shutil.copytree(origin, source / part, ignore=shutil.ignore_patterns("*.so", "*.pyc"))
        elif origin.exists():
            shutil.copy(origin, source)
    if not (source / "README.md").exists():
        (source / "README.md").write_text("traceview\n")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    command += ["-w", str(folder), str(source)]
    result = subprocess.run(
        command, env=os.environ | environment, check=False, capture_output=True, text=True
    )
    if "No matching distribution" in result.stderr or "No module named pip" in result.stderr:
        pytest.skip("setuptools cannot be fetched")
    assert result.returncode == 0, result.stderr
    return next(folder.glob("*.whl"))


def decoder_of(wheel: Path, folder: Path) -> str:
    """The decoder that an installed copy reads a trace with."""
    target = folder / "installed"
    zipfile.ZipFile(wheel).extractall(target)
    trace = folder / "trace.json"
    trace.write_text('[{"ph": "X", "name": "a", "ts": 1.5, "dur": 2}]')
    program = (
        "import sys; from traceview.kineto.read import read; events = read(sys.argv[1]); "
        "assert events.start_ns.tolist() == [1500]; print(events.decoder)"
    )
    command = [sys.executable, "-c", program, str(trace)]
    environment = os.environ | {"PYTHONPATH": str(target)}
    result = subprocess.run(
        command, env=environment, cwd=folder, check=True, capture_output=True, text=True
    )
    return str(result.stdout).strip()


@pytest.mark.slow
def test_a_machine_with_a_compiler_gets_the_native_decoder(tmp_path: Path) -> None:
    if shutil.which("g++") is None and shutil.which("c++") is None:
        pytest.skip("no compiler")
    wheel = built(tmp_path)
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("traceview/kineto/_scan.") for name in names)
    assert "traceview/py.typed" in names
    assert decoder_of(wheel, tmp_path) == "native"


@pytest.mark.slow
def test_a_machine_without_a_compiler_gets_the_other_one(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-compiler")
    wheel = built(tmp_path, CC=missing, CXX=missing)
    assert not any(name.endswith((".so", ".pyd")) for name in zipfile.ZipFile(wheel).namelist())
    assert decoder_of(wheel, tmp_path) == "python"
