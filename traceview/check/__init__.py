"""Claims about recordings, and whether they hold.

grammar   text -> Claim: what may be said, and how a mistake is named
metrics   what can be measured: name, unit, meaning
readings  a claim's subject -> its value, how well that is known, where it comes from
answer    claim and reading -> holds, fails, cannot tell

A claim is about one side (repeated recordings of one program) or, with `ratio`, `delta`, `before`,
`after` and `verdict`, about a diff. It is read by a parser of its own: nothing of it is ever run.
"""

from __future__ import annotations

from traceview.check.answer import Answer, Finding, find
from traceview.check.grammar import Claim, parse
from traceview.check.metrics import METRICS, SELECTORS
from traceview.check.readings import Reading

__all__ = ["METRICS", "SELECTORS", "Answer", "Claim", "Finding", "Reading", "find", "parse"]
