"""What tests of recordings share."""

import pytest


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in processes of their own do not announce each recording either."""
    monkeypatch.setenv("KINETO_LOG_LEVEL", "10")
