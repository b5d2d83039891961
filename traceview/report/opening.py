"""What a recording says of itself, before any figure: whether its result is right, and its work."""

from __future__ import annotations

from collections.abc import Iterator

from traceview.trace import Trace
from traceview.workload import declared


def opening(trace: Trace) -> Iterator[str]:
    """A wrong result before anything else, then the work that was recorded."""
    workload = declared(trace.metadata.properties)
    if workload is None:
        return
    if workload.numerics.verdict == "wrong":
        yield workload.numerics.text
    if workload.work.text:
        ran = f"; ran {', '.join(workload.work.ran)}" if workload.work.ran else ""
        yield f"Recorded: {workload.work.text}{ran}."
