"""What must hold of every pair of recordings."""

import pandas as pd
import pytest
from builders import TraceBuilder
from hypothesis import given
from sides import mirrored
from strategies import COSTLY, recordings

import traceview
from traceview import schema as s
from traceview.diff import Comparability, TraceDiff


def quantity(compared: TraceDiff, name: str) -> pd.Series:
    rows = compared.quantities
    return rows[rows[s.QUANTITY] == name].iloc[0]


@COSTLY
@given(recordings())
def test_a_recording_against_itself_is_the_same_in_everything(t: TraceBuilder) -> None:
    compared = traceview.diff(t.trace(), t.trace())
    assert set(compared.quantities[s.VERDICT]) == {"same"}
    assert "same_recording" in [reason.code for reason in compared.reasons]
    assert not compared.quantities[s.DELTA].fillna(0).any()
    assert not compared.attribution[s.DELTA_NS].any()
    assert not compared.memory[s.DELTA_BYTES].fillna(0).any()
    assert (compared.structure["before"] == compared.structure["after"]).all()


@COSTLY
@given(recordings(), recordings())
def test_any_two_recordings(one: TraceBuilder, other: TraceBuilder) -> None:
    """One test for all, for each example costs two diffs."""
    before, after = one.trace(), other.trace()
    there, back = traceview.diff(before, after), traceview.diff(after, before)
    the_rows_add_up(there)
    they_mirror(there, back)
    if there.comparable is Comparability.NO:
        timed = there.quantities[there.quantities[s.UNIT] == "ns"]
        assert set(timed[s.VERDICT]) == {"cannot_tell"}
    for trace, untouched in ((before, one.trace()), (after, other.trace())):
        for name in ("host", "device", "memory"):
            pd.testing.assert_frame_equal(getattr(trace, name), getattr(untouched, name))


def the_rows_add_up(compared: TraceDiff) -> None:
    rows = compared.attribution
    period, busy, idle = (
        quantity(compared, name) for name in ("device_period", "gpu_busy", "gpu_idle")
    )
    if pd.notna(period[s.DELTA]):
        assert rows[s.DELTA_NS].sum() == period[s.DELTA] == busy[s.DELTA] + idle[s.DELTA]
        kinds = rows.groupby(s.PART)[s.DELTA_NS].sum()
        assert sum(kinds.drop("idle", errors="ignore")) == busy[s.DELTA]
        assert kinds.get("idle", 0) == idle[s.DELTA]
    for side, column in (("before", s.BEFORE_NS), ("after", s.AFTER_NS)):
        if pd.notna(period[side]):
            assert rows[column].sum() == period[side]
            assert (rows[column] >= 0).all()


def they_mirror(there: TraceDiff, back: TraceDiff) -> None:
    assert there.comparable is back.comparable
    assert [r.code for r in there.reasons] == [r.code for r in back.reasons]
    for (_, left), (_, right) in zip(
        there.quantities.iterrows(), back.quantities.iterrows(), strict=True
    ):
        assert mirrored(left[s.VERDICT]) == right[s.VERDICT]
        assert left[s.REASONS] == right[s.REASONS]
        assert left[s.BASIS] == right[s.BASIS]
        if pd.notna(left[s.DELTA]):
            assert left[s.DELTA] == -right[s.DELTA]
        if pd.notna(left[s.RATIO]) and pd.notna(right[s.RATIO]) and left[s.RATIO]:
            assert left[s.RATIO] * right[s.RATIO] == pytest.approx(1)
    assert sorted(there.attribution[s.DELTA_NS]) == sorted(-back.attribution[s.DELTA_NS])
    facts = there.structure.set_index("fact")
    assert (facts["before"] == back.structure.set_index("fact")["after"]).all()
