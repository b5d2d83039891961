"""How near matrix products, convolutions and attention come to what the GPU could do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Section
from traceview.metrics import roofline as metric
from traceview.peaks import PRECISIONS, Peak, peak_of
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.trace import Trace
from traceview.units import Unit

SCHEMA = "traceview.roofline/1"


def document(
    trace: Trace, *, peaks: Mapping[str, float] | None = None, limit: int = 15
) -> Document:
    """The report; `peaks` override those of the table, `limit` is how many rows text shows."""
    frame = metric.roofline(trace, peaks)
    peak = peak_of(trace.metadata.device_names, peaks)
    fields = {
        s.OP: field(s.OP, "op", stretch=True),
        s.SHAPES: field(s.SHAPES, "shapes", stretch=True),
        s.PRECISION: field(s.PRECISION, "in"),
        s.CALLS: field(s.CALLS, "calls"),
        s.DEVICE_NS: field(s.DEVICE_NS, "GPU time"),
        s.USEFUL_RATE: field(s.USEFUL_RATE, "useful"),
        s.COMPUTE_SHARE: field(s.COMPUTE_SHARE, "of peak"),
        s.MEMORY_SHARE: field(s.MEMORY_SHARE, "of memory"),
    }
    if (frame[s.USEFUL_FLOP] != frame[s.EXECUTED_FLOP]).any():
        fields[s.EXECUTED_RATE] = field(s.EXECUTED_RATE, "executed")
    if peak is None:
        del fields[s.COMPUTE_SHARE], fields[s.MEMORY_SHARE]
    sections = (
        Section("By op and shapes", (_about_peak(trace, peak),), (
            table("roofline", frame, fields, limit),
        )),
        coverage_section(trace),
    )  # fmt: skip
    data = {
        "schema": SCHEMA,
        "trace": about(trace),
        "peak": _as_data(peak),
        "roofline": records(frame, s.ROOFLINE.columns),
    }
    return Document("roofline", title(trace), tuple(_lead(trace, frame)), sections, data)


def _lead(trace: Trace, frame: pd.DataFrame) -> Iterator[str]:
    if frame.empty:
        yield "No op whose cost is known has shapes and device work in this recording."
        if not trace.host[s.INPUT_DIMS].notna().any():
            yield "Shapes are not recorded: record with record_shapes=True."
        return
    time = int(frame[s.DEVICE_NS].sum())
    useful = float(frame[s.USEFUL_FLOP].sum()) / (time / 1e9) if time else 0.0
    yield (
        f"Matrix products, convolutions and attention take {units.text(time, Unit.NS)} of GPU time"
        f" and do {units.text(useful, Unit.FLOP_RATE)} of useful work in it."
    )
    known = frame[frame[s.COMPUTE_SHARE].notna()]
    if len(known):
        shares = known[s.COMPUTE_SHARE].to_numpy(dtype=float)
        op = known[s.OP].iloc[int(shares.argmax())]
        yield f"Nearest to the peak is {op}: {units.percent(float(shares.max()))}."


def _about_peak(trace: Trace, peak: Peak | None) -> str:
    if peak is None:
        devices = ", ".join(trace.metadata.device_names) or "the GPU, which is not named,"
        return f"What {devices} can do is not known here: give it with --peak."
    rates = [f"{getattr(peak, name):g} {name}" for name in PRECISIONS if getattr(peak, name)]
    memory = "" if peak.memory is None else f"; memory {peak.memory:g} TB/s"
    return f"Peak of {peak.gpu}, dense, in TFLOP/s: {', '.join(rates)}{memory}."


def _as_data(peak: Peak | None) -> dict[str, object] | None:
    if peak is None:
        return None
    rates = {f"{name}_flops": peak.flops(name) for name in PRECISIONS}
    return {"gpu": peak.gpu, **rates, "memory_bytes": peak.bytes}
