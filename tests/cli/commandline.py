"""Runs the command as a user does: in a process of its own, without a terminal."""

import os
import subprocess
import sys

ON_ONE_TRACE = (
    "summary", "steps", "kernels", "ops", "modules", "annotations", "stacks", "roofline", "gaps",
    "launches", "syncs", "memory",
)  # fmt: skip
COMMANDS = (
    "diff", "check", *ON_ONE_TRACE, "critical-path", "doctor", "experiment", "run", "export",
    "columns",
)  # fmt: skip


def traceview(
    *arguments: object, timeout: int = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What `traceview ARGUMENTS` printed, and how it ended."""
    return subprocess.run(
        [sys.executable, "-m", "traceview", *map(str, arguments)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=os.environ | environment,
        timeout=timeout,
    )
