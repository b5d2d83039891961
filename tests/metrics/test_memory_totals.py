"""What is known of the curve of allocated memory where the allocator did not tell every total."""

import pandas as pd
import pytest
from builders import CUDA, HOST, MAIN, TraceBuilder
from metrics.everything import noted

import traceview
from traceview import schema as s
from traceview.diff import diff
from traceview.diff.judge import REASONS
from traceview.document import Section
from traceview.metrics.memory import NO_ADDRESSES, memory_timeline
from traceview.report import memory as memory_report
from traceview.report import summary as summary_report
from traceview.trace import Trace


def curve(*events: tuple[int, int] | tuple[int, int, int | None], address: int | None = None
          ) -> Trace:  # fmt: skip
    """Events of time in us, bytes and, where it is told, the total; one block, or none located."""
    t = TraceBuilder()
    for time, size, *total in events:
        t.memory(time, size, *total, address=address)
    return t.trace()


def totals(trace: Trace) -> list[int]:
    return [int(total) for total in memory_timeline(trace)[s.ALLOCATED]]


def peak(trace: Trace) -> tuple[object, object]:
    row = traceview.memory_peaks(trace).iloc[0]
    return row[s.PEAK_ALLOCATED], row[s.BASELINE]


def held(trace: Trace) -> dict[str, int]:
    frame = traceview.memory_at_peak(trace)
    return dict(zip(frame[s.GROUP], frame[s.HELD].tolist(), strict=True))


def failure(t: TraceBuilder, time: int) -> None:
    arguments = {"Device Type": CUDA, "Device Id": 0, "Bytes": 1 << 40}
    t.add(ph="i", cat="cpu_instant_event", name="[OutOfMemory]", s="t", pid=HOST, tid=MAIN,
          ts=time, args=arguments)  # fmt: skip


def lines(section: Section) -> str:
    return " ".join(section.lines)


# Some events lack their total.


def test_the_last_total_is_carried_over_events_without_one() -> None:
    trace = curve((10, 50, 1050), (20, 500, None), (25, -500, None), (30, 10, 1060))
    assert totals(trace) == [1050, 1550, 1050, 1060]
    assert peak(trace) == (1550, 1000)


def test_before_the_first_total_it_is_carried_back() -> None:
    trace = curve((10, 300), (20, -100), (30, 50, 1050), (40, 7))
    assert totals(trace) == [1100, 1000, 1050, 1057]
    assert peak(trace) == (1100, 800)


def test_each_total_that_is_told_is_believed() -> None:
    trace = curve((10, 50, 1050), (20, 5), (30, 10, 2000), (40, -10))
    assert totals(trace) == [1050, 1055, 2000, 1990]


# No event has a total.


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((-70,), [0]),
        ((-70, 30), [0, 30]),
        ((50, -120, 10), [120, 0, 10]),
        ((50, -20), [50, 30]),
    ],
)
def test_a_curve_from_an_unknown_start_is_never_negative(
    sizes: tuple[int, ...], expected: list[int]
) -> None:
    trace = curve(*((time, size) for time, size in enumerate(sizes)))
    assert totals(trace) == expected
    assert peak(trace) == (max(expected), pd.NA)


def test_a_single_free_of_70_leaves_nothing() -> None:
    trace = curve((10, -70), address=1)
    assert peak(trace)[0] == 0
    assert held(trace) == {}
    assert memory_report.document(trace).lead[0] == (
        "Peak allocated at least 0 bytes, above an unknown start."
    )


def test_what_the_unknown_start_held_is_part_of_the_peak() -> None:
    assert held(curve((10, -70), (20, 30), (30, 100))) == {NO_ADDRESSES: 130}


def test_a_located_block_that_is_freed_was_there_before() -> None:
    t = TraceBuilder()
    t.memory(10, 100, address=1)
    t.memory(20, -70, address=2)
    t.memory(30, 100, address=3)
    assert totals(t.trace()) == [170, 100, 200]
    assert held(t.trace()) == {"outside any op": 200}


def test_of_a_step_the_curve_begins_at_what_is_known() -> None:
    t = TraceBuilder()
    t.step(1, 0, 50)
    t.memory(10, -70)
    t.memory(20, 30)
    step = traceview.memory_steps(t.trace(), traceview.steps(t.trace())).iloc[0]
    assert (step[s.AT_BEGIN], step[s.AT_END], step[s.PEAK_ALLOCATED]) == (70, 30, 70)


def test_the_reports_say_at_least() -> None:
    trace = curve((10, -70), (20, 130))
    unknown = "Peak allocated at least 130 bytes, above an unknown start"
    summary, memory = summary_report.document(trace), memory_report.document(trace)
    assert f"{unknown}." in summary.lead
    shown = {section.title: lines(section) for section in summary.sections}
    assert shown["Memory"] == "Device 0: peak at least 130 bytes."
    assert memory.lead[0] == f"{unknown}; the largest part of it: 130 bytes {NO_ADDRESSES}."
    assert lines(memory.sections[0]) == (
        "CUDA 0: its peak is at least this, above an unknown start."
    )


def test_the_reports_say_exactly_where_the_start_is_known() -> None:
    trace = curve((10, 130, 200))
    lead = summary_report.document(trace).lead
    assert "Peak allocated 200 bytes, 70 bytes of it before recording." in lead
    memory = memory_report.document(trace)
    assert "unknown start" not in " ".join([*memory.lead, lines(memory.sections[0])])


# Two such curves.


def verdict(before: Trace, after: Trace, **margins: float) -> tuple[str, object]:
    frame = diff(before, after, margins=margins).quantities.set_index(s.QUANTITY)
    row = frame.loc["peak_allocated"]
    return str(row[s.VERDICT]), row[s.REASONS]


KNOWN, HIGHER = curve((10, 130, 130)), curve((10, 200, 200))
RELATIVE, LARGER = curve((10, 130)), curve((10, 200))


@pytest.mark.parametrize(
    ("before", "after"), [(RELATIVE, LARGER), (KNOWN, LARGER), (LARGER, KNOWN), (RELATIVE, HIGHER)]
)
def test_peaks_above_an_unknown_start_cannot_be_told_apart(before: Trace, after: Trace) -> None:
    assert verdict(before, after) == ("cannot_tell", "baseline_unknown")
    assert "baseline_unknown" in REASONS


def test_equal_peaks_are_the_same_wherever_they_start() -> None:
    assert verdict(RELATIVE, KNOWN)[0] == "same"


def test_known_peaks_are_exact() -> None:
    assert verdict(KNOWN, HIGHER)[0] == "regressed"


# Only failures.


def test_a_file_whose_only_memory_event_is_a_failure_says_so() -> None:
    t = TraceBuilder()
    failure(t, 5)
    trace = t.trace()
    assert noted(trace, "out_of_memory")[0] == 1
    assert summary_report.document(trace).data["memory"] == []
    assert memory_report.document(trace).lead == (
        "No allocation succeeded while recording: 1 failed for want of memory.",
    )


def test_without_a_failure_nothing_is_said_of_one() -> None:
    assert "out_of_memory" not in traceview.coverage(KNOWN)[s.CODE].tolist()
