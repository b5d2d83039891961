"""What changed between two sides, where it comes from, and whether it is real."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from traceview import schema as s
from traceview import units
from traceview.diff import Comparability, TraceDiff
from traceview.diff.measure import Measured
from traceview.document import Document, Field, Section, Table
from traceview.report.gaps import EXPLAINED
from traceview.report.heading import about, cuda_version
from traceview.report.rows import records, values
from traceview.units import Unit

SCHEMA = "traceview.diff/1"
_NAMES = {
    "gpu_busy": "GPU busy",
    "device_period": "device period",
    "gpu_idle": "GPU idle",
    "host_step": "host step",
    "launch_overhead": "launch overhead",
    "sync_stall": "sync stalls",
    "peak_allocated": "peak allocated",
}
_LESS_OF_IT = {"gpu_idle": ("less idle", "more idle"), "sync_stall": ("less", "more"),
               "peak_allocated": ("less memory", "more memory")}  # fmt: skip
_SHARES = ("gpu_idle", "sync_stall")
REASONS = {
    "single_recording": "one recording a side does not show how much runs differ",
    "interval_straddles_margin": "the interval reaches over the margin",
    "real_but_below_margin": "real, but smaller than the margin",
    "not_recorded": "not recorded on either side",
    "recorded_on_one_side": "recorded on one side only",
    "none_on_one_side": "there is none on one side",
    "none_on_either_side": "there is none on either side",
    "not_comparable": "the sides are not comparable",
    "no_device_work": "no device work",
    "same_recording": "the same recording twice",
}
"""The reasons of verdicts in words."""


def document(diff: TraceDiff, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many rows of where it comes from text shows."""
    sections = (
        Section(_per_step(diff), _notes(diff), (_quantities(diff),)),
        *_attribution(diff, limit or 10),
        *_structure(diff, limit or 10),
        *_memory(diff),
        *_settle(diff),
    )
    return Document("diff", _title(diff), tuple(_lead(diff)), sections, _data(diff))


def _title(diff: TraceDiff) -> str:
    before, after = (_name(side) for side in (diff.before, diff.after))
    metadata = diff.after[0].trace.metadata
    machine = [", ".join(metadata.device_names), cuda_version(metadata) or ""]
    return "   ".join([f"{before} -> {after}", *filter(None, machine)])


def _name(side: Sequence[Measured]) -> str:
    path = side[0].trace.metadata.path
    name = PurePath(path).name if path else "trace"
    for ending in (".gz", ".json", ".trace", ".pt"):
        name = name.removesuffix(ending)
    return name if len(side) == 1 else f"{name} and {len(side) - 1} more"


def _lead(diff: TraceDiff) -> Iterator[str]:
    yield from _headline(diff)
    words = {
        Comparability.YES: "Comparable",
        Comparability.WITH_RESERVATIONS: "Comparable with reservations",
        Comparability.NO: "NOT COMPARABLE",
    }
    serious = [r.text for r in diff.reasons if not r.informs]
    yield f"{words[diff.comparable]}{': ' if serious else ''}{'; '.join(serious)}."
    for reason in diff.reasons:
        if reason.informs:
            yield f"{reason.text[0].upper()}{reason.text[1:]}."


def _headline(diff: TraceDiff) -> Iterator[str]:
    """The answer in one sentence; no ratio where the sides are not comparable."""
    if diff.comparable is Comparability.NO:
        return
    rows = {str(row[s.QUANTITY]): row for _, row in diff.quantities.iterrows()}
    judged = ("gpu_busy", "device_period", "host_step", "gpu_idle", "peak_allocated")
    parts = [
        f"{_NAMES[name]} {units.text(int(row[s.BEFORE]), unit)} -> "
        f"{units.text(int(row[s.AFTER]), unit)} ({verdict_words(name, row[s.VERDICT])})"
        for name in judged
        for row in (rows[name],)
        for unit in (Unit(row[s.UNIT]),)
        if row[s.VERDICT] in ("improved", "regressed")
    ]
    if parts:
        yield f"{', '.join(parts)}."
    elif (diff.quantities[s.VERDICT] == "cannot_tell").any():
        yield "Nothing changed that these recordings can prove."
    else:
        yield "Nothing changed by more than its margin."


def verdict_words(quantity: str, verdict: str) -> str:
    """A verdict as a person says it: faster, less memory, same, cannot tell."""
    better, worse = _LESS_OF_IT.get(quantity, ("faster", "slower"))
    words = {"improved": better, "regressed": worse, "cannot_tell": "cannot tell"}
    return words.get(verdict, verdict)


def _per_step(diff: TraceDiff) -> str:
    devices = {
        int(device) for r in (*diff.before, *diff.after) for device in r.work[s.DEVICE_ID].unique()
    }
    what = "A step" if all(len(r.used) for r in (*diff.before, *diff.after)) else "The whole window"
    return f"{what}, {len(devices)} devices added up" if len(devices) > 1 else what


def _notes(diff: TraceDiff) -> tuple[str, ...]:
    bases = set(diff.quantities[s.BASIS])
    if "prior" not in bases:
        return ()
    return (
        "Intervals on basis `prior` come from the run-to-run spread of other programs on an H200.",
    )


def _quantities(diff: TraceDiff) -> Table:
    fields = (
        Field(""),
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("delta", Unit.NS, signed=True),
        Field("ratio", Unit.RATIO),
        Field("verdict"),
        Field("interval"),
    )
    columns = (s.QUANTITY, s.BEFORE, s.AFTER, s.DELTA, s.RATIO, s.VERDICT, s.INTERVAL_LOW,
               s.INTERVAL_HIGH, s.BASIS, s.UNIT)  # fmt: skip
    rows, row_units = [], []
    for name, before, after, delta, ratio, verdict, low, high, basis, unit in values(
        diff.quantities, columns
    ):
        shown = None if diff.comparable is Comparability.NO else ratio
        words = verdict_words(str(name), str(verdict))
        interval = _interval(str(name), low, high, str(basis))
        rows.append((_NAMES[str(name)], before, after, delta, shown, words, interval))
        row_units.append(Unit(str(unit)))
    return Table("quantities", fields, tuple(rows), row_units=tuple(row_units))


def _interval(name: str, low: Any, high: Any, basis: str) -> str:
    if basis == "exact":
        return basis
    if low is None:
        return ""
    if name in _SHARES:
        return f"{100 * low:+.1f} .. {100 * high:+.1f} % of period"
    return f"{units.ratio(low)} .. {units.ratio(high)} {basis}"


def _attribution(diff: TraceDiff, shown: int) -> Iterator[Section]:
    frame = diff.attribution
    if frame.empty:
        return
    total = int(frame[s.DELTA_NS].sum())
    fields = (
        Field("delta", Unit.NS, signed=True),
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("what", stretch=True),
    )
    rows = tuple(
        (delta, before, after, _what(str(kind), str(path), str(change)))
        for delta, before, after, kind, path, change in values(
            frame, (s.DELTA_NS, s.BEFORE_NS, s.AFTER_NS, s.PART, s.PATH, s.CHANGE)
        )
    )
    busy = int(frame.loc[frame[s.PART] == "busy", s.DELTA_NS].sum())
    lines = (
        f"{units.text(busy, Unit.NS, signed=True)} busy and {units.text(total - busy, Unit.NS, signed=True)} idle; "
        "the rows add up exactly.",
    )
    title = f"Where the {units.text(total, Unit.NS, signed=True)} of the device period come from"
    yield Section(title, lines, (Table("attribution", fields, rows, shown),))


def _what(kind: str, path: str, change: str) -> str:
    mark = {"only_before": "gone: ", "only_after": "new: "}.get(change, "")
    return f"idle: {EXPLAINED.get(path, path)}" if kind == "idle" else f"{mark}{path}"


def _structure(diff: TraceDiff, shown: int) -> Iterator[Section]:
    if not any(r.has_device for r in (*diff.before, *diff.after)):
        return
    fields = (Field("fact", stretch=True), Field("before"), Field("after"))
    rows = tuple(values(diff.structure, s.STRUCTURE.columns))
    same = all(before == after for _, before, after in rows)
    lines = ("The same kernels, the same number of times.",) if same else ()
    yield Section("Exact facts, a step", lines, (Table("structure", fields, rows, shown),))


def _memory(diff: TraceDiff) -> Iterator[Section]:
    accelerators = diff.memory[diff.memory[s.DEVICE_TYPE] != 0]
    if accelerators.empty:
        return
    fields = (
        Field("device", Unit.ID),
        Field("before", Unit.BYTES),
        Field("after", Unit.BYTES),
        Field("delta", Unit.BYTES, signed=True),
    )
    rows = values(accelerators, (s.MEMORY_DEVICE, s.BEFORE_BYTES, s.AFTER_BYTES, s.DELTA_BYTES))
    yield Section("Peak allocated memory", (), (Table("memory", fields, tuple(rows)),))


def _settle(diff: TraceDiff) -> Iterator[Section]:
    frame = diff.quantities
    lines = []
    for name, reasons in values(frame[frame[s.VERDICT] == "cannot_tell"], (s.QUANTITY, s.REASONS)):
        words = "; ".join(REASONS[code] for code in str(reasons or "").split())
        lines.append(f"{_NAMES[str(name)]}: {words}.")
    if lines:
        advice = "To settle it, record 3 or more runs a side, in turn, in separate processes."
        yield Section('Why "cannot tell"', (*lines, advice))


def _data(diff: TraceDiff) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "comparable": {
            "verdict": diff.comparable.value,
            "reasons": [{"code": r.code, "text": r.text} for r in diff.reasons],
        },
        "recordings": {"before": len(diff.before), "after": len(diff.after)},
        "traces": {
            name: [about(recording.trace) for recording in side]
            for name, side in (("before", diff.before), ("after", diff.after))
        },
        "quantities": [_quantity(row) for row in records(diff.quantities, s.QUANTITIES.columns)],
        "attribution": {
            "total_delta_ns": int(diff.attribution[s.DELTA_NS].sum()),
            "rows": records(diff.attribution, s.ATTRIBUTION.columns),
        },
        "structure": records(diff.structure, s.STRUCTURE.columns),
        "memory": [
            {"device": row["device_id"], **row}
            for row in records(diff.memory, s.MEMORY_DELTA.columns)
        ],
        "outside": {},
    }


def _quantity(row: dict[str, Any]) -> dict[str, Any]:
    low, high = row.pop("interval_low"), row.pop("interval_high")
    reasons = str(row["reasons"] or "").split()
    return {**row, "interval": None if low is None else [low, high], "reasons": reasons}
