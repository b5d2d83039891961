"""Where things are, for tests that read files or start other processes."""

import os
from pathlib import Path

import traceview

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "traces"
"""Real recordings beside the project, which need not be there."""
GOLDENS = ROOT / "tests" / "goldens"
SAME_PACKAGE = os.environ | {"PYTHONPATH": str(Path(traceview.__file__).parents[1])}
"""The environment of another process that is to use the same traceview, installed or not."""
