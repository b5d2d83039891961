"""Experiments: one of them in full, or a map of all that was learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from traceview import stats, units
from traceview.diff.judge import SHARES
from traceview.document import Document, Field, Section, Table, Value
from traceview.experiment import Entry, Observed, Record, Verdict
from traceview.experiment.record import SCHEMA as RECORD_SCHEMA
from traceview.experiment.record import Claimed, Quantity, as_data
from traceview.report.diff import NAMES, verdict_words
from traceview.stats import Basis
from traceview.units import Unit

SCHEMA = "traceview.experiments/1"
_ROLES = {"predict": "predicted", "falsified_if": "falsified if"}
_LATE = "written after"
_NO_WORK, _NO_DEVICE = "workload not declared", "no device recorded"
_SHORT = 12
"""Digits of a sha256 that text shows; JSON and the record itself have all of them."""


def document(entry: Entry) -> Document:
    """One experiment in full, what is wrong with its file first."""
    faults, data = tuple(entry.faults), _facts(entry)
    if entry.record is None:
        return Document("experiment", f"{entry.path.name}: damaged", faults, (), data)
    own = of_record(entry.record)
    return Document(own.name, own.title, (*faults, *own.lead), own.sections, data)


def of_record(record: Record) -> Document:
    """The record as a report: what its file holds in words."""
    plan, seen = record.plan, record.observed
    lead = [f"Question: {plan.question}", f"Hypothesis: {plan.hypothesis}",
            f"Change: {plan.change.text}.", f"Predicted {plan.predicted_at}{_order(seen)}.",
            f"{record.verdict.value.capitalize()}: {record.reason}."]  # fmt: skip
    sections = [Section("Prediction", (), (_claims(record),))]
    if seen is not None:
        sections += _observed(seen)
    title = f"{plan.id}: {record.verdict.value}"
    return Document("experiment", title, tuple(lead), tuple(sections), as_data(record))


def _order(seen: Observed | None) -> str:
    """Whether the prediction is older than the recordings."""
    if seen is None:
        return ", nothing recorded yet"
    if seen.prediction == _LATE:
        return ", PREDICTION WRITTEN AFTER the recordings"
    known = seen.prediction == "written before"
    return (
        ", before the recordings" if known else "; the recordings do not tell when they were made"
    )


def _claims(record: Record) -> Table:
    if record.observed is None:
        plan = record.plan
        texts = [("predict", claim) for claim in plan.predict]
        texts += [("falsified_if", claim) for claim in plan.falsified_if]
        rows: tuple[tuple[Value, ...], ...] = tuple((_ROLES[role], text) for role, text in texts)
        return Table("claims", (Field(""), Field("claim", prose=True)), rows)
    fields = (Field(""), Field("claim", prose=True), Field("answer"), Field("value"),
              Field("known", prose=True))  # fmt: skip
    answered = tuple(
        (_ROLES[claim.role], claim.claim, found.answer.value, found.value, found.known)
        for claim in record.observed.claims
        for found in (claim.finding,)
    )
    return Table("claims", fields, answered)


def _observed(seen: Observed) -> Iterator[Section]:
    origins = {f"{c.finding.claim.term.text}: {c.origin}." for c in seen.claims if c.origin}
    yield Section("Observed, a step", tuple(sorted(origins)), (_quantities(seen),))
    yield Section("Trade-off", tuple(_trade_off(seen)))
    yield Section("What differs", tuple(_differences(seen)))
    fixed = tuple((name, str(value)) for name, value in seen.fixed.items())
    table = Table("fixed", (Field("factor"), Field("value")), fixed)
    yield Section("Held fixed, as both sides tell", (), (table,))
    rows = tuple(
        (side, recording.name, recording.sha256[:_SHORT], recording.recorded_at)
        for side, listed in (("before", seen.recordings.before), ("after", seen.recordings.after))
        for recording in listed
    )
    fields = (Field("side"), Field("recording", stretch=True), Field("sha256"), Field("recorded"))
    yield Section("Recordings", (), (Table("recordings", fields, rows),))


def _quantities(seen: Observed) -> Table:
    fields = (Field(""), Field("before", Unit.NS), Field("after", Unit.NS),
              Field("ratio", Unit.RATIO), Field("verdict"), Field("known"))  # fmt: skip
    rows = tuple(
        (NAMES[q.quantity], q.before, q.after, q.ratio, verdict_words(q.quantity, q.verdict),
         _known(q))
        for q in seen.quantities
    )  # fmt: skip
    return Table("quantities", fields, rows,
                 row_units=tuple(q.unit for q in seen.quantities))  # fmt: skip


def _known(quantity: Quantity) -> str:
    if quantity.interval is None or quantity.basis is Basis.EXACT:
        return "" if quantity.verdict is stats.Verdict.CANNOT_TELL else quantity.basis
    shares = quantity.quantity in SHARES
    ends = (units.percent(end) if shares else units.ratio(end) for end in quantity.interval)
    what = " of the period" if shares else ""
    return f"{' to '.join(ends)}{what}, {quantity.basis}"


def _trade_off(seen: Observed) -> Iterator[str]:
    worse = [_worse(q) for q in seen.quantities if q.quantity in seen.worse]
    yield f"Worse: {', '.join(worse)}." if worse else "Nothing that was recorded got worse."
    if seen.undecided:
        yield f"Cannot tell: {', '.join(NAMES[name] for name in seen.undecided)}."
    sides = (seen.numerics.before, seen.numerics.after)
    if {side.verdict for side in sides} == {"unchecked"}:
        yield "Whether the results are right was not checked."
        return
    shown = [
        f"{side.verdict}" + (f" ({side.error:.2g} of the allowed error)" if side.error else "")
        for side in sides
    ]
    yield f"Results: {' -> '.join(shown)}."


def _worse(quantity: Quantity) -> str:
    ratio = "" if quantity.ratio is None else f" {units.ratio(quantity.ratio)}"
    return f"{NAMES[quantity.quantity]}{ratio}"


def _differences(seen: Observed) -> Iterator[str]:
    declared = [d.text for d in seen.differences if d.declared]
    others = [d.text for d in seen.differences if not d.declared]
    if declared:
        yield f"Declared: {'; '.join(declared)}."
    yield (
        f"NOT DECLARED: {'; '.join(others)}."
        if others
        else (
            "Nothing else, as far as the recordings tell."
            if declared
            else "Nothing, as far as the recordings tell."
        )
    )


def listing(entries: Sequence[Entry]) -> Document:
    """One line an experiment."""
    fields = (Field("experiment"), Field("predicted"), Field("verdict"),
              Field("question", prose=True))  # fmt: skip
    rows = tuple(
        (record.plan.id, record.plan.predicted_at, _verdict(entry, record), record.plan.question)
        for entry, record in _readable(entries)
    )
    sections = (Section("", (), (Table("experiments", fields, rows),)), *_faults(entries))
    return Document("experiments", "Experiments", (_counts(entries),), sections, _data(entries))


def overview(entries: Sequence[Entry]) -> Document:
    """What was tried, by question, work and GPU: effect, trade-off, verdict."""
    ordered = sorted(_readable(entries), key=lambda pair: _place(pair[1]))
    sections = tuple(
        Section(question, (f"{gpu}, {what}.",), (_tried(list(group)),))
        for (question, what, gpu), group in groupby(ordered, key=lambda pair: _place(pair[1])[:3])
    )
    sections = (*sections, *_faults(entries))
    title = "What was tried, and what came of it"
    return Document("experiment_map", title, (_counts(entries),), sections, _data(entries))


def _readable(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Record]]:
    return ((entry, entry.record) for entry in entries if entry.record is not None)


def _place(record: Record) -> tuple[str, str, str, str]:
    return (record.plan.question, work(record), device(record), record.plan.predicted_at)


def work(record: Record) -> str:
    """The workload that the recordings declare."""
    return (record.observed.work if record.observed else "") or _NO_WORK


def device(record: Record) -> str:
    """The GPU that the recordings are of."""
    found = record.observed.fixed.get("device") if record.observed else None
    return str(found) if found else _NO_DEVICE


def _tried(group: Sequence[tuple[Entry, Record]]) -> Table:
    fields = (Field("experiment"), Field("change", prose=True), Field("effect", prose=True),
              Field("trade-off", prose=True), Field("verdict", prose=True))  # fmt: skip
    rows = tuple(
        (record.plan.id, record.plan.change.text, effect(record), _cost(record),
         _verdict(entry, record))
        for entry, record in group
    )  # fmt: skip
    return Table("tried", fields, rows)


def _verdict(entry: Entry, record: Record) -> str:
    marks = []
    if record.observed is not None and record.observed.prediction == _LATE:
        marks.append("prediction written after")
    if entry.problems:
        marks.append("changed by hand")
    return record.verdict.value + (f" ({', '.join(marks)})" if marks else "")


def effect(record: Record) -> str | None:
    """What was predicted, as observed, with its interval: the first ratio, else the first claim."""
    claims = record.observed.claims if record.observed else ()
    known = [claim for claim in claims if claim.value is not None]
    ratios = [claim for claim in known if claim.unit == Unit.RATIO]
    return _effect((ratios or known)[0]) if known else None


def _effect(claim: Claimed) -> str:
    found = claim.finding
    subject = f"{found.claim.function}({found.claim.term.text})".replace('"', "'")
    return f"{subject} {found.value}" + (f" ({found.known})" if found.known else "")


def _cost(record: Record) -> str | None:
    seen = record.observed
    if seen is None:
        return None
    worse = [_worse(q) for q in seen.quantities if q.quantity in seen.worse]
    wrong = ["the result is wrong"] if seen.numerics.after.verdict == "wrong" else []
    return ", ".join(worse + wrong) or "none seen"


def _faults(entries: Sequence[Entry]) -> Iterator[Section]:
    faults = tuple(fault for entry in entries for fault in entry.faults)
    if faults:
        yield Section("Files to look at", faults)


def _counts(entries: Sequence[Entry]) -> str:
    verdicts = Counter(record.verdict for _, record in _readable(entries))
    parts = [f"{verdicts[verdict]} {verdict.value}" for verdict in Verdict if verdicts[verdict]]
    damaged = sum(entry.record is None for entry in entries)
    parts += [f"{damaged} damaged"] if damaged else []
    if not entries:
        return "No experiments."
    several = "s" if len(entries) > 1 else ""
    return f"{len(entries)} experiment{several}: {', '.join(parts)}."


def _data(entries: Sequence[Entry]) -> dict[str, Any]:
    return {"schema": SCHEMA, "records": [_facts(entry) for entry in entries]}


def _facts(entry: Entry) -> dict[str, Any]:
    """The record for machines, or the name of the file where it cannot be read; the problems."""
    damaged = {"schema": RECORD_SCHEMA, "file": entry.path.name}
    own = damaged if entry.record is None else as_data(entry.record)
    return {**own, "problems": [{"line": p.line, "text": p.text} for p in entry.problems]}
