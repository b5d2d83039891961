"""What every report says of the recording it is about."""

from __future__ import annotations

from pathlib import PurePath

from traceview import schema as s
from traceview import units
from traceview.document import Section
from traceview.metrics.coverage import coverage
from traceview.report.rows import records, values
from traceview.trace import Metadata, Trace
from traceview.units import Unit


def title(trace: Trace) -> str:
    """The file and what it was recorded on: one line."""
    metadata = trace.metadata
    name = PurePath(metadata.path).name if metadata.path else "trace"
    return "   ".join([name, *_machine(metadata)])


def _machine(metadata: Metadata) -> list[str]:
    parts = [", ".join(metadata.device_names)] if metadata.device_names else []
    if version := cuda_version(metadata):
        parts.append(version)
    if metadata.rank is not None:
        parts.append(f"rank {metadata.rank}")
    return parts


def cuda_version(metadata: Metadata) -> str | None:
    """The runtime version in words: `CUDA 13.0` from 13000."""
    for key, name in (("cuda_runtime_version", "CUDA"), ("hip_runtime_version", "HIP")):
        version = metadata.properties.get(key)
        if isinstance(version, int) and name == "CUDA":
            return f"{name} {version // 1000}.{version % 1000 // 10}"
        if isinstance(version, int):
            return f"{name} {version // 10_000_000}.{version // 100_000 % 100}"
    return None


def about(trace: Trace) -> dict[str, object]:
    """The `trace` object of the JSON reports."""
    metadata = trace.metadata
    return {
        "path": metadata.path,
        "events": sum(metadata.events.values()),
        "dropped": metadata.dropped,
        "repaired": metadata.repaired,
        "rank": metadata.rank,
        "device_names": list(metadata.device_names),
        "torch": metadata.torch_version,
        "versions": metadata.versions,
        "options": metadata.options,
        "notes": records(coverage(trace), s.COVERAGE.columns),
    }


def coverage_section(trace: Trace) -> Section:
    """What the figures leave out: the end of every report."""
    lines = [_note(*row) for row in values(coverage(trace), (s.NOTE, s.NOTE_COUNT, s.NOTE_NS))]
    lost = [
        f"{units.counted(count, 'event')} {units.plural(count, one, many)}"
        for count, one, many in (
            (
                trace.metadata.dropped,
                "could not be read and is left out",
                "could not be read and are left out",
            ),
            (
                trace.metadata.repaired,
                "was repaired while reading",
                "were repaired while reading",
            ),
        )
        if count
    ]
    return Section("Coverage", tuple(lines + lost) or ("Every event is in the figures.",))


def _note(text: object, count: object, ns: object) -> str:
    figure = f"{count:,} " if isinstance(count, int) else ""
    time = f" ({units.text(ns, Unit.NS)})" if isinstance(ns, int) else ""
    return f"{figure}{text}{time}"
