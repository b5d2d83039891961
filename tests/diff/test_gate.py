"""Gates: parsed strictly, failed only by a verdict that could be told."""

from __future__ import annotations

import pandas as pd
import pytest

from traceview import schema as s
from traceview.diff.gate import failures, margins, parse
from traceview.errors import UsageError


def quantities(**verdicts: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            str(s.QUANTITY): list(verdicts),
            str(s.VERDICT): list(verdicts.values()),
            str(s.RATIO): [1.25] * len(verdicts),
        }
    )


def test_a_limit_is_a_margin_of_its_quantity() -> None:
    gates = [parse("gpu_busy>2%"), parse("gpu_busy > 1.5 %"), parse("regressed")]
    assert margins(gates) == {"gpu_busy": 0.015}


def test_only_a_regression_fails() -> None:
    found = quantities(gpu_busy="regressed", host_step="cannot_tell", gpu_idle="improved")
    assert failures([parse("regressed")], found) == [
        "--fail-on regressed: gpu_busy regressed (x1.25)"
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
