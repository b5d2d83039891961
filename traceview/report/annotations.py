"""Which annotations the time belongs to."""

from __future__ import annotations

from traceview import schema as s
from traceview.document import Document
from traceview.metrics import attribution as metric
from traceview.report import owned
from traceview.report.rows import field
from traceview.trace import Trace


def document(trace: Trace, *, limit: int = 20) -> Document:
    """The report; `limit` is how many rows text shows."""
    keys = {s.OWNED_PATH: field(s.OWNED_PATH, "annotation", stretch=True)}
    return owned.document(
        "annotations", trace, metric.annotations(trace), s.ANNOTATIONS, keys, limit=limit
    )
