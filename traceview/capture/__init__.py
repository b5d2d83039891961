"""Record a workload with torch.profiler, together with what a reader of the trace has to know.

    with record("train.json.gz", steps=20) as recording:
        for batch in batches:
            train(batch)
            recording.step()

The trace then holds, under its top-level key `traceview`, what was run and where, what it took
outside the profiler, and what was recorded with which options; `traceview.workload` reads it.

This is the only part of traceview that needs torch, and it imports torch when a door of it is
opened, not before.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from traceview.errors import CaptureError

if TYPE_CHECKING:
    from traceview.capture.options import Options
    from traceview.capture.recording import Recording, record, step

__all__ = ["Options", "Recording", "record", "step"]


def require_torch() -> None:
    """Raise CaptureError with the way to install torch, where there is none."""
    if find_spec("torch") is None:
        raise CaptureError(
            "recording needs PyTorch, which is not installed: pip install 'torch>=2.5'"
        )


def __getattr__(name: str) -> Any:
    """Open a door: import the module behind it, and torch with it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_torch()
    from traceview.capture import options, recording  # noqa: PLC0415 -- this is where torch comes in

    return getattr(options if name == "Options" else recording, name)
