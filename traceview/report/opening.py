"""What a recording says of itself, before any figure: whether its result is right, and its work.

That a file is cut off comes with it: no figure knows what the missing part held.
"""

from __future__ import annotations

from collections.abc import Iterator

from traceview.trace import Trace
from traceview.workload import declared


def opening(trace: Trace) -> Iterator[str]:
    """A wrong result before anything else, then a cut, then the work that was recorded."""
    workload = declared(trace.metadata.properties)
    if workload and workload.numerics.verdict == "wrong":
        yield workload.numerics.text
    if trace.metadata.cut_off:
        yield "The file is cut off: what lay in the missing part is in no figure."
    if workload and workload.work.text:
        ran = f"; ran {', '.join(workload.work.ran)}" if workload.work.ran else ""
        yield f"Recorded: {workload.work.text}{ran}."
