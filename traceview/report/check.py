"""Whether claims hold, each with its value and where it comes from; and what can be claimed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from traceview.check import METRICS, SELECTORS, Answer, Finding
from traceview.check.grammar import Function
from traceview.document import Document, Field, Section, Table
from traceview.units import Unit

SCHEMA = "traceview.check/1"
_MEANINGS = {
    Function.RATIO: "after / before",
    Function.DELTA: "after - before, in the unit of the metric",
    Function.BEFORE: "the metric of the side before",
    Function.AFTER: "the metric of the side after",
    Function.VERDICT: "the diff's verdict: improved, regressed, same",
}


def document(findings: Sequence[Finding]) -> Document:
    """The report, what fails first in its lead."""
    fields = (
        Field("claim", prose=True),
        Field("answer"),
        Field("value"),
        Field("known"),
        Field("where it comes from", prose=True),
    )
    rows = tuple(
        (f.claim.text, f.answer.value, f.value, f.known, f.reason or f.reading.origin)
        for f in findings
    )
    section = Section("", (), (Table("checks", fields, rows),))
    data = {"schema": SCHEMA, "checks": [facts(finding) for finding in findings]}
    return Document("check", _title(findings), (), (section,), data)


def _title(findings: Sequence[Finding]) -> str:
    counts = ((sum(f.answer is answer for f in findings), answer) for answer in Answer)
    words = {
        Answer.HOLDS: ("claim holds", "claims hold"),
        Answer.FAILS: ("fails", "fail"),
        Answer.CANNOT_TELL: ("cannot be told", "cannot be told"),
    }
    parts = [f"{n} {words[answer][n != 1]}" for n, answer in counts if n]
    return f"{', '.join(parts)}."


def facts(finding: Finding) -> dict[str, Any]:
    """A finding for machines: numbers in the base unit."""
    reading = finding.reading
    interval = None if reading.low is None else [reading.low, reading.high]
    return {
        "claim": finding.claim.text,
        "answer": finding.answer.code,
        "value": reading.value,
        "unit": reading.unit.value,
        "interval": interval,
        "basis": reading.basis or None,
        "origin": reading.origin or None,
        "reason": finding.reason or None,
    }


def listing() -> Document:
    """All that a claim can be about."""
    lead = (
        "Times, counts and bytes are those of the mean step; of the whole window without steps.",
        "A claim: METRIC < AMOUNT (also <= > >= == !=) or METRIC in LOW..HIGH.",
        "Such as: gpu_idle_ratio < 20%; host_step in 1..2 ms.",
    )
    sections = tuple(_lists())
    rows = [
        {"name": str(name), "unit": str(unit), "meaning": str(meaning)}
        for section in sections
        for table in section.tables
        for name, unit, meaning in table.rows
    ]
    return Document("metrics", "What a claim can be about", lead, sections,
                    {"schema": "traceview.metrics/1", "metrics": rows})  # fmt: skip


def _lists() -> Iterator[Section]:
    simple = [(m.name, _unit(m.unit), m.meaning) for m in METRICS.values()]
    yield Section("Metrics", (), (_table("metrics", simple),))
    for selector in SELECTORS.values():
        chosen = [
            (f'{selector.name}("NAME").{m.name}', _unit(m.unit), m.meaning)
            for m in selector.fields.values()
        ]
        title = f"{selector.name}: {selector.meaning}"
        yield Section(title, (), (_table(selector.name, chosen),))
    functions = [
        (f"{function.value}(METRIC)", _returns(function), meaning)
        for function, meaning in _MEANINGS.items()
    ]
    yield Section("Of two sides", (), (_table("functions", functions),))


def _table(name: str, rows: Sequence[tuple[str, str, str]]) -> Table:
    fields = (Field("name"), Field("unit"), Field("meaning", prose=True))
    return Table(name, fields, tuple(rows))


def _unit(unit: Unit) -> str:
    return "word" if unit is Unit.TEXT else unit.value


def _returns(function: Function) -> str:
    return {Function.RATIO: "ratio", Function.VERDICT: "word"}.get(function, "its own")
