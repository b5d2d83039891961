"""The plain values of a snapshot -> frames."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview.errors import FileError
from traceview.snapshot.unpickle import plain

NO_FRAMES = "no frames recorded"
_LIBRARY = re.compile(r"^.*[/\\](?:site|dist)-packages[/\\]")
_TORCH = re.compile(r"^torch[/\\]")
_BACKWARD = re.compile(r"torch::autograd::(?:generated::)?(\w+Backward\w*|AccumulateGrad)::")
_OP = re.compile(r"at::_ops::(\w+)::")
_RECORDER = ("torch::unwind", "torch::CapturedTraceback", "torch::cuda::", "c10::")
_OVERFLOWED = ("trace_alloc_overflowed", "trace_overflowed")


@dataclass(frozen=True)
class Snapshot:
    """What `torch.cuda.memory._dump_snapshot` wrote, as three frames.

    `segments` and `blocks` are the memory at the moment of the snapshot, `events` the history that
    led there, as far back as the ring buffer of the recorder reaches (`max_entries`, where the file
    tells). `overflowed` is what the file itself says of that buffer, None where it says nothing.
    Times count from the first event; `origin_ns` is that event's epoch time.
    """

    segments: pd.DataFrame
    blocks: pd.DataFrame
    events: pd.DataFrame
    path: str | None = None
    origin_ns: int = 0
    max_entries: int | None = None
    overflowed: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def load(path: str) -> Snapshot:
    """Read the snapshot at `path`. Raises FileError in one plain sentence when it is none."""
    content = plain(path)
    if not isinstance(content, dict) or not isinstance(content.get("segments"), list):
        keys = ", ".join(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise FileError(
            path, f"this pickle is no memory snapshot: it holds {keys[:80] or 'nothing'}"
        )
    return snapshot(content, path)


def snapshot(content: Mapping[str, Any], path: str | None = None) -> Snapshot:
    """The frames of an unpickled snapshot. Entries that are no dicts are passed over."""
    segments = _dicts(content.get("segments"))
    blocks = [(segment, block) for segment in segments for block in _blocks(segment)]
    traces = content.get("device_traces")
    history = [
        (device, entry)
        for device, entries in enumerate(traces if isinstance(traces, list) else ())
        for entry in _dicts(entries)
    ]
    origin = min((_ns(entry) for _, entry in history), default=0)
    settings = content.get("allocator_settings")
    said = {**(settings if isinstance(settings, dict) else {}), **content}
    most = _int(said.get("max_entries"))
    flags = [bool(said[key]) for key in _OVERFLOWED if key in said]
    return Snapshot(
        _segment_frame(segments),
        _block_frame(blocks),
        _event_frame(history, origin),
        path=path,
        origin_ns=origin,
        max_entries=most or None,
        overflowed=any(flags) if flags else None,
        settings=settings if isinstance(settings, dict) else {},
    )


def _segment_frame(segments: Sequence[dict[str, Any]]) -> pd.DataFrame:
    return s.SNAPSHOT_SEGMENTS.frame(
        {
            s.DEVICE_ID: [_int(segment.get("device")) for segment in segments],
            s.ADDRESS: [_optional(segment.get("address")) for segment in segments],
            s.STREAM: [_int(segment.get("stream")) for segment in segments],
            s.SEGMENT_TYPE: [str(segment.get("segment_type", "")) for segment in segments],
            s.SEGMENT_BYTES: [_int(segment.get("total_size")) for segment in segments],
            s.ALLOCATED: [_int(segment.get("allocated_size")) for segment in segments],
            s.ACTIVE: [_int(segment.get("active_size")) for segment in segments],
            s.EXPANDABLE: [bool(segment.get("is_expandable", False)) for segment in segments],
        }
    )


def _block_frame(blocks: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> pd.DataFrame:
    sites = _Sites()
    return s.SNAPSHOT_BLOCKS.frame(
        {
            s.DEVICE_ID: [_int(segment.get("device")) for segment, _ in blocks],
            s.ADDRESS: [_optional(block["address"]) for _, block in blocks],
            s.STATE: [str(block.get("state", "")) for _, block in blocks],
            s.BLOCK_BYTES: [_int(block.get("size")) for _, block in blocks],
            s.REQUESTED: [_int(block.get("requested_size")) for _, block in blocks],
            s.SITE: [sites.of(_frames(block)) for _, block in blocks],
        }
    )


def _ns(entry: dict[str, Any]) -> int:
    """The time of an event, ns; 0 where it is none that an int64 holds."""
    microseconds = _int(entry.get("time_us"))
    return microseconds * 1000 if abs(microseconds) < (1 << 63) // 1000 else 0


def _event_frame(history: Sequence[tuple[int, dict[str, Any]]], origin: int) -> pd.DataFrame:
    sites = _Sites()
    return s.SNAPSHOT_EVENTS.frame(
        {
            s.DEVICE_ID: [device for device, _ in history],
            s.TIME_NS: [_ns(entry) - origin for _, entry in history],
            s.ACTION: [str(entry.get("action", "")) for _, entry in history],
            s.ADDRESS: [_optional(entry.get("addr")) for _, entry in history],
            s.BLOCK_BYTES: [_int(entry.get("size")) for _, entry in history],
            s.STREAM: [_int(entry.get("stream")) for _, entry in history],
            s.SITE: [sites.of(entry.get("frames")) for _, entry in history],
        }
    )


class _Sites:
    """The place in the program of each stack; stacks that are one object are looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, frames: Any) -> str:
        """The innermost Python frame outside torch, else what `_native` finds."""
        if not isinstance(frames, list) or not frames:
            return NO_FRAMES
        found = self._known.get(id(frames))
        if found is None:
            found = self._known[id(frames)] = _site(_dicts(frames))
        return found


def _site(frames: Sequence[dict[str, Any]]) -> str:
    for frame in frames:
        file = _LIBRARY.sub("", str(frame.get("filename", "")))
        if file.endswith(".py") and not _TORCH.match(file):
            return f"{file}({frame.get('line')}): {frame.get('name')}"
    return _native([str(frame.get("name", "")) for frame in frames])


def _native(names: Sequence[str]) -> str:
    """The backward node, else the op, else the innermost function of a stack without such Python.

    So are the stacks of the autograd threads, which begin in the recorder and the allocator.
    """
    for prefix, pattern in (("autograd::", _BACKWARD), ("aten::", _OP)):
        for name in names:
            if match := pattern.search(name):
                return f"{prefix}{match[1]}"
    outside = (name for name in names if not name.startswith(_RECORDER))
    return next(outside, NO_FRAMES)


def _blocks(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a segment, with their addresses, which older recorders leave out."""
    address = _optional(segment.get("address")) or 0
    result: list[dict[str, Any]] = []
    for block in _dicts(segment.get("blocks")):
        result.append({**block, "address": _optional(block.get("address")) or address})
        address = result[-1]["address"] + _int(block.get("size"))
    return result


def _frames(block: dict[str, Any]) -> Any:
    """The stack that allocated a block; recorders before torch 2.1 put it in a history."""
    history = _dicts(block.get("history"))
    return block.get("frames") or (history[0].get("frames") if history else None)


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [v for v in values if isinstance(v, dict)] if isinstance(values, (list, tuple)) else []


def _int(value: Any) -> int:
    """A number as an int64 column holds it; 0 for anything else."""
    return _optional(value, 1 << 63) or 0


def _optional(value: Any, limit: int = 1 << 64) -> int | None:
    """A number from 0 up to a limit; anything else is missing."""
    usable = isinstance(value, int) and 0 <= value < limit
    return int(value) if usable else None
