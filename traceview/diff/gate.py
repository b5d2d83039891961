"""Gates: what a comparison must not show, for a build that should fail if it does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import pandas as pd

from traceview import schema as s
from traceview.diff.judge import MARGINS
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


def margins(gates: Iterable[Gate]) -> dict[str, float]:
    """The margins that gates ask for: the smallest of each quantity."""
    result: dict[str, float] = {}
    for gate in gates:
        if gate.quantity is not None and gate.margin is not None:
            result[gate.quantity] = min(gate.margin, result.get(gate.quantity, gate.margin))
    return result


def failures(gates: Iterable[Gate], quantities: pd.DataFrame) -> list[str]:
    """Which gates do not hold, a sentence each; a verdict that cannot be told fails none."""
    regressed = quantities[quantities[s.VERDICT] == Verdict.REGRESSED.value]
    ratios = dict(zip(regressed[s.QUANTITY], regressed[s.RATIO], strict=True))
    return [
        f"--fail-on {gate.text}: {name} regressed"
        + (f" (x{ratios[name]:.4g})" if ratios[name] is not pd.NA else "")
        for gate in gates
        for name in ratios
        if gate.quantity in (None, name)
    ]
