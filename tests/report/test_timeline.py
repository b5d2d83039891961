"""The picture of a step, and the pictures beside tables."""

import numpy as np
import pandas as pd
import pytest
from builders import TraceBuilder

from traceview import schema as s
from traceview.document import Excerpt
from traceview.report import pictures
from traceview.report import timeline as report
from traceview.report.timeline import section, timeline


def steps(*lengths: int) -> TraceBuilder:
    """A step of each length, us: a launch 10 us after its begin runs to 10 us before its end."""
    t = TraceBuilder()
    at = 0
    for number, length in enumerate(lengths):
        t.step(number, at, length)
        t.op("aten::mm", at + 5, 20)
        t.launch(at + 10, "gemm", at + 20, length - 30)
        at += length
    return t


def names(excerpt: Excerpt, kind: str, texts: tuple[str, ...]) -> list[str]:
    """What stands on the tracks of a kind."""
    return [
        texts[event[3]] for track in excerpt.tracks if track.kind == kind for event in track.events
    ]


def test_the_median_step_is_drawn() -> None:
    drawn = timeline(("", steps(100, 300, 100, 200, 100, 500, 200).trace()))
    (excerpt,) = drawn.excerpts
    assert (excerpt.label, excerpt.origin_ns) == ("ProfilerStep#3", 500_000)
    assert excerpt.length_ns == 200_000
    assert names(excerpt, "device", drawn.texts) == ["gemm"]
    assert names(excerpt, "annotation", drawn.texts) == ["ProfilerStep#3"]
    assert names(excerpt, "host", drawn.texts) == ["aten::mm", "cudaLaunchKernel"]
    (device,) = (track for track in excerpt.tracks if track.kind == "device")
    assert device.events[0][:3] == (20_000, 170_000, 0)
    assert drawn.texts[device.events[0][4]] == "aten::mm\nlaunched in ProfilerStep#3"


def test_a_gap_says_what_the_device_waits_for() -> None:
    drawn = timeline(("", steps(100, 100, 100).trace()))
    (excerpt,) = drawn.excerpts
    (idle,) = (track for track in excerpt.tracks if track.kind == "idle")
    (start, length, _, name, detail) = idle.events[0]
    assert (start, length) == (-10_000, 30_000), "it began before the step"
    assert drawn.texts[name].startswith("idle: ")
    assert drawn.texts[detail].endswith("ended by gemm")


def test_sides_begin_together() -> None:
    drawn = timeline(("before", steps(100, 100).trace()), ("after", steps(50, 50).trace()))
    assert [one.label for one in drawn.excerpts] == [
        "before: ProfilerStep#0", "after: ProfilerStep#0",
    ]  # fmt: skip
    assert [one.length_ns for one in drawn.excerpts] == [100_000, 50_000]


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_EVENTS", 3)
    t = steps(100)
    t.python("train.py(3): step", 0, 90)
    (excerpt,) = timeline(("", t.trace())).excerpts
    assert sum(len(track.events) for track in excerpt.tracks) <= 3
    assert any(said.endswith("and less") for said in excerpt.left_out)
    assert "1 Python frames" in excerpt.left_out


def test_a_recording_of_nothing_has_no_timeline() -> None:
    trace = TraceBuilder().trace()
    assert list(section(trace)) == []
    assert timeline(("", trace)).excerpts[0].tracks == ()


def test_many_points_keep_the_peak() -> None:
    figures = np.arange(50_000) % 97
    figures[31_234] = 1_000
    frame = pd.DataFrame({s.TIME_NS: np.arange(50_000), s.ALLOCATED: pd.array(figures, "Int64")})
    drawn = pictures.line("line", frame, s.TIME_NS, s.ALLOCATED)
    assert len(drawn.points) <= 2_002
    assert (31_234, 1_000) in drawn.points
    assert (drawn.points[0][0], drawn.points[-1][0]) == (0, 49_999)


def test_what_is_not_drawn_is_in_the_sum() -> None:
    rows = [(f"row {n}", (-1) ** n * (40 - n)) for n in range(40)]
    drawn = pictures.waterfall("w", 1000, rows)
    assert len(drawn.rows) == pictures.MOST_BARS + 1
    assert drawn.after == 1000 + sum(delta for _, delta in rows)
