"""What a claim may say, and the parser that reads it.

    claim    = subject operator amount | subject "in" amount ".." amount
    subject  = term | function "(" term ")"
    function = "ratio" | "delta" | "before" | "after" | "verdict"
    term     = metric | selector "(" text ")" "." field | a text that holds one of these
    operator = "<" | "<=" | ">" | ">=" | "==" | "!="
    amount   = number [unit] | word

A time needs its unit, and so does a number of bytes; a share may be 0.2 or 20%, and above 1 only
with its %. Both ends of a range belong to it. There is no arithmetic and no nesting: a claim that
needs them is two claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple, NoReturn

from traceview.check.metrics import METRICS, SELECTORS, Metric, Selector
from traceview.diff.judge import MARGINS
from traceview.errors import UsageError
from traceview.stats import Verdict
from traceview.units import Unit


class Function(StrEnum):
    """What a claim asks of both sides of a diff."""

    RATIO = "ratio"
    DELTA = "delta"
    BEFORE = "before"
    AFTER = "after"
    VERDICT = "verdict"


OPERATORS = ("<", "<=", ">", ">=", "==", "!=", "in")
_VERDICTS = tuple(verdict.value for verdict in Verdict)
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*"|'[^']*')
    |(?P<number>[-+]?x?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<mark>\.\.|<=|>=|==|!=|[<>().%]))""",
    re.VERBOSE,
)
_TIMES = {"ns": 1, "us": 10**3, "\N{MICRO SIGN}s": 10**3, "ms": 10**6, "s": 10**9}
_SIZES = {"bytes": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}  # fmt: skip
_UNITS = {
    **{name: (Unit.NS, float(factor)) for name, factor in _TIMES.items()},
    **{name: (Unit.BYTES, float(factor)) for name, factor in _SIZES.items()},
    "%": (Unit.SHARE, 0.01),
}
_EXPECTED = {
    Unit.NS: "a time such as 5 ms",
    Unit.BYTES: "a size such as 2 GiB",
    Unit.SHARE: "a share such as 20% or 0.2",
    Unit.RATIO: "a ratio such as 0.8 or 80%",
    Unit.COUNT: "a number without a unit",
    Unit.TEXT: "a word",
}


@dataclass(frozen=True, slots=True)
class Term:
    """A metric, or a metric of a selection of device work: `kernel("Memcpy").count`."""

    metric: Metric
    selector: Selector | None = None
    argument: str = ""

    @property
    def text(self) -> str:
        """The term as it is written."""
        if self.selector is None:
            return self.metric.name
        return f'{self.selector.name}("{self.argument}").{self.metric.name}'


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that holds or fails. Of a comparison `low` is the amount; of a range both ends."""

    text: str
    function: Function | None
    term: Term
    operator: str
    low: float | str
    high: float | str

    @property
    def unit(self) -> Unit:
        """The unit of what is compared."""
        return _unit(self.function, self.term)


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _Amount(NamedTuple):
    """A number in its base unit; `unit` is COUNT for a bare one and TEXT for a word."""

    value: float | str
    unit: Unit
    text: str


def parse(text: str) -> Claim:
    """The claim that `text` makes.

    Raises UsageError in one sentence that names the place, and what was probably meant.
    """
    reader = _Reader(text)
    function, term = _subject(reader)
    operator = reader.take("mark", "name", expected="a comparison such as < or in")
    if operator.text not in OPERATORS:
        reader.fail(f"{operator.text!r} is no comparison: use one of {' '.join(OPERATORS)}")
    low = high = _amount(reader)
    if operator.text == "in":
        reader.mark("..")
        high = _amount(reader)
        if low.unit is Unit.COUNT and high.unit in (Unit.NS, Unit.BYTES, Unit.SHARE):
            low = _scaled(low, high)
    reader.end()
    _check(reader, _unit(function, term), operator.text, function, (low, high))
    return Claim(text.strip(), function, term, operator.text, low.value, high.value)


def nearest(name: str, known: Iterable[str]) -> str:
    """What was probably meant by `name`, else all there is, as the end of a sentence."""
    listed = list(known)
    close = get_close_matches(name, listed, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(listed)}"


class _Reader:
    """The tokens of a claim, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = self._split(text)
        self._position = 0

    def _split(self, text: str) -> list[_Token]:
        tokens, place = [], 0
        stripped = text.rstrip()
        while place < len(stripped):
            found = _TOKEN.match(stripped, place)
            if found is None or found.lastgroup is None:
                rest = stripped[place:].lstrip()
                self.fail(f"cannot be read from column {len(stripped) - len(rest) + 1} on: {rest}")
            kind = found.lastgroup
            tokens.append(_Token(kind, found[kind], found.start(kind) + 1))
            place = found.end()
        return tokens

    @property
    def next(self) -> _Token:
        if self._position < len(self._tokens):
            return self._tokens[self._position]
        return _Token("end", "", len(self.text) + 1)

    def take(self, *kinds: str, expected: str) -> _Token:
        token = self.next
        if token.kind not in kinds:
            found = f"{token.text} at column {token.column}" if token.text else "its end"
            self.fail(f"expected {expected}, found {found}")
        self._position += 1
        return token

    def mark(self, text: str) -> None:
        if self.next.text != text:
            self.take(expected=text)
        self._position += 1

    def skip(self, *texts: str) -> _Token | None:
        if self.next.text not in texts:
            return None
        self._position += 1
        return self._tokens[self._position - 1]

    def end(self) -> None:
        if self.next.kind != "end":
            self.take(expected="the end of the claim")

    def fail(self, problem: str) -> NoReturn:
        raise UsageError(f"{self.text.strip()!r}: {problem}")


def _subject(reader: _Reader) -> tuple[Function | None, Term]:
    """A term, alone or in a function."""
    name = reader.take("name", expected="a metric; `traceview check --list` has them")
    if name.text not in [*Function]:
        return None, _named(reader, name.text)
    reader.mark("(")
    inner = reader.take("name", "text", expected="a metric")
    term = _quoted(reader, inner.text) if inner.kind == "text" else _named(reader, inner.text)
    reader.mark(")")
    function = Function(name.text)
    if function is Function.VERDICT and term.text not in MARGINS:
        reader.fail(f"a diff has verdicts on {', '.join(MARGINS)} only")
    if function in (Function.RATIO, Function.DELTA) and term.metric.unit is Unit.TEXT:
        reader.fail(f"{term.text} is a word, which has no {function}: use before or after")
    return function, term


def _quoted(reader: _Reader, text: str) -> Term:
    """The term within a text: `"gpu_busy"`."""
    inner = _Reader(text[1:-1])
    name = inner.take("name", expected=f"a metric in {reader.text.strip()!r}")
    term = _named(inner, name.text)
    inner.end()
    return term


def _named(reader: _Reader, name: str) -> Term:
    """The term that begins with `name`."""
    selector = SELECTORS.get(name)
    if selector is None:
        if name not in METRICS:
            known = [*METRICS, *SELECTORS, *Function]
            reader.fail(f"no metric {name}; {nearest(name, known)}")
        return Term(METRICS[name])
    reader.mark("(")
    argument = reader.take("text", expected='a name in quotes, as in ("attention")').text[1:-1]
    if selector.names and argument not in selector.names:
        reader.fail(f"{name} has no {argument!r}; {nearest(argument, selector.names)}")
    reader.mark(")")
    reader.mark(".")
    field = reader.take("name", expected=f"one of {', '.join(selector.fields)}").text
    if field not in selector.fields:
        reader.fail(f"{name} has no {field}; {nearest(field, selector.fields)}")
    return Term(selector.fields[field], selector, argument)


def _amount(reader: _Reader) -> _Amount:
    token = reader.take("number", "name", "text", expected="a number or a word")
    if token.kind != "number":
        return _Amount(token.text.strip("\"'"), Unit.TEXT, token.text)
    number = float(token.text.replace("x", ""))
    unit = reader.next
    if unit.kind == "name" and unit.text not in _UNITS:
        reader.fail(f"no unit {unit.text}; {nearest(unit.text, _UNITS)}")
    if reader.skip(*_UNITS) is None:
        return _Amount(number, Unit.COUNT, token.text)
    kind, factor = _UNITS[unit.text]
    return _Amount(number * factor, kind, f"{token.text} {unit.text}")


def _scaled(low: _Amount, high: _Amount) -> _Amount:
    """The lower end of `10..15 %` in the unit of the upper one."""
    _, factor = _UNITS[high.text.rsplit(" ", 1)[-1]]
    return _Amount(float(low.value) * factor, high.unit, low.text)


def _unit(function: Function | None, term: Term) -> Unit:
    if function is Function.VERDICT:
        return Unit.TEXT
    return Unit.RATIO if function is Function.RATIO else term.metric.unit


def _check(
    reader: _Reader, unit: Unit, operator: str, function: Function | None,
    amounts: tuple[_Amount, _Amount],
) -> None:  # fmt: skip
    """Refuse amounts of another unit than the subject's, and comparisons that make no sense."""
    for amount in amounts:
        if not _fits(unit, amount):
            reader.fail(f"expected {_EXPECTED[unit]}, found {amount.text}")
        if unit is Unit.SHARE and amount.unit is Unit.COUNT and abs(float(amount.value)) > 1:
            percent = f"{amount.text} %, or {float(amount.value) / 100:g}"
            reader.fail(f"a share is between 0 and 1, found {amount.text}: write {percent}")
    if unit is not Unit.TEXT and float(amounts[0].value) > float(amounts[1].value):
        reader.fail("the range is empty: its first end is the larger one")
    if unit is Unit.TEXT and operator not in ("==", "!="):
        reader.fail("words are only equal (==) or not (!=)")
    word = amounts[0].value
    if function is Function.VERDICT and word not in _VERDICTS:
        reader.fail(f"no verdict {word}; {nearest(str(word), _VERDICTS)}")


def _fits(unit: Unit, amount: _Amount) -> bool:
    if unit in (Unit.SHARE, Unit.RATIO):
        return amount.unit in (Unit.SHARE, Unit.COUNT)
    if unit in (Unit.NS, Unit.BYTES):
        return amount.unit is unit or (amount.unit is Unit.COUNT and amount.value == 0)
    return amount.unit is unit
