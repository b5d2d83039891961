"""Runs the command as a user does: in a process of its own, without a terminal."""

import os
import subprocess
import sys

COMMANDS = (
    "diff", "summary", "steps", "kernels", "gaps", "launches", "syncs", "memory", "columns",
)  # fmt: skip
ON_ONE_TRACE = ("summary", "steps", "kernels", "gaps", "launches", "syncs", "memory")


def traceview(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `traceview ARGUMENTS` printed, and how it ended."""
    return subprocess.run(
        [sys.executable, "-m", "traceview", *map(str, arguments)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | environment,
        timeout=60,
    )
