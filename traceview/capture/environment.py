"""The machine and the software that a recording was made with."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata

import torch

from traceview.workload import Fact

_VARIABLES = (
    "CUDA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCH_CUDNN_SDPA_DEPRIORITIZED",
)
"""Variables that change what runs, or how long it takes."""
_QUERY = {
    "driver_version": "driver",
    "clocks.sm": "sm_clock_mhz",
    "clocks.max.sm": "max_sm_clock_mhz",
    "clocks.mem": "memory_clock_mhz",
    "power.draw": "power_w",
    "power.limit": "power_limit_w",
    "temperature.gpu": "temperature_c",
}
"""What nvidia-smi is asked, and what a recording calls it."""


def default_device() -> torch.device:
    """The accelerator, or the CPU where there is none."""
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def software() -> dict[str, Fact]:
    """Versions and settings that decide which kernels run."""
    found: dict[str, Fact] = {
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "cudnn": torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None,
        "triton": _version("triton"),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
    }
    found |= {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return {name: value for name, value in found.items() if value is not None}


def hardware(device: torch.device) -> dict[str, Fact]:
    """The device, and its driver, clocks and power as they are at this moment, where readable."""
    if device.type != "cuda":
        return {"device": device.type, "threads": torch.get_num_threads()}
    properties = torch.cuda.get_device_properties(device)
    return {
        "device": properties.name,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "l2_bytes": getattr(properties, "L2_cache_size", None),
        **_nvidia_smi(str(getattr(properties, "uuid", ""))),
    }


def _nvidia_smi(uuid: str) -> dict[str, Fact]:
    """Driver, clocks and power of this GPU; nothing where nvidia-smi does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None or not uuid:
        return {}
    try:
        answer = subprocess.run(  # noqa: S603 -- a fixed question
            [program, f"--query-gpu={','.join(_QUERY)}", "--format=csv,noheader,nounits",
             f"--id=GPU-{uuid}"],
            capture_output=True, check=True, encoding="utf-8", timeout=10,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [value.strip() for value in answer.strip().split(",")]
    return {
        name: _number(value)
        for name, value in zip(_QUERY.values(), values, strict=False)
        if value and not value.startswith("[")
    }


def _number(value: str) -> Fact:
    """A figure as a number, a version as text."""
    try:
        return int(value) if value.isdigit() else value if value.count(".") > 1 else float(value)
    except ValueError:
        return value


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
