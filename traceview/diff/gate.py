"""Gates: what a comparison must not show, for a build that should fail if it does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview.diff.judge import BY_CHANCE, MARGINS, SHARES
from traceview.errors import UsageError
from traceview.stats import Verdict

_GATE = re.compile(r"(?P<quantity>\w+)\s*>\s*(?P<percent>\d+(?:\.\d+)?)\s*%")
_ANY = "regressed"


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
    rows = [dict(zip(map(str, s.QUANTITIES.columns), row, strict=True)) for row in
            quantities[list(s.QUANTITIES.columns)].itertuples(index=False, name=None)]  # fmt: skip
    return [
        f"--fail-on {gate.text}: {row['quantity']} regressed{_size(row)}"
        for gate in gates
        for row in rows
        if _fails(gate, row)
    ]


def _fails(gate: Gate, row: dict[str, Any]) -> bool:
    if gate.margin is None:
        return bool(row["verdict"] == Verdict.REGRESSED.value)
    if gate.quantity != row["quantity"] or BY_CHANCE in str(row["reasons"]):
        return False
    if pd.isna(row["interval_low"]):
        return bool(row["verdict"] == Verdict.REGRESSED.value)
    unchanged = 0.0 if gate.quantity in SHARES else 1.0
    return bool(row["interval_low"] > unchanged + gate.margin)


def _size(row: dict[str, Any]) -> str:
    return "" if pd.isna(row["ratio"]) else f" (x{row['ratio']:.4g})"
