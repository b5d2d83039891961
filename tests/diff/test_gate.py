"""Gates: parsed strictly, failed only by a verdict that could be told."""

from __future__ import annotations

import pandas as pd
import pytest

from traceview import schema as s
from traceview.diff.gate import failures, parse
from traceview.errors import UsageError


def quantities(low: float = 1.2, reasons: str = "", **verdicts: str) -> pd.DataFrame:
    rows = len(verdicts)
    figures = {column: [1.0] * rows for column in s.QUANTITIES.columns}
    return pd.DataFrame(
        figures
        | {
            s.QUANTITY: list(verdicts),
            s.VERDICT: list(verdicts.values()),
            s.RATIO: [1.25] * rows,
            s.INTERVAL_LOW: [low] * rows,
            s.REASONS: [reasons] * rows,
        }
    )


def test_each_gate_has_its_own_margin() -> None:
    found = quantities(low=1.06, gpu_busy="regressed")
    gates = [parse("regressed"), parse("gpu_busy>5%"), parse("gpu_busy > 20 %")]
    assert failures(gates, found) == [
        "--fail-on regressed: gpu_busy regressed (x1.250)",
        "--fail-on gpu_busy>5%: gpu_busy regressed (x1.250)",
    ]


def test_a_change_that_chance_may_show_fails_nothing() -> None:
    found = quantities(low=1.06, reasons="several_quantities", gpu_busy="cannot_tell")
    assert failures([parse("gpu_busy>2%")], found) == []


def test_idle_time_is_a_share_of_the_period() -> None:
    found = quantities(low=0.06, gpu_idle="regressed")
    assert len(failures([parse("gpu_idle>5%"), parse("gpu_idle>7%")], found)) == 1


def test_only_a_regression_fails() -> None:
    found = quantities(low=0.0, gpu_busy="regressed", host_step="cannot_tell", gpu_idle="same")
    assert failures([parse("regressed")], found) == [
        "--fail-on regressed: gpu_busy regressed (x1.250)"
    ]
    assert failures([parse("host_step>1%"), parse("gpu_idle>1%")], found) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gpu_bsy>2%", "did you mean gpu_busy"),
        ("speed>2%", "there are gpu_busy"),
        ("gpu_busy<2%", "is no gate"),
        ("gpu_busy>2", "is no gate"),
        ("", "is no gate"),
    ],
)
def test_anything_else_is_refused_in_words(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse(text)
