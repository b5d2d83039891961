"""Documents become text here: for a terminal, as Markdown, a page of HTML, JSON or CSV.

A renderer sees a document and nothing else. `render` is the one door; the module of a format is
imported when it is first asked for, so that naming the formats costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.document import Document

ENDINGS = {
    "text": ".txt", "markdown": ".md", "html": ".html", "json": ".json", "csv": ".csv",
}  # fmt: skip
"""The formats, each with the ending of its files."""
SPECIAL = {"folded": ".folded", "jsonl": ".jsonl"}
"""Formats that only some reports have."""


def render(
    document: Document,
    format: str = "text",  # noqa: A002 -- the word that users know
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """The whole document in one of the formats of ENDINGS or SPECIAL, ending with a newline.

    Only text looks at `width`, in terminal cells, and at `color`.
    """
    if format not in ENDINGS | SPECIAL:
        raise UsageError(f"there is no format {format!r}; the formats are {', '.join(ENDINGS)}")
    module = import_module(f"{__name__}.{format}")
    options = {"width": width, "color": color} if format == "text" else {}
    rendered: str = module.render(document, **options)
    return rendered


def format_of(path: str, endings: Mapping[str, str] = ENDINGS) -> str:
    """The format that the ending of a file's name asks for, among these."""
    for name, ending in endings.items():
        if path.lower().endswith(ending):
            return name
    raise UsageError(
        f"{path}: the ending names no format; use one of {', '.join(endings.values())}"
    )
