"""Which Python stacks the time belongs to."""

from __future__ import annotations

from traceview import schema as s
from traceview.document import Document
from traceview.metrics import attribution as metric
from traceview.report import owned
from traceview.report.rows import field, records
from traceview.trace import Trace

_INNERMOST = s.Column("frame", "string", s.STACK.unit, "innermost frame of the stack")


def document(trace: Trace, *, host: bool = False, limit: int = 20) -> Document:
    """The report; its `folded` data are the stacks of device work, or of the `host`."""
    frame = metric.stacks(trace)
    frame = frame.assign(**{_INNERMOST: frame[s.STACK].str.rsplit(";", n=1).str[-1]})
    keys = {_INNERMOST: field(_INNERMOST, "innermost frame", stretch=True)}
    folded = records(metric.folded(trace, host=host), s.FOLDED.columns)
    more = {"folded": folded}
    return owned.document("stacks", trace, frame, s.STACKS, keys, limit=limit, more=more)
