"""What a file that is no trace looks like, in words."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any, Final

_PICKLE: Final = (
    "a pickle, perhaps a memory snapshot of torch.cuda.memory._dump_snapshot;"
    " try `traceview memory FILE`"
)
_MAGIC: Final = {
    b"\x80\x02": _PICKLE,
    b"\x80\x03": _PICKLE,
    b"\x80\x04": _PICKLE,
    b"\x80\x05": _PICKLE,
    b"SQLite format 3": "an SQLite database, perhaps an export of Nsight Systems",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"PAR1": "a Parquet file",
    b"\x93NUMPY": "an array of numpy",
    b"NVTX": "a file of Nsight Systems",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"7z\xbc\xaf": "a 7z archive, which has to be unpacked first",
    b"Rar!": "a RAR archive, which has to be unpacked first",
    b"\x0a": "a binary file, perhaps a trace of Perfetto",
}
_PAGE: Final = (b"<!doctype html", b"<html", b"<?xml", b"<svg")
_TABLE: Final = (b"self cpu", b"cpu total", b"self cuda")
_LOOK: Final = 1 << 12
_PRINTABLE: Final = 0.9
_LISTED: Final = 6
_SHOWN: Final = 40


def described(start: bytes) -> str:
    """What the bytes at the start of a file, which is no JSON, look like."""
    for magic, meaning in _MAGIC.items():
        if start.startswith(magic) and (magic != b"\x0a" or not _is_text(start)):
            return meaning
    lowered = start[:_LOOK].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if lowered.startswith(_PAGE):
        return "a page of HTML or XML, perhaps a login page or a memory timeline"
    if lowered.startswith(b"---") and any(mark in lowered for mark in _TABLE):
        return "a table printed by torch.profiler; export_chrome_trace writes the trace itself"
    if lowered.startswith(b"version https://git-lfs"):
        return "a pointer of Git LFS, not the file itself; `git lfs pull` fetches it"
    return "plain text" if _is_text(start) else "binary data"


_OBJECTS: Final = {
    frozenset({"schema", "nodes"}): (
        "an execution trace (ExecutionTraceObserver), which holds no times"
    ),
    frozenset({"schemaVersion"}): "the metadata of a Kineto trace without traceEvents",
    frozenset({"traceName"}): "the metadata of a Kineto trace without traceEvents",
    frozenset({"nodes", "samples"}): "a CPU profile of V8",
    frozenset({"profiles", "shared"}): "a profile of speedscope",
    frozenset({"segments", "device_traces"}): "a memory snapshot written as JSON",
    frozenset({"cells", "nbformat"}): "a notebook of Jupyter",
}
"""Other JSON files, by keys that they all have."""


_KINDS: Final = {type(None): "null", str: "a string", bool: "a boolean"}


def described_json(properties: Mapping[str, Any], *, damaged: bool) -> str:
    """What a JSON object without a list of traceEvents looks like, from its top-level keys.

    It is `damaged` where more stands in it than these.
    """
    for keys, meaning in _OBJECTS.items():
        if keys <= properties.keys():
            return meaning
    if "traceEvents" in properties:
        kind = _KINDS.get(type(properties["traceEvents"]), "a number")
        return f"a JSON object whose traceEvents are {kind} and not a list of events"
    if not properties:
        return "text in braces that is no JSON" if damaged else "an empty JSON object"
    shown = ", ".join(repr(key) for key in list(properties)[:_LISTED])
    more = ", ..." if len(properties) > _LISTED else ""
    return f"a JSON object with the keys {shown}{more}"


def described_list(first: bytes, *, nested: bool) -> str:
    """What a JSON list whose entries are no events looks like, from the first of them."""
    if nested:
        return "a list of lists, perhaps a memory timeline (export_memory_timeline)"
    return f"a JSON list of values such as {first[:_SHOWN].decode('utf-8', 'replace')}"


_FIRST_KEY = re.compile(rb'(?:\xef\xbb\xbf|\s)*\[\s*\{\s*"([^"\\]{1,200})"\s*:')
_FIELDS: Final = frozenset(
    {b"ph", b"cat", b"name", b"pid", b"tid", b"ts", b"dur", b"id", b"id2", b"args", b"bp", b"s",
     b"tts", b"tdur", b"cname", b"sf", b"stack"}
)  # fmt: skip
"""What an entry may begin with, whatever else it lacks."""


def described_objects(start: bytes) -> str | None:
    """What the JSON list that a file starts with holds, where its objects are no events."""
    first = _FIRST_KEY.match(start)
    if first is None or first[1] in _FIELDS:
        return None
    if b'"traceEvents"' in start:
        return "a JSON list of traces; each has to be in a file of its own"
    key = first[1].decode("utf-8", "replace")
    return f"a JSON list of objects that are no events; the first key is {key!r}"


def _is_text(start: bytes) -> bool:
    sample = start[:_LOOK]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    plain = sum(byte >= ord(" ") or byte in b"\t\r\n" for byte in sample)
    return b"\0" not in sample and plain >= _PRINTABLE * len(sample)
