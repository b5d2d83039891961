"""A sign of life: late, only for somebody who watches, and gone at the end."""

import io
import time

import pytest

from traceview.cli import progress as module
from traceview.cli.progress import progress


class Terminal(io.StringIO):
    """Somebody who watches."""

    def isatty(self) -> bool:
        return True


def shown(stderr: io.StringIO, seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is written to `stderr` while something takes its time."""
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    with progress("slow[red].json"):
        time.sleep(seconds)
    return stderr.getvalue()


def test_what_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(Terminal(), 0, monkeypatch) == ""


def test_what_takes_long_is_named_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.01)
    assert "slow[red].json" in shown(Terminal(), 1, monkeypatch)


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.01)
    assert shown(io.StringIO(), 0.3, monkeypatch) == ""
