"""Collapsed stacks: a line a stack, frames by `;`, then its time in ns.

What flamegraph.pl, speedscope and inferno read.
"""

from __future__ import annotations

from traceview.document import Document
from traceview.errors import UsageError
from traceview.render.names import visible


def render(document: Document) -> str:
    """The `folded` rows of the document's data."""
    if "folded" not in document.data:
        raise UsageError(f"the report `{document.name}` holds no stacks; `stacks` does")
    rows = document.data["folded"]
    return "".join(f"{visible(row['stack'])} {row['ns']}\n" for row in rows)
