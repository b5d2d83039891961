"""What a file that is no trace looks like, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MAGIC: Final = {
    b"\x80\x02": "a pickle, perhaps a memory snapshot of torch.cuda.memory._dump_snapshot",
    b"\x80\x03": "a pickle, perhaps a memory snapshot of torch.cuda.memory._dump_snapshot",
    b"\x80\x04": "a pickle, perhaps a memory snapshot of torch.cuda.memory._dump_snapshot",
    b"\x80\x05": "a pickle, perhaps a memory snapshot of torch.cuda.memory._dump_snapshot",
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


def described_json(properties: Mapping[str, Any]) -> str:
    """What a JSON object without traceEvents looks like, from its top-level keys."""
    keys = set(properties)
    if {"schema", "nodes"} <= keys:
        return "an execution trace (ExecutionTraceObserver), which holds no times"
    if "traceName" in keys or "schemaVersion" in keys:
        return "the metadata of a Kineto trace without traceEvents"
    if {"nodes", "samples"} <= keys:
        return "a CPU profile of V8"
    if "$schema" in keys and "speedscope" in str(properties["$schema"]):
        return "a profile of speedscope"
    if {"segments", "device_traces"} <= keys:
        return "a memory snapshot written as JSON"
    if not keys:
        return "an empty JSON object"
    shown = ", ".join(repr(key) for key in list(properties)[:_LISTED])
    return f"a JSON object with the keys {shown}{', ...' if len(keys) > _LISTED else ''}"


def described_list(first: bytes, *, nested: bool) -> str:
    """What a JSON list whose entries are no events looks like, from the first of them."""
    if nested:
        return "a list of lists, perhaps a memory timeline (export_memory_timeline)"
    return f"a JSON list of values such as {first[:_SHOWN].decode('utf-8', 'replace')}"


def _is_text(start: bytes) -> bool:
    sample = start[:_LOOK]
    plain = sum(byte >= 0x20 or byte in b"\t\r\n" for byte in sample)
    return b"\0" not in sample and plain >= _PRINTABLE * len(sample)
