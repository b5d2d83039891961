"""What changed between two sides, where it comes from, and whether it is real."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from traceview import schema as s
from traceview import units
from traceview.diff import Comparability, TraceDiff
from traceview.diff.attribute import ANYWHERE, BUSY, IDLE, SEPARATOR
from traceview.diff.judge import ENOUGH
from traceview.diff.measure import Measured
from traceview.diff.spread import STEADY
from traceview.diff.structure import COUNT_OF
from traceview.document import Document, Field, Section, Table, Value
from traceview.kernel_names import short
from traceview.report import outside, pictures, timeline
from traceview.report.causes import EXPLAINED
from traceview.report.heading import about, cuda_version
from traceview.report.rows import records, values
from traceview.trace import CPU
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
    "several_quantities": "one of several quantities may look changed by chance",
}
"""The reasons of verdicts in words."""


def document(diff: TraceDiff, *, limit: int | None = None) -> Document:
    """The report; `limit` is how many rows of where it comes from text shows."""
    sections = (
        Section(_per_step(diff), _notes(diff), (_quantities(diff),)),
        *_attribution(diff, limit or 8),
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
    """Where the intervals come from."""
    bases = set(diff.quantities[s.BASIS])
    return (*(text for basis, text in _BASES.items() if basis in bases), *_unsteady(diff))


_BASES = {
    "measured": "Known from the spread of these recordings (95 %); idle and syncs as shares of the"
    " period.",
    "profile": "Known from the noise profile (95 %); idle and syncs as shares of the period.",
    "prior": "Known from how far runs of other programs differed on an H200; idle and syncs as"
    " shares of the period.",
}


def _unsteady(diff: TraceDiff) -> Iterator[str]:
    """Recordings whose steps drift by so much that their mean says little."""
    columns = (s.SIDE, s.RECORDING, s.QUANTITY, s.DRIFT)
    for side, number, quantity, drift in values(diff.spread, columns):
        several = len(diff.before if side == "before" else diff.after) > 1
        if isinstance(drift, float) and abs(drift) > STEADY and quantity == "gpu_busy":
            which = f"{side} {int(number or 0) + 1}" if several else str(side)
            pace = "slower" if drift > 0 else "faster"
            share = units.percent(abs(drift))
            yield f"{which}: {_NAMES[str(quantity)]} of the later steps is {share} {pace}: a drift."


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
        interval = _known(str(name), low, high, str(basis))
        rows.append((_NAMES[str(name)], before, after, delta, shown, words, interval))
        row_units.append(Unit(str(unit)))
    return Table("quantities", fields, tuple(rows), row_units=tuple(row_units))


def _known(name: str, low: Any, high: Any, basis: str) -> str:
    """How well the difference is known: `+-0.6 %`, or within a factor where it is not."""
    if basis == "exact" or low is None:
        return basis if basis == "exact" else ""
    half = (high - low) / 2 if name in _SHARES else math.sqrt(high / low) - 1
    return f"+-{units.percent(half)}" if half < _FACTOR else f"to x{1 + half:.1f}"


_FACTOR = 1.0
"""From this relative half width on, an interval is given as a factor."""


def _attribution(diff: TraceDiff, shown: int) -> Iterator[Section]:
    frame = diff.attribution
    if frame.empty:
        return
    total = int(frame[s.DELTA_NS].sum())
    fields = (
        Field("delta", Unit.NS, signed=True),
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("what", prose=True),
    )
    groups = _groups(records(frame, s.ATTRIBUTION.columns))
    rows = tuple((g.delta, g.before, g.after, g.text) for g in groups)
    busy = int(frame.loc[(frame[s.PART] == BUSY).to_numpy(), s.DELTA_NS].sum())
    parts = (units.text(ns, Unit.NS, signed=True) for ns in (busy, total - busy))
    lines = (" busy and ".join(parts) + " idle; the rows add up exactly.",)
    title = f"Where the {units.text(total, Unit.NS, signed=True)} of the device period come from"
    before = sum(group.before for group in groups)
    steps = [(group.text, group.delta) for group in groups]
    yield Section(
        title,
        lines,
        (Table("attribution", fields, rows, shown),),
        (lambda: pictures.waterfall("From before to after, a step", before, steps),),
    )
    yield from _replaced(diff)


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows of one region, or one cause of idle time, as one line."""

    text: str
    before: int
    after: int

    @property
    def delta(self) -> int:
        return self.after - self.before


def _groups(rows: Sequence[dict[str, Any]]) -> list[_Group]:
    """The rows of an attribution by region, largest change first."""
    by_line: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        whole = row["kind"] == IDLE or row["change"] == "replaced"
        key = row["path"] if whole else row["region"] or row["path"]
        by_line.setdefault((row["kind"], f"{row['change']} {key}"), []).append(row)
    groups = [
        _Group(_words(members), sum(m["before_ns"] for m in members),
               sum(m["after_ns"] for m in members))
        for members in by_line.values()
    ]  # fmt: skip
    return sorted(groups, key=lambda group: -abs(group.delta))


def _words(members: Sequence[dict[str, Any]]) -> str:
    """What a line of the attribution is about, and how its cost changed."""
    first = members[0]
    if first["kind"] == IDLE:
        return f"idle: {EXPLAINED.get(first['path'], first['path'])}"
    if first["change"] == "replaced":
        doubt = "" if first["confidence"] > _SURE else ", as far as names tell"
        where = "" if first["path"] == ANYWHERE else f" in {_region(first['path'])}"
        return f"replaced{doubt}{where}: {first['label']}"
    names = [_leaf(member["path"]) for member in members]
    where = _region(first["region"]) or names[0]
    what = f"{where}: {names[0]}" if len(names) == 1 and where != names[0] else where
    mark = {"only_before": "gone: ", "only_after": "new: "}.get(first["change"], "")
    return mark + what + ("" if mark else _cost(members))


_SURE = 0.5
"""The confidence of a replacement of which only the remainder of both sides is known."""


def _cost(members: Sequence[dict[str, Any]]) -> str:
    """Whether there are more calls, or each takes longer."""
    before, after = (sum(m[f"{side}_calls"] for m in members) for side in ("before", "after"))
    if round(after - before, 2):
        return f" ({after - before:+,.4g} calls)"
    old, new = (
        sum(m[f"{side}_calls"] * m[f"{side}_call_ns"] for m in members)
        for side in ("before", "after")
    )
    if not old or not new:
        return ""
    change = new / old - 1
    if len(members) == 1 and _only_in_company(members[0], change):
        return f" (same calls, {units.percent(change)} slower only beside communication or copies)"
    direction = "slower" if change > 0 else "faster"
    return f" (same calls, each {units.percent(abs(change))} {direction})"


def _only_in_company(row: dict[str, Any], change: float) -> bool:
    """Whether a kernel is slower, but not where it overlaps no communication and no copy."""
    before, after = row["before_alone_ns"], row["after_alone_ns"]
    return change > _NOTICEABLE and before and after and after / before - 1 < change / 2


_NOTICEABLE = 0.02


def _region(region: str) -> str:
    """The region in few words: its first and its last name."""
    names = [name.removeprefix(_BACKWARD) for name in region.split(SEPARATOR) if name]
    return SEPARATOR.join(names if len(names) <= _FEW else [names[0], "...", names[-1]])


_BACKWARD = "autograd::engine::evaluate_function: "
_FEW = 2


def _leaf(path: str) -> str:
    return short(path.rsplit(SEPARATOR, maxsplit=1)[-1])


def _replaced(diff: TraceDiff) -> Iterator[Section]:
    """What the largest replacement consists of, the costliest first."""
    if diff.replaced.empty:
        return
    row = int(diff.replaced[s.ROW].min())
    members = diff.replaced[(diff.replaced[s.ROW] == row).to_numpy()]
    rows = sorted(
        (
            (str(side), ns, calls, _member(str(path)))
            for side, ns, calls, path in values(members, (s.SIDE, s.NS, s.CALLS, s.PATH))
        ),
        key=lambda line: (line[0] == "after", -int(line[1] or 0)),
    )
    shown = [r for r in rows if r[0] == "before"][:_MEMBERS]
    shown += [r for r in rows if r[0] == "after"][:_MEMBERS]
    fields = (Field("side"), Field("a step", Unit.NS), Field("calls", Unit.COUNT),
              Field("op: kernel", stretch=True))  # fmt: skip
    hidden = len(rows) - len(shown)
    lines = (f"The {len(shown)} costliest of {len(rows)} parts.",) if hidden else ()
    yield Section("What the largest replacement consists of", lines,
                  (Table("replaced", fields, tuple(shown)),), folded=True)  # fmt: skip


_MEMBERS = 3


def _member(path: str) -> str:
    """The op and the kernel at the end of a path."""
    names = path.split(SEPARATOR)
    return ": ".join([*names[-2:-1], short(names[-1])])


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
    facts = Table("structure", fields, rows, shown)
    yield Section("Exact facts, a step", lines, (facts,), folded=True)


def _grouped(count: Value) -> str:
    """A count, or a range of counts, with its thousands separated."""
    return "..".join(f"{int(end):,}" for end in str(count).split(".."))


def _exact(row: dict[str, Any]) -> dict[str, Any]:
    """A fact for machines: a number where all steps agree, else the range as text."""
    sides = {side: row[side] for side in ("before", "after")}
    return {**row, **{side: int(n) if n.isdecimal() else n for side, n in sides.items()}}


def _fact(fact: str) -> str:
    """A fact with the kernel in it by its short name."""
    return short(fact.removeprefix(COUNT_OF)) if fact.startswith(COUNT_OF) else fact


def _memory(diff: TraceDiff) -> Iterator[Section]:
    """The devices one by one, where there are several: of one, the quantities tell."""
    accelerators = diff.memory[(diff.memory[s.DEVICE_TYPE] != CPU).to_numpy()]
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
    frame = diff.quantities
    open_ = frame[(frame[s.VERDICT] == "cannot_tell").to_numpy()]
    by_reason: dict[str, list[str]] = {}
    for name, reasons, detectable in values(open_, (s.QUANTITY, s.REASONS, s.DETECTABLE)):
        words = "; ".join(REASONS[code] for code in str(reasons or "").split())
        seen = f" ({units.percent(detectable, 0)})" if isinstance(detectable, float) else ""
        by_reason.setdefault(words, []).append(f"{_NAMES[str(name)]}{seen}")
    lines = [f"{', '.join(names)}: {words}." for words, names in by_reason.items()]
    if lines and open_[s.DETECTABLE].notna().any():
        lines.append("In brackets the change that would have been seen.")
    if lines:
        yield Section('Why "cannot tell"', (*lines, *_advice(diff)))


def _advice(diff: TraceDiff) -> Iterator[str]:
    undecided = {
        code
        for reasons in diff.quantities.loc[diff.quantities[s.VERDICT] == "cannot_tell", s.REASONS]
        for code in str(reasons).split()
    }
    if min(len(diff.before), len(diff.after)) < ENOUGH and "interval_straddles_margin" in undecided:
        yield "To settle it, record 3 or more runs a side, in turn, in separate processes."
    elif "interval_straddles_margin" in undecided:
        yield "To settle it, record more runs a side."


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
            {"device": row["device_id"], **row}
            for row in records(diff.memory, s.MEMORY_DELTA.columns)
        ],
        "spread": records(diff.spread, s.SPREAD.columns),
        "outside": {"before": outside.data(diff.before), "after": outside.data(diff.after)},
    }


def _quantity(row: dict[str, Any]) -> dict[str, Any]:
    low, high = row.pop("interval_low"), row.pop("interval_high")
    reasons = str(row["reasons"] or "").split()
    return {**row, "interval": None if low is None else [low, high], "reasons": reasons}
