"""Verdicts: an interval against a margin; Welch; Holm; symmetry."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sides import mirrored

from traceview.stats import (
    Estimate,
    Verdict,
    holm,
    judge,
    prior_half_width,
    profiled,
    welch,
)


@pytest.mark.parametrize(
    ("difference", "half_width", "margin", "verdict"),
    [
        (-0.10, 0.02, 0.05, Verdict.IMPROVED),
        (0.10, 0.02, 0.05, Verdict.REGRESSED),
        (0.01, 0.02, 0.05, Verdict.SAME),
        (0.06, 0.02, 0.05, Verdict.CANNOT_TELL),
        (0.00, 0.06, 0.05, Verdict.CANNOT_TELL),
        (0.05, 0.00, 0.05, Verdict.SAME),
    ],
)
def test_an_interval_is_held_against_the_margin(
    difference: float, half_width: float, margin: float, verdict: Verdict
) -> None:
    assert judge(Estimate(difference, half_width), margin).verdict is verdict


def test_real_but_smaller_than_the_margin_is_said() -> None:
    assert judge(Estimate(0.03, 0.01), 0.05).reasons == ("real_but_below_margin",)
    assert judge(Estimate(0.01, 0.02), 0.05).reasons == ()


def test_prior_interval_is_three_root_two_deviations() -> None:
    assert prior_half_width(0.0015) == pytest.approx(0.0063640, abs=1e-7)
    assert prior_half_width(0.2, 4, 4) == pytest.approx(prior_half_width(0.2) / 2)


def test_welch_by_hand() -> None:
    """Two samples of equal size and spread: the pooled t interval with 4 degrees of freedom."""
    found = welch([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    assert found.difference == pytest.approx(1.0)
    assert found.freedom == pytest.approx(4.0)
    assert found.error == pytest.approx(math.sqrt(2 / 3))
    assert found.half_width == pytest.approx(2.776445 * math.sqrt(2 / 3), abs=1e-5)


def test_welch_without_spread_is_exact() -> None:
    assert welch([1.0, 1.0], [2.0, 2.0]).half_width == 0.0


def test_p_value_and_interval_agree() -> None:
    found = welch([0.00, 0.01, 0.02], [0.20, 0.21, 0.22])
    limit = found.low
    assert found.beyond(limit) == pytest.approx(0.05)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == [True, False, False]
    assert holm([0.01, 0.02, 0.04]) == [True, True, True]
    assert holm([]) == []


def test_a_noise_profile_of_few_recordings_is_wider() -> None:
    few, many = (profiled(0.0, 0.01, freedom, (1, 1)).half_width for freedom in (2, 30))
    assert few > many > 1.96 * 0.01 * math.sqrt(2)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_the_other_way_round_mirrors_the_verdict(d: float, half: float, margin: float) -> None:
    forth, back = (judge(Estimate(x, half), margin).verdict for x in (d, -d))
    assert mirrored(forth) == back
