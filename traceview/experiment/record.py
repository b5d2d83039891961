"""What a record says. The verdict is not among it: it follows from the recorded numbers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import Enum, StrEnum
from typing import Any, Literal

from traceview import stats
from traceview.check import Answer, Claim, Finding, parse
from traceview.check.answer import answered
from traceview.check.readings import Reading
from traceview.diff import Comparability
from traceview.errors import UsageError
from traceview.stats import Basis
from traceview.units import Unit
from traceview.workload import Fact

SCHEMA = "traceview.experiment/1"
NO_CHANGE = "none"
"""The factor of an experiment that changes nothing, such as a run repeated."""
Role = Literal["predict", "falsified_if"]
"""What a claim is to a plan."""
Order = Literal["written before", "written after", "order unknown"]
"""When a prediction was written: before or after the recordings were made."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CHANGE = re.compile(r"(?P<factor>[^:]+):\s*(?P<before>.+?)\s*->\s*(?P<after>.+)")


class Verdict(StrEnum):
    """What became of a prediction."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    CANNOT_TELL = "cannot tell"
    OPEN = "open"
    """Nothing was recorded yet."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a record, and in which line of its file, counted from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """The one factor that differs between the sides, or NO_CHANGE."""

    factor: str
    before: str | None = None
    after: str | None = None

    @property
    def text(self) -> str:
        """The change as it is declared."""
        if self.factor == NO_CHANGE:
            return "nothing changed"
        return f"{self.factor}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written before anything is recorded; texts of claims, times as ISO 8601.

    All of `predict` has to hold, and nothing of `falsified_if` may.
    """

    id: str
    question: str
    hypothesis: str
    predict: tuple[str, ...]
    change: Change
    predicted_at: str
    falsified_if: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Changes with what is predicted, though not with the words around it."""
        return digest(
            [self.predict, self.falsified_if, asdict(self.change), self.predicted_at],
        )


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded file: its name without the folder, its content, and when it was recorded."""

    name: str
    sha256: str
    recorded_at: str | None = None


@dataclass(frozen=True, slots=True)
class Recordings:
    """The recordings of both sides."""

    before: tuple[Recording, ...]
    after: tuple[Recording, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A factor whose value is not the same on both sides, declared or not."""

    factor: str
    before: Fact = None
    after: Fact = None
    declared: bool = False
    note: str = ""

    @property
    def text(self) -> str:
        """The difference in words."""
        return f"{self.factor}: {self.note or f'{self.before} -> {self.after}'}"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim of the plan and the reading that it was held against, in the base unit."""

    claim: str
    role: Role
    unit: Unit
    value: int | float | str | None = None
    low: float | None = None
    high: float | None = None
    basis: str = ""
    origin: str = ""
    reason: str = ""

    @property
    def finding(self) -> Finding:
        """What the recorded numbers say of the claim."""
        reading = Reading(self.unit, self.value, self.low, self.high, self.basis, self.origin)
        claim = parse(self.claim)
        return Finding(claim, reading, answered(claim, reading), self.reason)

    @property
    def answer(self) -> Answer:
        """Whether it holds."""
        return self.finding.answer


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of the diff, with its verdict; ns a step, or bytes."""

    quantity: str
    unit: Unit
    before: int | None
    after: int | None
    ratio: float | None
    interval: tuple[float, float] | None
    basis: Basis
    verdict: stats.Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Numerics:
    """Whether the results of a side are right; `error` is the largest over what is allowed."""

    verdict: Literal["correct", "wrong", "unchecked"] = "unchecked"
    error: float | None = None


@dataclass(frozen=True, slots=True)
class BothNumerics:
    """Those of both sides."""

    before: Numerics = Numerics()
    after: Numerics = Numerics()


@dataclass(frozen=True, slots=True)
class Observed:
    """What the recordings show; all of it generated.

    `prediction` tells whether it was written before the recordings were made, `unattributable` why
    an effect cannot be put down to the declared change. `work` is empty where nothing declares it.
    """

    recorded_at: str
    prediction: Order
    recordings: Recordings
    comparable: Comparability
    work: str
    fixed: Mapping[str, Fact]
    differences: tuple[Difference, ...]
    unattributable: tuple[str, ...]
    claims: tuple[Claimed, ...]
    quantities: tuple[Quantity, ...]
    numerics: BothNumerics
    worse: tuple[str, ...]
    undecided: tuple[str, ...]
    plan_sha256: str = ""
    numbers_sha256: str = ""

    @property
    def digest(self) -> str:
        """Changes with any of the numbers."""
        return digest({**asdict(self), "plan_sha256": "", "numbers_sha256": ""})


@dataclass(frozen=True, slots=True)
class Record:
    """An experiment: its plan, and what was observed once it was recorded."""

    plan: Plan
    observed: Observed | None = None

    @property
    def verdict(self) -> Verdict:
        """What became of the prediction, by the recorded numbers alone."""
        return self._judged[0]

    @property
    def reason(self) -> str:
        """Why that is the verdict."""
        return self._judged[1]

    @property
    def _judged(self) -> tuple[Verdict, str]:
        seen = self.observed
        if seen is None:
            return Verdict.OPEN, "not recorded yet"
        if seen.unattributable:
            return Verdict.CANNOT_TELL, "; ".join(seen.unattributable)
        wanted = {"predict": Answer.HOLDS, "falsified_if": Answer.FAILS}
        against = [c for c in seen.claims if c.answer not in (wanted[c.role], Answer.CANNOT_TELL)]
        if against:
            return Verdict.REFUTED, "; ".join(map(_against, against))
        unknown = [claim for claim in seen.claims if claim.answer is Answer.CANNOT_TELL]
        if unknown:
            return Verdict.CANNOT_TELL, "; ".join(f"{c.claim}: {c.reason}" for c in unknown)
        return Verdict.CONFIRMED, "what was predicted holds"


def _against(claim: Claimed) -> str:
    answer = "fails" if claim.role == "predict" else "holds"
    shown = claim.finding.value
    return f"{claim.claim} {answer}" + (f": it is {shown}" if shown else "")


def plan(
    name: str, *, question: str, hypothesis: str, predict: Sequence[str],
    falsified_if: Sequence[str], change: str,
) -> Plan:  # fmt: skip
    """A plan made now, whose claims can be read and whose change can be looked for.

    Raises UsageError in one sentence otherwise.
    """
    if not _ID.fullmatch(name):
        raise UsageError(f"{name!r} is no id: use letters, digits, dots, dashes and underscores")
    texts = {"question": question, "hypothesis": hypothesis}
    for what, text in texts.items():
        if not text.strip():
            raise UsageError(f"the {what} is empty")
    if not predict:
        raise UsageError("a hypothesis that predicts nothing cannot fail: give --predict CLAIM")
    for claim in (*predict, *falsified_if):
        of_two_sides(claim)
    return Plan(name, question.strip(), hypothesis.strip(), tuple(predict), changed(change), now(),
                tuple(falsified_if))  # fmt: skip


def of_two_sides(claim: str) -> Claim:
    """The claim about a diff that a text makes. Raises UsageError where it makes none."""
    parsed = parse(claim)
    if parsed.function is None:
        term = parsed.term.text
        raise UsageError(
            f"{claim!r}: of two sides, which is meant? Write ratio({term}), or delta, before, after"
        )
    return parsed


def changed(text: str) -> Change:
    """The change that `FACTOR: BEFORE -> AFTER` declares, or none."""
    if text.strip() == NO_CHANGE:
        return Change(NO_CHANGE)
    found = _CHANGE.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{text!r} is no change: write one factor, as in 'mask_op: masked_fill -> "
            "masked_fill_', or none"
        )
    return Change(found["factor"].strip(), found["before"], found["after"].strip())


def now() -> str:
    """The time as records have it, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest(value: Any) -> str:
    """A sha256 over plain data, whatever its order of keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def as_data(record: Record) -> dict[str, Any]:
    """The record as its front matter and JSON have it, in their order."""
    own = record.plan
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "id": own.id,
        "question": own.question,
        "hypothesis": own.hypothesis,
        "predict": list(own.predict),
        "falsified_if": list(own.falsified_if),
        "change": asdict(own.change),
        "predicted_at": own.predicted_at,
    }
    if record.observed is not None:
        data["verdict"] = record.verdict.value
        data["reason"] = record.reason
        data["observed"] = _plain(asdict(record.observed))
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
