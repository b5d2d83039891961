"""What all tests share: golden files, real recordings, how hard hypothesis tries."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from places import GOLDENS, SHARED

import traceview
from traceview.trace import Trace

settings.register_profile(
    "traceview",
    deadline=None,  # the first example pays for the imports of pandas
    max_examples=40,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("traceview"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "traceview"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write what the reports say now to the goldens",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the golden file of this name, byte for byte."""
    update = bool(request.config.getoption("--update-goldens"))

    def check(name: str, text: str) -> None:
        file = GOLDENS / name
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        assert text.encode() == file.read_bytes(), f"{file} (pytest --update-goldens accepts)"

    return check


@pytest.fixture(scope="session")
def shared() -> Path:
    """A folder of real recordings beside the project, which need not be there."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared/traces")
    return SHARED


@pytest.fixture(scope="session")
def load() -> Callable[[Path], Trace]:
    """Reads a recording, each file once a session."""
    return cache(traceview.load)
