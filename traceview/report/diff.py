"""What changed between two sides, where it comes from, and whether it is real."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.diff import Comparability, TraceDiff
from traceview.diff.judge import ENOUGH, REASONS, SHARES
from traceview.diff.measure import Measured
from traceview.diff.spread import STEADY
from traceview.diff.structure import COUNT_OF
from traceview.document import Document, Field, Section, Table, Value
from traceview.kernel_names import short
from traceview.report import breakdown, outside, timeline
from traceview.report.heading import about, cuda_version
from traceview.report.rows import records, values
from traceview.stats import STRADDLES, Basis, Verdict
from traceview.trace import of_accelerators
from traceview.units import Unit

SCHEMA = "traceview.diff/1"
NAMES = {
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


def document(diff: TraceDiff, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many rows of where it comes from text shows."""
    sections = (
        Section(_per_step(diff), _notes(diff), (_quantities(diff),)),
        *breakdown.sections(diff, limit or 8),
        *timeline.section(diff.before[0].trace, diff.after[0].trace),
        *_structure(diff, limit or 8),
        *_memory(diff),
        *outside.section((("before", diff.before), ("after", diff.after))),
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
        f"{NAMES[name]} {units.text(int(row[s.BEFORE]), unit)} -> "
        f"{units.text(int(row[s.AFTER]), unit)} ({verdict_words(name, row[s.VERDICT])})"
        for name in judged
        for row in (rows[name],)
        for unit in (Unit(row[s.UNIT]),)
        if row[s.VERDICT] in (Verdict.IMPROVED, Verdict.REGRESSED)
    ]
    if parts:
        yield f"{', '.join(parts)}."
    elif (diff.quantities[s.VERDICT] == Verdict.CANNOT_TELL.value).any():
        yield "Nothing changed that these recordings can prove."
    else:
        yield "Nothing changed by more than its margin."


def verdict_words(quantity: str, verdict: str) -> str:
    """A verdict as a person says it: faster, less memory, same, cannot tell."""
    better, worse = _LESS_OF_IT.get(quantity, ("faster", "slower"))
    words: dict[str, str] = {
        Verdict.IMPROVED: better,
        Verdict.REGRESSED: worse,
        Verdict.CANNOT_TELL: "cannot tell",
    }
    return words.get(verdict, verdict)


def _per_step(diff: TraceDiff) -> str:
    devices = {
        int(device) for r in (*diff.before, *diff.after) for device in r.work[s.DEVICE_ID].unique()
    }
    what = "A step" if all(len(r.used) for r in (*diff.before, *diff.after)) else "The whole window"
    return f"{what}, {len(devices)} devices added up" if len(devices) > 1 else what


def _notes(diff: TraceDiff) -> tuple[str, ...]:
    """Where the intervals that are shown come from."""
    known = diff.quantities[diff.quantities[s.INTERVAL_LOW].notna().to_numpy()]
    bases = set(known[s.BASIS])
    sources = (text for basis, text in _BASES.items() if basis in bases)
    return (*sources, *_means_apart(diff), *_unsteady(diff))


_BASES = {
    Basis.MEASURED: "Known from the spread of these recordings (95 %); idle and syncs as shares of"
    " the period.",
    Basis.PROFILE: "Known from the noise profile (95 %); idle and syncs as shares of the period.",
    Basis.PRIOR: "Known from how far runs of other programs differed on an H200; idle and syncs as"
    " shares of the period.",
}


_APART = 1.01
"""So far outside its interval a ratio is told: the first step counts in part, which moves less."""


def _means_apart(diff: TraceDiff) -> Iterator[str]:
    """Ratios of means that lie outside their interval, which is of median steps."""
    rows = diff.quantities
    known = rows[rows[s.RATIO].notna() & rows[s.INTERVAL_LOW].notna()]
    for _, row in known[(known[s.BASIS] == Basis.MEASURED.value)].iterrows():
        name, ratio = str(row[s.QUANTITY]), float(row[s.RATIO])
        low, high = float(row[s.INTERVAL_LOW]), float(row[s.INTERVAL_HIGH])
        if name not in SHARES and not low / _APART <= ratio <= high * _APART:
            yield (
                f"{NAMES[name]}: single steps move the means, whose ratio is {units.ratio(ratio)}; "
                f"that of the median steps is {units.ratio(low)} to {units.ratio(high)}."
            )


def _unsteady(diff: TraceDiff) -> Iterator[str]:
    """Recordings whose steps drift by so much that their mean says little."""
    columns = (s.SIDE, s.RECORDING, s.QUANTITY, s.DRIFT)
    for side, number, quantity, drift in values(diff.spread, columns):
        several = len(diff.before if side == "before" else diff.after) > 1
        if isinstance(drift, float) and abs(drift) > STEADY and quantity == "gpu_busy":
            which = f"{side} {int(number or 0) + 1}" if several else str(side)
            pace = "slower" if drift > 0 else "faster"
            share = units.percent(abs(drift))
            yield f"{which}: {NAMES[str(quantity)]} of the later steps is {share} {pace}: a drift."


def _quantities(diff: TraceDiff) -> Table:
    fields = (
        Field(""),
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("delta", Unit.NS, signed=True),
        Field("ratio", Unit.RATIO),
        Field("verdict"),
        Field("known"),
    )
    columns = (s.QUANTITY, s.BEFORE, s.AFTER, s.DELTA, s.RATIO, s.VERDICT, s.INTERVAL_LOW,
               s.INTERVAL_HIGH, s.BASIS, s.UNIT)  # fmt: skip
    rows, row_units = [], []
    for name, before, after, delta, ratio, verdict, low, high, basis, unit in values(
        diff.quantities, columns
    ):
        shown = None if diff.comparable is Comparability.NO else ratio
        words = verdict_words(str(name), str(verdict))
        interval = _known(str(name), low, high, str(basis), str(verdict))
        rows.append((NAMES[str(name)], before, after, delta, shown, words, interval))
        row_units.append(Unit(str(unit)))
    return Table("quantities", fields, tuple(rows), row_units=tuple(row_units))


def _known(name: str, low: Any, high: Any, basis: str, verdict: str) -> str:
    """How well the difference is known: `+-0.6 %`, or within a factor where it is not."""
    if basis == Basis.EXACT:
        return "" if verdict == Verdict.CANNOT_TELL else basis
    if low is None:
        return ""
    half = (high - low) / 2 if name in SHARES else math.sqrt(high / low) - 1
    return f"+-{units.percent(half)}" if half < _FACTOR else f"to x{1 + half:.1f}"


_FACTOR = 1.0
"""From this relative half width on, an interval is given as a factor."""


def _structure(diff: TraceDiff, shown: int) -> Iterator[Section]:
    if not any(r.has_device for r in (*diff.before, *diff.after)):
        return
    fields = (Field("count", stretch=True), Field("before"), Field("after"))
    rows = tuple(
        (_fact(str(fact)), _grouped(before), _grouped(after))
        for fact, before, after in values(diff.structure, s.STRUCTURE.columns)
    )
    same = all(before == after for _, before, after in rows)
    lines = ("The same kernels, the same number of times.",) if same else ()
    stepped = all(len(r.used) for r in (*diff.before, *diff.after))
    title = "Exact facts, a step" if stepped else "Exact facts"
    facts = Table("structure", fields, rows, shown)
    yield Section(title, lines, (facts,), folded=True)


def _grouped(count: Value) -> str:
    """A count, or a range of counts, with its thousands separated."""
    return "..".join(f"{int(end):,}" for end in str(count).split(".."))


def _exact(row: dict[str, Any]) -> dict[str, Any]:
    """A fact for machines: a number where all steps agree, else the range as text."""
    sides = {str(side): row[side] for side in (s.BEFORE_FACT, s.AFTER_FACT)}
    return {**row, **{side: int(n) if n.isdecimal() else n for side, n in sides.items()}}


def _fact(fact: str) -> str:
    """A fact with the kernel in it by its short name."""
    return short(fact.removeprefix(COUNT_OF)) if fact.startswith(COUNT_OF) else fact


def _memory(diff: TraceDiff) -> Iterator[Section]:
    """The devices one by one, where there are several: of one, the quantities tell."""
    accelerators = of_accelerators(diff.memory)
    if len(accelerators) <= 1:
        return
    fields = (
        Field("device", Unit.ID),
        Field("before", Unit.BYTES),
        Field("after", Unit.BYTES),
        Field("delta", Unit.BYTES, signed=True),
    )
    columns = (s.MEMORY_DEVICE, s.BEFORE_BYTES, s.AFTER_BYTES, s.DELTA_BYTES)
    rows = tuple(values(accelerators, columns))
    yield Section("Peak allocated memory", (), (Table("memory", fields, rows),))


def _settle(diff: TraceDiff) -> Iterator[Section]:
    """Why some verdicts are open, what change would have been seen, and what would settle them."""
    undecided = _undecided(diff)
    by_reason: dict[str, list[str]] = {}
    for name, reasons, detectable in values(undecided, (s.QUANTITY, s.REASONS, s.DETECTABLE)):
        words = "; ".join(REASONS[code] for code in str(reasons or "").split())
        seen = f" ({units.percent(detectable, 0)})" if isinstance(detectable, float) else ""
        by_reason.setdefault(words, []).append(f"{NAMES[str(name)]}{seen}")
    lines = [f"{', '.join(names)}: {words}." for words, names in by_reason.items()]
    if lines and undecided[s.DETECTABLE].notna().any():
        lines.append("In brackets the change that would have been seen.")
    if lines:
        yield Section('Why "cannot tell"', (*lines, *_advice(diff)))


def _advice(diff: TraceDiff) -> Iterator[str]:
    codes = {code for reasons in _undecided(diff)[s.REASONS] for code in str(reasons).split()}
    if STRADDLES not in codes:
        return
    if min(len(diff.before), len(diff.after)) < ENOUGH:
        yield f"To settle it, record {ENOUGH} or more runs a side, in turn, in separate processes."
    else:
        yield "To settle it, record more runs a side."


def _undecided(diff: TraceDiff) -> pd.DataFrame:
    return diff.quantities[(diff.quantities[s.VERDICT] == Verdict.CANNOT_TELL.value).to_numpy()]


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
            "replaced": records(diff.replaced, s.REPLACED.columns),
        },
        "structure": [_exact(row) for row in records(diff.structure, s.STRUCTURE.columns)],
        "memory": [
            {"device": row[s.MEMORY_DEVICE], **row}
            for row in records(diff.memory, s.MEMORY_DELTA.columns)
        ],
        "spread": records(diff.spread, s.SPREAD.columns),
        "outside": {"before": outside.data(diff.before), "after": outside.data(diff.after)},
    }


def _quantity(row: dict[str, Any]) -> dict[str, Any]:
    low, high = row.pop(s.INTERVAL_LOW), row.pop(s.INTERVAL_HIGH)
    reasons = str(row[s.REASONS] or "").split()
    return {**row, "interval": None if low is None else [low, high], str(s.REASONS): reasons}
