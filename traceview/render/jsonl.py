"""JSON Lines: one object a line, for logs that grow and for programs that read line by line."""

from __future__ import annotations

import json

from traceview.document import Document
from traceview.errors import UsageError
from traceview.render.json import plain


def render(document: Document) -> str:
    """The `records` of the document's data; a NaN in them is a bug and raises ValueError."""
    if "records" not in document.data:
        raise UsageError(f"the report `{document.name}` holds no records; `experiment map` does")
    return "".join(
        json.dumps(record, ensure_ascii=False, allow_nan=False, default=plain) + "\n"
        for record in document.data["records"]
    )
