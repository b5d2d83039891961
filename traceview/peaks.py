"""What GPUs can do at most: dense figures of their vendors' data sheets.

Sheets of NVIDIA like to print the rate with 2:4 sparsity, which is twice as high. Nothing reaches
these rates for long: they assume boost clocks and no power limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from traceview.errors import UsageError


@dataclass(frozen=True, slots=True)
class Peak:
    """Rates of one GPU in 10^12 operations a second by precision, and of memory in TB/s.

    `fp32` is that of full 32-bit numbers, of NVIDIA's ordinary cores and AMD's matrix cores; `tf32`
    is that of tensor cores, which round 32-bit numbers.
    """

    gpu: str
    memory: float | None = None
    fp64: float | None = None
    fp32: float | None = None
    tf32: float | None = None
    fp16: float | None = None
    bf16: float | None = None
    fp8: float | None = None
    int8: float | None = None

    def flops(self, precision: str) -> float | None:
        """Operations a second at this precision, None where it is not known."""
        rate = getattr(self, precision) if precision in PRECISIONS else None
        return None if rate is None else rate * 1e12

    @property
    def bytes(self) -> float | None:
        """Bytes a second, None where it is not known."""
        return None if self.memory is None else self.memory * 1e12


PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")
NAMES = ("memory", *PRECISIONS)
"""What a user can override."""


def _gpu(
    name: str,
    memory: float,
    fp32: float,
    tf32: float | None,
    half: float,
    eight: float | None = None,
) -> Peak:
    return Peak(name, memory, None, fp32, tf32, half, half if tf32 else None, eight, eight)


_KNOWN = (
    # From the most specific name to the least.
    (r"GB200", _gpu("GB200", 8.0, 80, 1250, 2500, 5000)),
    (r"B200", _gpu("B200", 8.0, 75, 1125, 2250, 4500)),
    (r"GH200", _gpu("GH200", 4.0, 66.9, 494.7, 989.4, 1978.9)),
    (r"H200", _gpu("H200", 4.8, 66.9, 494.7, 989.4, 1978.9)),
    (r"H20\b", _gpu("H20", 4.0, 44, 74, 148, 296)),
    (r"H100 NVL", _gpu("H100 NVL", 3.9, 60, 417.5, 835.5, 1670.5)),
    (r"H100 PCIe", _gpu("H100 PCIe", 2.0, 51.2, 378, 756, 1513)),
    (r"H100", _gpu("H100 SXM", 3.35, 66.9, 494.7, 989.4, 1978.9)),
    (r"A100.*PCIE.*80|A100 80GB PCIe", _gpu("A100 80 GB PCIe", 1.935, 19.5, 156, 312)),
    (r"A100.*80", _gpu("A100 80 GB SXM", 2.039, 19.5, 156, 312)),
    (r"A100", _gpu("A100 40 GB", 1.555, 19.5, 156, 312)),
    (r"L40S", _gpu("L40S", 0.864, 91.6, 183, 362, 733)),
    (r"L40\b", _gpu("L40", 0.864, 90.5, 90.5, 181, 362)),
    (r"L4\b", _gpu("L4", 0.3, 30.3, 60, 121, 242)),
    (r"A10\b", _gpu("A10", 0.6, 31.2, 62.5, 125)),
    (r"V100.*PCIE", _gpu("V100 PCIe", 0.9, 14, None, 112)),
    (r"V100", _gpu("V100", 0.9, 15.7, None, 125)),
    (r"T4\b", _gpu("T4", 0.32, 8.1, None, 65)),
    (r"MI325X", _gpu("MI325X", 6.0, 163.4, 653.7, 1307.4, 2614.9)),
    (r"MI300X", _gpu("MI300X", 5.3, 163.4, 653.7, 1307.4, 2614.9)),
    (r"MI250X", Peak("MI250X, one of its two dies", 1.6, fp32=47.9, fp16=191.5, bf16=191.5)),
    (r"MI250\b", Peak("MI250, one of its two dies", 1.6, fp32=45.3, fp16=181, bf16=181)),
    (r"MI210", Peak("MI210", 1.6, fp32=45.3, fp16=181, bf16=181)),
)


def peak_of(names: tuple[str, ...], overrides: Mapping[str, float] | None = None) -> Peak | None:
    """The peak of a recording's devices, None where they are unknown or differ.

    `overrides` are rates by NAMES that count instead, also for an unknown GPU.
    """
    unknown = sorted(set(overrides or ()) - set(NAMES))
    if unknown:
        raise UsageError(f"there is no peak {unknown[0]!r}; the peaks are {', '.join(NAMES)}")
    found = [
        next((peak for pattern, peak in _KNOWN if re.search(pattern, name)), None) for name in names
    ]
    known = found[0] if len(set(names)) == 1 else None
    if overrides:
        return Peak(**(asdict(known or Peak("a GPU as given")) | dict(overrides)))
    return known
