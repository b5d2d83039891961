"""The text that goes into a trace under the key `traceview`.

Kineto does not escape what it is given: it turns every backslash into a slash and drops line ends,
so that an escaped quote breaks the whole file (format notes, 1.4). The text therefore holds no
character that JSON would have to escape.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from traceview.workload import SCHEMA

_FIRST_PRINTABLE = " "


def stamp(parts: Mapping[str, Any]) -> str:
    """The parts as one line of JSON that survives the profiler's writer."""
    return json.dumps(_plain({"schema": SCHEMA, **parts}), ensure_ascii=False, allow_nan=False)


def sealed(stamped: str, peak_allocated_bytes: int | None) -> str:
    """A stamp with what is known only when the last step is over.

    That is in the middle of the recording, where there is no time to write all of it.
    """
    recorded = json.dumps({"peak_allocated_bytes": peak_allocated_bytes})
    return f'{stamped.removesuffix("}")}, "recorded": {recorded}}}'


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _text(value: str) -> str:
    replaced = value.replace("\\", "/").replace('"', "'")
    return "".join(
        mark if mark >= _FIRST_PRINTABLE and mark.isprintable() else " " for mark in replaced
    )
