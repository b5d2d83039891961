"""Traces -> what was observed: environment, quantities, numerics, trade-off, claims."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from traceview import schema as s
from traceview.check import Answer, find, parse
from traceview.diff import Comparability, TraceDiff, diff
from traceview.diff.measure import Measured
from traceview.diff.noise import NoiseProfile
from traceview.diff.recordings import Side
from traceview.errors import FileError, UsageError
from traceview.experiment import factors
from traceview.experiment.record import (
    BothNumerics,
    Claimed,
    Difference,
    Numerics,
    Observed,
    Order,
    Plan,
    Quantity,
    Record,
    Recording,
    Recordings,
    Role,
    now,
)
from traceview.stats import Basis, Verdict
from traceview.trace import Trace
from traceview.units import Unit

_BLOCK = 2**20
_ORDER: Mapping[bool | None, Order] = {
    True: "written before",
    False: "written after",
    None: "order unknown",
}


def observe(
    plan: Plan, before: Side, after: Side, *, noise: NoiseProfile | None = None, late: bool = False
) -> Record:
    """The record of a plan with what these recordings show.

    Raises UsageError where a recording is older than the prediction, unless `late` lets it be
    marked so instead.
    """
    compared = diff(before, after, noise=noise, factor=factors.plain(plan.change.factor))
    recordings = Recordings(_recordings(compared.before), _recordings(compared.after))
    first = _predicted_first(plan, recordings)
    if first is False and not late:
        raise UsageError(
            f"{plan.id}: these recordings are older than the prediction of {plan.predicted_at}; "
            "record anew, or say --late to have the record say so"
        )
    found = factors.differences(compared, plan.change)
    observed = Observed(
        recorded_at=now(),
        prediction=_ORDER[first],
        recordings=recordings,
        comparable=compared.comparable,
        work=_work(compared.before),
        fixed=factors.fixed(compared),
        differences=found,
        unattributable=tuple(_unattributable(compared, plan, found)),
        claims=tuple(_claims(plan, compared)),
        quantities=tuple(_quantities(compared)),
        numerics=BothNumerics(_numerics(compared.before), _numerics(compared.after)),
        worse=tuple(_with_verdict(compared, Verdict.REGRESSED)),
        undecided=tuple(_with_verdict(compared, Verdict.CANNOT_TELL)),
        plan_sha256=plan.digest,
    )  # fmt: skip
    as_read = msgspec.convert(msgspec.to_builtins(asdict(observed)), Observed)
    return Record(plan, replace(as_read, numbers_sha256=as_read.digest))


def _recordings(side: Sequence[Measured]) -> tuple[Recording, ...]:
    return tuple(_recording(recording.trace) for recording in side)


def _recording(trace: Trace) -> Recording:
    path = trace.metadata.path
    if path is None or not Path(path).is_file():
        raise UsageError(f"{path or 'a trace'}: a record refers to files, which this is not")
    return Recording(Path(path).name, _sha256(path), _recorded_at(trace))


def _sha256(path: str) -> str:
    total = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_BLOCK):
                total.update(block)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from error
    return total.hexdigest()


def _recorded_at(trace: Trace) -> str | None:
    """When a recording began; None where it does not tell."""
    base = trace.metadata.base_time_ns
    if base is None:
        return None
    seconds = (base + trace.metadata.origin_ns) // 10**9
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _predicted_first(plan: Plan, recordings: Recordings) -> bool | None:
    """Whether the prediction is older than every recording; None where that is not known."""
    times = [recording.recorded_at for recording in (*recordings.before, *recordings.after)]
    known = [datetime.fromisoformat(time) for time in times if time]
    predicted = _time(plan)
    if any(time < predicted for time in known):
        return False
    return True if len(known) == len(times) else None


def _time(plan: Plan) -> datetime:
    try:
        time = datetime.fromisoformat(plan.predicted_at)
    except ValueError as error:
        raise UsageError(f"{plan.id}: {plan.predicted_at!r} is no time like {now()}") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _unattributable(compared: TraceDiff, plan: Plan, found: Sequence[Difference]) -> Iterator[str]:
    yield from factors.unattributable(compared, plan.change, found)
    if compared.comparable is Comparability.NO:
        told = {difference.note for difference in found}
        yield from (r.text for r in compared.reasons if r.forbids and r.text not in told)


def _claims(plan: Plan, compared: TraceDiff) -> Iterator[Claimed]:
    roles: Mapping[Role, tuple[str, ...]] = {
        "predict": plan.predict,
        "falsified_if": plan.falsified_if,
    }
    for role, texts in roles.items():
        for text in texts:
            finding = find(parse(text), compared)
            reading = finding.reading
            reason = finding.reason if finding.answer is Answer.CANNOT_TELL else ""
            yield Claimed(
                text, role, reading.unit, reading.value, reading.low, reading.high,
                reading.basis, reading.origin, reason,
            )  # fmt: skip


def _quantities(compared: TraceDiff) -> Iterator[Quantity]:
    for row in _rows(compared):
        low, high = row[s.INTERVAL_LOW], row[s.INTERVAL_HIGH]
        yield Quantity(
            row[s.QUANTITY], Unit(row[s.UNIT]), row[s.BEFORE], row[s.AFTER], row[s.RATIO],
            None if low is None else (low, high),
            Basis(row[s.BASIS]), Verdict(row[s.VERDICT]), tuple(str(row[s.REASONS] or "").split()),
        )  # fmt: skip


def _rows(compared: TraceDiff) -> list[Mapping[str, Any]]:
    """The quantities as plain values, a missing one None."""
    records = compared.quantities.astype(object).to_dict("records")
    return [
        {str(key): None if pd.isna(value) else value for key, value in record.items()}
        for record in records
    ]


def _with_verdict(compared: TraceDiff, verdict: Verdict) -> Iterator[str]:
    return (str(row[s.QUANTITY]) for row in _rows(compared) if row[s.VERDICT] == verdict.value)


def _work(side: Sequence[Measured]) -> str:
    told = side[0].declared
    return (told.work.text or told.work.name) if told else ""


def _numerics(side: Sequence[Measured]) -> Numerics:
    """The worst result of a side, and its largest error as a share of what is allowed."""
    told = [recording.declared for recording in side]
    stored = [workload.numerics for workload in told if workload is not None]
    if not stored:
        return Numerics()
    verdicts = [numerics.verdict for numerics in stored]
    worst = min(verdicts, key=("wrong", "unchecked", "correct").index)
    errors = [
        error.error / error.allowed
        for numerics in stored
        for case in numerics.cases[:1]
        for error in case.errors
        if error.error is not None and error.allowed
    ]
    return Numerics(worst, max(errors, default=None))
