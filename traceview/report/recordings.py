"""What was recorded, as the recordings tell it, and whether they agree with what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from statistics import median
from typing import Any

from traceview import schema as s
from traceview.document import Document, Field, Section, Table, Value
from traceview.metrics.memory import memory_peaks
from traceview.metrics.steps import steps
from traceview.metrics.utilization import devices
from traceview.report import published
from traceview.trace import MEMSET, Trace, of_accelerators
from traceview.units import Unit
from traceview.workload import Workload, declared

SCHEMA = "traceview.recordings/1"
_OUTSIDE = (
    "Outside: CUDA events, or without a GPU the host's clock. Of an attention the queue is kept "
    "full, and the ratio is that of GPU busy; else it is that of the device period."
)
_PROFILER = "Profiler: how much longer the host takes for a step with the profiler on."


def document(
    recorded: Sequence[tuple[str, Trace]], refused: Sequence[tuple[str, Sequence[str]]]
) -> Document:
    """The report on recordings by their paths, and on what was refused, with the reasons."""
    rows = [_figures(path, trace) for path, trace in recorded]
    sections = tuple(_sections(rows, refused))
    data = {
        "schema": SCHEMA,
        "recordings": rows,
        "refused": [{"name": name, "reasons": list(reasons)} for name, reasons in refused],
    }
    return Document("recordings", "Recordings", tuple(_lead(rows, refused)), sections, data)


def _lead(rows: Sequence[dict[str, Any]], refused: Sequence[object]) -> Iterator[str]:
    works = sorted({row["work"] for row in rows if row["work"]})
    yield f"{len(rows)} recorded, {len(refused)} refused." + "".join(f" {work}." for work in works)
    yield from dict.fromkeys(
        f"{row['numerics_text']}." for row in rows if row["numerics"] == "wrong"
    )


def _sections(
    rows: Sequence[dict[str, Any]], refused: Sequence[tuple[str, Sequence[str]]]
) -> Iterator[Section]:
    if rows:
        yield Section("What ran", (), (_ran(rows),))
        yield Section(
            "A step, inside and outside of the recording",
            (_OUTSIDE, _PROFILER),
            (_agreement(rows),),
        )
    yield from published.section(rows)
    failures = [
        (row["recording"], case["case"], case["verdict"], case["text"])
        for row in rows
        for case in row["cases"]
        if case["verdict"] != "correct"
    ]
    if failures:
        yield Section(
            "Not correct",
            ("Against the same formula in float64.",),
            (Table("cases", _words("recording", "case", "verdict"), tuple(failures)),),
        )
    if refused:
        said: tuple[tuple[Value, ...], ...] = tuple(
            (name, "; ".join(reasons)) for name, reasons in refused
        )
        yield Section("Refused", (), (Table("refused", _words("recording"), said),))


def _words(*headings: str) -> tuple[Field, ...]:
    """Columns of words, the last of them a sentence."""
    return (*map(Field, headings), Field("why", prose=True))


def _ran(rows: Sequence[dict[str, Any]]) -> Table:
    columns = {
        "recording": Field("recording", stretch=True),
        "ran": Field("ran"),
        "numerics": Field("result"),
        "cold_start_ns": Field("cold start", Unit.NS),
        "launched": Field("GPU work a step", Unit.COUNT),
        "unlinked": Field("unlinked", Unit.COUNT),
    }
    return _known("ran", columns, rows)


def _agreement(rows: Sequence[dict[str, Any]]) -> Table:
    columns = {
        "recording": Field("recording", stretch=True),
        "outside_ns": Field("outside", Unit.NS),
        "busy_ns": Field("GPU busy", Unit.NS),
        "period_ns": Field("period", Unit.NS),
        "ratio": Field("ratio", Unit.RATIO),
        "flushed_ns": Field("L2 flushed", Unit.NS),
        "peak_bytes": Field("peak", Unit.BYTES),
        "recorded_peak_bytes": Field("in the trace", Unit.BYTES),
        "disturbance": Field("profiler", Unit.RATIO),
    }
    return _known("agreement", columns, rows)


def _known(name: str, columns: dict[str, Field], rows: Sequence[dict[str, Any]]) -> Table:
    """A table of the columns that some row knows a value of."""
    keys = [key for key in columns if any(row[key] is not None for row in rows)]
    values = tuple(tuple(row[key] for key in keys) for row in rows)
    return Table(name, tuple(columns[key] for key in keys), values)


def _figures(path: str, trace: Trace) -> dict[str, Any]:
    """What one recording says of itself, beside what is in it."""
    told = declared(trace.metadata.properties) or Workload()
    outside = told.outside
    used = steps(trace)
    used = used[used[s.EXCLUDED].isna()]
    busy = int(used[s.BUSY_NS].mean()) if used[s.BUSY_NS].any() else None
    periods = used[s.DEVICE_PERIOD_NS].dropna()
    period = int(periods.median()) if len(periods) else None
    events = _median(outside.event_ns)
    inside = busy if outside.queued else period
    wall, profiled = _median(outside.wall_ns), _median(outside.profiled_wall_ns)
    peaks = of_accelerators(memory_peaks(trace))
    return {
        "recording": PurePath(path).name.removesuffix(".gz").removesuffix(".json"),
        "path": path,
        "work": told.work.text,
        "backend": told.work.variant.get("backend"),
        "device": told.environment.get("device"),
        "ran": ", ".join(told.work.ran) or None,
        "numerics": told.numerics.verdict,
        "numerics_text": told.numerics.text,
        "cases": [
            {"case": case.case, "verdict": case.verdict, "text": case.text}
            for case in told.numerics.cases
        ],
        "cold_start_ns": outside.cold_start_ns,
        "launched": int(used[s.DEVICE_EVENTS].median()) if busy else None,
        "kernels": _kernels(trace, len(steps(trace))) if busy else None,
        "unlinked": int(devices(trace)[s.UNLINKED_EVENTS].sum()) if busy else None,
        "outside_ns": wall if events is None else events,
        "busy_ns": busy,
        "period_ns": period,
        "ratio": inside / events if inside and events else None,
        "flushed_ns": _median(outside.event_flushed_ns),
        "peak_bytes": told.recorded.peak_allocated_bytes,
        "recorded_peak_bytes": int(peaks[s.PEAK_ALLOCATED].max()) if len(peaks) else None,
        "disturbance": profiled / wall if profiled and wall else None,
    }


def _kernels(trace: Trace, count: int) -> int:
    """Kernels and copies of a step."""
    return int((trace.work[s.CATEGORY] != MEMSET).sum()) // count


def _median(values: Sequence[int]) -> int | None:
    return round(median(values)) if values else None
