"""Small recordings, written out, for the commands to read."""

import json
from pathlib import Path
from typing import Any


def recording(
    file: Path, *, device: str = "GPU A", kernel: str = "gemm", duration_us: int = 500
) -> Path:
    """Three steps of 900 us with a launch each, whose kernel starts 20 us into the step."""
    events: list[dict[str, Any]] = []
    for step in range(3):
        start = 1000 * step
        on_host = {"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": 900}
        on_device = {"ph": "X", "pid": 0, "tid": 7, "ts": start + 20, "dur": duration_us}
        link = {"correlation": step + 1}
        events += [
            on_host | {"cat": "user_annotation", "name": f"ProfilerStep#{step}"},
            on_host
            | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 10, "dur": 5}
            | {"args": link},
            on_device
            | {"cat": "kernel", "name": kernel, "args": {**link, "device": 0, "stream": 7}},
        ]
    properties = [{"id": 0, "name": device}]
    content = {"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}
    file.write_text(json.dumps(content), encoding="utf-8")
    return file
