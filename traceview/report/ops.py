"""Which ops the time belongs to."""

from __future__ import annotations

from traceview import schema as s
from traceview.document import Document, Section
from traceview.metrics import attribution as metric
from traceview.report import owned
from traceview.report.rows import field, records
from traceview.trace import Trace


def document(trace: Trace, *, shapes: bool = False, limit: int = 20) -> Document:
    """The report; `shapes` tells ops with different inputs apart."""
    kinds = metric.kinds(trace)
    keys = {s.OP: field(s.OP, "op", stretch=True)}
    if shapes:
        keys[s.SHAPES] = field(s.SHAPES, "shapes", stretch=True)
    return owned.document(
        "ops",
        trace,
        metric.ops(trace, shapes=shapes),
        s.OPS,
        keys,
        limit=limit,
        nested=False,
        before=(Section("By kind of kernel", (), (owned.kinds_table(kinds),)),),
        more={"kinds": records(kinds, s.WORK_KINDS.columns)},
    )
