"""The report says first what would make a step shorter, and its rows add up."""

from builders import TraceBuilder

from traceview.metrics.critical_path import critical_path
from traceview.metrics.critical_path.device import (
    GRAPH,
    LAUNCH_LATENCY,
    QUEUED,
    STREAM_WAIT,
    UNLINKED,
)
from traceview.metrics.critical_path.doing import HOST_KINDS
from traceview.report.critical_path import EXPLAINED, document
from traceview.show import critical_path as shown
from traceview.trace import WORK


def host_bound() -> TraceBuilder:
    """90 us of host work around 10 us of kernels."""
    t = TraceBuilder()
    t.launch(0, "warm", 0, 10)
    t.op("aten::linear", 10, 80)
    t.launch(88, "gemm", 90, 10)
    return t


def test_the_lead_says_whether_faster_kernels_would_help() -> None:
    text = shown(host_bound().trace())
    assert "10.0 % of the path is GPU work, 89.0 % is the host." in text
    assert "Faster kernels cannot shorten it by more than 10.0 %" in text


def test_the_kinds_add_up_to_the_path() -> None:
    trace = host_bound().trace()
    report = document(trace)
    kinds = report.sections[0].tables[0]
    assert sum(int(row[1] or 0) for row in kinds.rows) == critical_path(trace)["duration_ns"].sum()
    assert "The rows add up to 100.00 us, the length of one path." in report.sections[0].lines


def test_every_kind_that_occurs_is_explained() -> None:
    waits = {QUEUED, GRAPH, STREAM_WAIT, LAUNCH_LATENCY, UNLINKED}
    kinds = {*WORK, *waits, *HOST_KINDS}
    assert kinds == set(EXPLAINED)


def test_without_anything_there_is_no_path() -> None:
    assert "so no path" in shown(TraceBuilder().trace())
