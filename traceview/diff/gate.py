"""Gates: what a comparison must not show, for a build that should fail if it does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.diff.judge import BY_CHANCE, MARGINS, SHARES
from traceview.errors import UsageError
from traceview.stats import Verdict

_GATE = re.compile(r"(?P<quantity>\w+)\s*>\s*(?P<percent>\d+(?:\.\d+)?)\s*%")
_ANY = Verdict.REGRESSED.value


@dataclass(frozen=True, slots=True)
class Gate:
    """One `--fail-on`: any quantity that regressed, or one that did so by more than a margin."""

    text: str
    quantity: str | None = None
    margin: float | None = None


def parse(text: str) -> Gate:
    """A gate from `regressed` or `gpu_busy>2%`.

    Raises UsageError for anything else, naming the quantity that was probably meant.
    """
    if text.strip() == _ANY:
        return Gate(text.strip())
    found = _GATE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no gate: write regressed, or a limit such as gpu_busy>2%")
    quantity = found["quantity"]
    if quantity not in MARGINS:
        near = get_close_matches(quantity, MARGINS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(MARGINS)}"
        raise UsageError(f"no quantity {quantity}; {hint}")
    return Gate(text.strip(), quantity, float(found["percent"]) / 100)


def failures(gates: Iterable[Gate], quantities: pd.DataFrame) -> list[str]:
    """Which gates do not hold, a sentence each; columns of `quantities` as schema.QUANTITIES.

    `regressed` goes by the verdicts of the report, a limit by its own margin: it fails where the
    whole interval lies beyond. A verdict that cannot be told fails nothing.
    """
    rows = [row for _, row in quantities.iterrows()]
    return [
        f"--fail-on {gate.text}: {row[s.QUANTITY]} regressed{_size(row)}"
        for gate in gates
        for row in rows
        if _fails(gate, row)
    ]


def _fails(gate: Gate, row: pd.Series) -> bool:
    regressed = bool(row[s.VERDICT] == Verdict.REGRESSED.value)
    if gate.margin is None:
        return regressed
    if gate.quantity != row[s.QUANTITY] or BY_CHANCE in str(row[s.REASONS]):
        return False
    if pd.isna(row[s.INTERVAL_LOW]):
        return regressed
    unchanged = 0.0 if gate.quantity in SHARES else 1.0
    return bool(row[s.INTERVAL_LOW] > unchanged + gate.margin)


def _size(row: pd.Series) -> str:
    return "" if pd.isna(row[s.RATIO]) else f" ({units.ratio(float(row[s.RATIO]))})"
