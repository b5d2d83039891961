"""A document's data as strict JSON: the contract that other programs rely on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from traceview.units import as_number

if TYPE_CHECKING:
    from traceview.document import Document


def render(document: Document) -> str:
    """The data in its own order; a NaN in it is a bug and raises ValueError."""
    return json.dumps(document.data, indent=2, allow_nan=False, default=plain) + "\n"


def plain(value: object) -> Any:
    """What JSON has for a read-only mapping or a number of numpy."""
    if isinstance(value, Mapping):
        return dict(value)
    number = as_number(value)
    if number is None:
        raise TypeError(f"{type(value).__name__} has no place in a report's data")
    return number
