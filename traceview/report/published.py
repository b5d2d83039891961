"""A published table of attention on an A100, to hold recordings of the same shape against.

Hugging Face, "Profiling in PyTorch", part 3: A100-SXM4-80GB, three steps under the profiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from traceview.document import Field, Section, Table, Value
from traceview.units import Unit

WORK = "B8 H16 S1024 D64 bfloat16 causal, forward"
GPU = "A100"


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the table: kernels and copies of a forward pass, and its mean GPU time."""

    kernels: int
    ns: int | None = None


TABLE = {
    "naive": Published(6),
    "inplace": Published(5, 1_955_000),
    "math": Published(20, 7_239_000),
    "efficient": Published(1, 277_900),
    "flash": Published(1, 146_800),
    "cudnn": Published(1, 186_300),
}


def section(rows: Sequence[dict[str, Any]]) -> Iterator[Section]:
    """The recordings of the published work beside the table; times only on the same GPU."""
    found = [row for row in rows if row["work"] == WORK and row["backend"] in TABLE]
    if not found:
        return
    same = all(GPU in str(row["device"]) for row in found)
    fields = [Field("recording"), Field("kernels", Unit.COUNT), Field("published", Unit.COUNT)]
    values = [_counts(row) for row in found]
    lines = ["Kernels and copies of a step; the published table is of an A100-SXM4-80GB."]
    if same:
        fields += [Field("GPU busy", Unit.NS), Field("published", Unit.NS)]
        values = [(*_counts(row), row["busy_ns"], TABLE[row["backend"]].ns) for row in found]
    else:
        lines.append(f"These are of another device ({found[0]['device']}): times do not compare.")
    yield Section(
        "Beside a published table",
        tuple(lines),
        (Table("published", tuple(fields), tuple(values)),),
    )


def _counts(row: dict[str, Any]) -> tuple[Value, ...]:
    return row["recording"], row["kernels"], TABLE[row["backend"]].kernels
