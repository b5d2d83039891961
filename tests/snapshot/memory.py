"""Writes memory snapshots down as literals, in the form that torch pickles them."""

import pickle
from pathlib import Path
from typing import Any

FRAMES = [
    {"name": "c10::cuda::malloc", "filename": "CUDACachingAllocator.cpp", "line": 0},
    {"name": "linear", "filename": "/v/site-packages/torch/nn/functional.py", "line": 5},
    {"name": "forward", "filename": "/v/site-packages/model/net.py", "line": 7},
]
MODEL = "model/net.py(7): forward"


def alloc(address: int, size: int, time: int, frames: Any = FRAMES) -> dict[str, Any]:
    return event("alloc", address, size, time, frames)


def free(address: int, size: int, time: int) -> dict[str, Any]:
    return event("free_requested", address, size, time, [])


def event(action: str, address: int, size: int, time: int, frames: Any) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time,
            "frames": frames}  # fmt: skip


def segment(address: int, *blocks: tuple[int, int, Any], total: int = 1 << 21) -> dict[str, Any]:
    """A segment with live blocks of (size, requested size, frames), one after the other."""
    held = sum(size for size, *_ in blocks)
    live = [
        {"size": size, "requested_size": asked, "state": "active_allocated", "frames": frames}
        for size, asked, frames in blocks
    ]
    rest = {"size": total - held, "requested_size": 0, "state": "inactive", "frames": []}
    return {"device": 0, "address": address, "total_size": total, "allocated_size": held,
            "active_size": held, "stream": 0, "segment_type": "small",
            "blocks": [*live, rest]}  # fmt: skip


def document(
    segments: list[dict[str, Any]], history: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    return {"segments": segments, "device_traces": [history], **more}


def write(path: Path, content: Any) -> str:
    path.write_bytes(pickle.dumps(content, protocol=4))
    return str(path)
