"""The slow, obvious reader: json and Decimal. The real decoders are held equal to it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from traceview.kineto.columns import (
    ALIASES,
    INTEGER_ARGUMENTS,
    TEXT_ARGUMENTS,
    Events,
    SparseInts,
    SparseTexts,
    Texts,
)


def read(path: Path) -> Events:
    opener = gzip.open if path.read_bytes()[:2] == b"\x1f\x8b" else open
    with opener(path, "rb") as file:
        return from_document(json.load(file, parse_float=Decimal))


def from_document(document: Any) -> Events:
    entries = document if isinstance(document, list) else document["traceEvents"]
    properties = {} if isinstance(document, list) else dict(document)
    properties.pop("traceEvents", None)
    starts = [_ns(entry.get("ts")) for entry in entries]
    durations = [_ns(entry.get("dur")) for entry in entries]
    arguments = [_arguments(entry) for entry in entries]
    return Events(
        phase=_texts(entry.get("ph") for entry in entries),
        name=_texts(entry.get("name") for entry in entries),
        category=_texts(entry.get("cat") for entry in entries),
        process=_texts(entry.get("pid") for entry in entries),
        thread=_texts(entry.get("tid") for entry in entries),
        start_ns=np.array([value or 0 for value in starts], dtype=np.int64),
        start_known=np.array([value is not None for value in starts], dtype=bool),
        duration_ns=np.array([value or 0 for value in durations], dtype=np.int64),
        duration_known=np.array([value is not None for value in durations], dtype=bool),
        whole_microseconds=all((value or 0) % 1000 == 0 for value in starts + durations),
        integers={name: _integers(name, arguments) for name in INTEGER_ARGUMENTS},
        texts={name: _argument_texts(name, arguments) for name in TEXT_ARGUMENTS},
        properties=properties,
    )


def _ns(microseconds: object) -> int | None:
    if microseconds is None:
        return None
    return int((Decimal(str(microseconds)) * 1000).to_integral_value())


def _arguments(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {ALIASES.get(key, key): value for key, value in (entry.get("args") or {}).items()}


def _texts(values: Iterable[object]) -> Texts:
    codes: list[int] = []
    index: dict[str, int] = {}
    for value in values:
        text = value if isinstance(value, str) else None if value is None else json.dumps(value)
        codes.append(-1 if text is None else index.setdefault(text, len(index)))
    return Texts(np.array(codes, dtype=np.int32), tuple(index))


def _integers(name: str, arguments: list[dict[str, Any]]) -> SparseInts:
    found = [
        (row, int(args[name]))
        for row, args in enumerate(arguments)
        if isinstance(args.get(name), int) or str(args.get(name)).lstrip("-").isdecimal()
    ]
    dtype = np.uint64 if name == "Addr" else np.int64
    return SparseInts(
        np.array([row for row, _ in found], dtype=np.int64),
        np.array([value for _, value in found], dtype=dtype),
    )


def _argument_texts(name: str, arguments: list[dict[str, Any]]) -> SparseTexts:
    rows = [row for row, args in enumerate(arguments) if args.get(name) is not None]
    values = (arguments[row][name] for row in rows)
    plain = (v if isinstance(v, str) else json.dumps(v, default=str) for v in values)
    return SparseTexts(np.array(rows, dtype=np.int64), _texts(plain))
