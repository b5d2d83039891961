"""The grammar of claims: what it reads, and how it names what it does not."""

import string
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from traceview.check import METRICS, SELECTORS, Claim, parse
from traceview.check.grammar import Function
from traceview.errors import UsageError
from traceview.units import Unit


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("gpu_busy < 5 ms", 5e6, 5e6),
        ("gpu_busy<1.5us", 1500, 1500),
        ("gpu_busy in 1..2 ms", 1e6, 2e6),
        ("gpu_busy in 900 us..2 ms", 9e5, 2e6),
        ("gpu_idle == 0", 0, 0),
        ("gpu_idle_ratio < 20%", 0.2, 0.2),
        ("gpu_idle_ratio < 0.2", 0.2, 0.2),
        ("gpu_idle_ratio in 10..20 %", 0.1, 0.2),
        ("peak_allocated <= 2 GiB", 2**31, 2**31),
        ("peak_allocated <= 2 GB", 2e9, 2e9),
        ("launches != 3", 3, 3),
        ('ratio("gpu_busy") in 0.8..0.95', 0.8, 0.95),
        ("gpu_idle_ratio < 200 %", 2, 2),
        ("gpu_idle_ratio <= 1", 1, 1),
        ("ratio(gpu_idle_ratio) < 2", 2, 2),
        ("ratio(gpu_busy) < x0.8", 0.8, 0.8),
        ("ratio('gpu_busy') < 80%", 0.8, 0.8),
        ('delta(kernel("Memcpy DtoD").count) == -1', -1, -1),
        ("delta(gpu_busy) in -1..+1 ms", -1e6, 1e6),
        ("after(steps) >= 1e1", 10, 10),
    ],
)
def test_amounts_are_read_in_the_base_unit(text: str, low: float, high: float) -> None:
    claim = parse(text)
    assert (claim.low, claim.high) == pytest.approx((low, high))


def test_a_term_knows_its_parts() -> None:
    claim = parse("ratio('annotation(\"attention\").busy') < 1")
    assert (claim.function, claim.operator, claim.unit) == (Function.RATIO, "<", Unit.RATIO)
    assert claim.term.text == 'annotation("attention").busy'
    assert parse("verdict(gpu_busy) == same").low == "same"
    assert parse("numerics == correct").unit is Unit.TEXT


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("gpu_idel_ratio < 20%", "did you mean gpu_idle_ratio?"),
        ("anotation('x').busy < 1 ms", "did you mean annotation?"),
        ("kernel('x').cont == 1", "did you mean count?"),
        ("idle('snyc').ratio < 1%", "did you mean sync?"),
        ("verdict(gpu_busy) == smae", "did you mean same?"),
        ("gpu_idle_ratio < 2", "a share is between 0 and 1, found 2: write 2 %, or 0.02"),
        ("gpu_idle_ratio in 0..20", "found 20: write 20 %, or 0.2"),
        ("delta(gpu_busy_ratio) > -5", "found -5: write -5 %, or -0.05"),
        ("gpu_busy < 5 mss", "did you mean ms?"),
        ("gpu_busy < 20%", "expected a time such as 5 ms, found 20 %"),
        ("gpu_busy < 5", "expected a time such as 5 ms, found 5"),
        ("gpu_idle_ratio < 5 ms", "expected a share such as 20% or 0.2"),
        ("launches == many", "expected a number without a unit, found many"),
        ("numerics < 5", "expected a word, found 5"),
        ("ratio(numerics) < 1", "numerics is a word, which has no ratio"),
        ("verdict(launches) == same", "a diff has verdicts on gpu_busy"),
        ("numerics < correct", "words are only equal (==) or not (!=)"),
        ("gpu_busy", "expected a comparison such as < or in, found its end"),
        ("gpu_busy like 5 ms", "'like' is no comparison"),
        ("gpu_busy in 5..3 ms", "the range is empty"),
        ("gpu_busy in 5 ms", "expected .., found its end"),
        ("ratio(gpu_busy < 2", "expected ), found < at column 16"),
        ("ratio(ratio(gpu_busy)) < 2", "no metric ratio"),
        ("kernel.count < 2", "expected (, found . at column 7"),
        ("kernel(x).count < 2", "expected a name in quotes"),
        ("gpu_busy < 5 ms and syncs == 0", "expected the end of the claim, found and"),
        ("gpu_busy < 5 ms; import os", "cannot be read from column 16 on"),
        ("__import__('os').system('ls') == 0", "no metric __import__"),
        ("", "expected a metric"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(text: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


ALPHABET = string.ascii_lowercase + string.digits + " _().<>=!%\"'+-\n\u00b5\u0660"


@example("gpu_busy < 1e400 ms")
@example("x\x00")
@given(st.text(ALPHABET) | st.text())
def test_any_text_is_a_claim_or_a_sentence(text: str) -> None:
    with suppress(UsageError):
        assert isinstance(parse(text), Claim)


def test_every_metric_and_field_can_be_claimed() -> None:
    amounts = {Unit.NS: "1 ms", Unit.BYTES: "1 B", Unit.SHARE: "1%", Unit.COUNT: "1"}
    fields = [
        (f'{selector.name}("{selector.names[0] if selector.names else "x"}").{name}', metric.unit)
        for selector in SELECTORS.values()
        for name, metric in selector.fields.items()
    ]
    for text, unit in [*((name, metric.unit) for name, metric in METRICS.items()), *fields]:
        operator, amount = ("==", "word") if unit is Unit.TEXT else ("<", amounts[unit])
        claim = parse(f"{text} {operator} {amount}")
        assert (claim.term.text, claim.unit) == (text, unit)
        assert claim.term.metric.meaning
