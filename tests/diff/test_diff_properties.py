"""What must hold of every pair of recordings."""

import pandas as pd
import pytest
from builders import TraceBuilder
from hypothesis import given
from strategies import recordings

import traceview
from traceview import schema as s
from traceview.diff import Comparability, TraceDiff
from traceview.stats import Verdict


def quantity(compared: TraceDiff, name: str) -> pd.Series:
    rows = compared.quantities
    return rows[rows[s.QUANTITY] == name].iloc[0]


@given(recordings())
def test_a_recording_against_itself_is_the_same_in_everything(t: TraceBuilder) -> None:
    compared = traceview.diff(t.trace(), t.trace())
    assert set(compared.quantities[s.VERDICT]) == {"same"}
    assert "same_recording" in [reason.code for reason in compared.reasons]
    assert not compared.quantities[s.DELTA].fillna(0).any()
    assert not compared.attribution[s.DELTA_NS].any()
    assert not compared.memory[s.DELTA_BYTES].fillna(0).any()
    assert (compared.structure["before"] == compared.structure["after"]).all()


@given(recordings(), recordings())
def test_the_rows_of_a_diff_add_up(one: TraceBuilder, other: TraceBuilder) -> None:
    compared = traceview.diff(one.trace(), other.trace())
    rows = compared.attribution
    period, busy, idle = (
        quantity(compared, name) for name in ("device_period", "gpu_busy", "gpu_idle")
    )
    if pd.notna(period[s.DELTA]):
        assert rows[s.DELTA_NS].sum() == period[s.DELTA] == busy[s.DELTA] + idle[s.DELTA]
        kinds = rows.groupby(s.PART)[s.DELTA_NS].sum()
        assert kinds.get("busy", 0) == busy[s.DELTA]
        assert kinds.get("idle", 0) == idle[s.DELTA]
    for side, column in (("before", s.BEFORE_NS), ("after", s.AFTER_NS)):
        if pd.notna(period[side]):
            assert rows[column].sum() == period[side]
            assert (rows[column] >= 0).all()


@given(recordings(), recordings())
def test_the_other_way_round_mirrors(one: TraceBuilder, other: TraceBuilder) -> None:
    there = traceview.diff(one.trace(), other.trace())
    back = traceview.diff(other.trace(), one.trace())
    assert there.comparable is back.comparable
    assert [r.code for r in there.reasons] == [r.code for r in back.reasons]
    for (_, left), (_, right) in zip(
        there.quantities.iterrows(), back.quantities.iterrows(), strict=True
    ):
        assert Verdict(left[s.VERDICT]).mirrored == right[s.VERDICT]
        assert left[s.REASONS] == right[s.REASONS]
        assert left[s.BASIS] == right[s.BASIS]
        if pd.notna(left[s.DELTA]):
            assert left[s.DELTA] == -right[s.DELTA]
        if pd.notna(left[s.RATIO]) and pd.notna(right[s.RATIO]) and left[s.RATIO]:
            assert left[s.RATIO] * right[s.RATIO] == pytest.approx(1)
    keys = [s.PART, s.PATH]
    rows = there.attribution.set_index(keys)[s.DELTA_NS]
    assert (rows == -back.attribution.set_index(keys)[s.DELTA_NS].reindex(rows.index)).all()
    facts = there.structure.set_index("fact")
    assert (facts["before"] == back.structure.set_index("fact")["after"]).all()


@given(recordings(), recordings())
def test_what_cannot_be_compared_gets_no_verdict(one: TraceBuilder, other: TraceBuilder) -> None:
    compared = traceview.diff(one.trace(), other.trace())
    if compared.comparable is Comparability.NO:
        timed = compared.quantities[compared.quantities[s.UNIT] == "ns"]
        assert set(timed[s.VERDICT]) == {"cannot_tell"}


@given(recordings(), recordings())
def test_a_diff_changes_neither_side(one: TraceBuilder, other: TraceBuilder) -> None:
    before, after = one.trace(), other.trace()
    traceview.diff(before, after)
    for trace, untouched in ((before, one.trace()), (after, other.trace())):
        for name in ("host", "device", "memory"):
            pd.testing.assert_frame_equal(getattr(trace, name), getattr(untouched, name))
