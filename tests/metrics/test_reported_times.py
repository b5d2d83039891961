"""Times that other readers got wrong, as they were reported, and the right figures."""

from builders import TraceBuilder
from metrics.everything import noted

import traceview
from traceview import schema as s
from traceview.tree import tree


def ns() -> TraceBuilder:
    return TraceBuilder(unit=1)


def test_a_kernel_below_a_microsecond_keeps_its_length() -> None:
    # HTA #342: rounding the start up and the end down makes it -1.
    t = ns()
    t.launch(100_000, "short", 100_700, 200)
    kernels = traceview.kernels(t.trace())
    assert kernels[s.BUSY_NS].tolist() == [200]


def test_a_child_that_was_cut_to_whole_microseconds_stays_with_its_parent() -> None:
    # pytorch #101861, #128479: the child ends at 10.4 and the parent, floored, at 10.
    t = ns()
    t.op("grandparent", 0, 20_000)
    t.op("parent", 1_000, 9_000)
    t.op("child", 2_000, 8_400)
    nodes = tree(t.trace())
    assert nodes.parent.tolist() == [-1, 0, 1]
    assert nodes.self_ns.tolist() == [11_000, 1_000, 8_000]
    assert nodes.cut.tolist() == [False, False, True]


def test_kernels_that_overlap_on_a_stream_are_both_kept() -> None:
    # perfetto #4280, #6277: of these two the second one was dropped.
    t = ns()
    t.launch(1_000, "A", 3_000, 3_776)
    t.launch(2_000, "B", 5_000, 2_000)
    trace = t.trace()
    assert len(trace.work) == 2
    assert traceview.devices(trace)[s.BUSY_NS].tolist() == [4_000]
    assert traceview.kernels(trace)[s.BUSY_NS].sum() == 4_000


def test_a_kernel_that_runs_over_the_next_ones_inflates_no_sum() -> None:
    # TraceLens #669
    t = TraceBuilder()
    for start, length in ((0, 1000), (5, 2), (9, 3)):
        t.launch(start, "k", start, length)
    trace = t.trace()
    assert traceview.devices(trace)[s.BUSY_NS].tolist() == [1_000_000]
    assert traceview.kernels(trace)[s.BUSY_NS].sum() == 1_000_000


def test_a_kernel_before_its_launch_keeps_it() -> None:
    # kineto #1380: the launch lasts from 10 to 15, the kernel starts at 9.8.
    t = ns()
    t.launch(10_000, "a2a", 9_800, 5_000, call=5_000)
    trace = t.trace()
    assert trace.work[s.LAUNCH].tolist() == [0]
    assert traceview.launches(trace)[s.LATENCY_NS].isna().tolist() == [True]
    assert noted(trace, "negative_latency")[0] == 1


def test_clocks_that_disagree_do_not_change_who_launched_what() -> None:
    # kineto #991: the call, stamped by another clock, outlives its op, and the kernel precedes it.
    t = TraceBuilder()
    t.op("aten::mm", 10, 20)
    t.launch(25, "gemm", 12, 4, call=50, api="hipLaunchKernel")
    owners = traceview.owners(t.trace())
    assert owners[s.OP].tolist() == ["aten::mm"]


def test_kernels_that_were_not_recorded_are_counted_by_their_launches() -> None:
    # pytorch #192021
    t = TraceBuilder()
    t.call("cudaLaunchKernel", 0, 2)
    t.call("cudaLaunchKernel", 5, 2)
    t.launch(10, "k", 20, 5)
    assert noted(t.trace(), "launches_without_work")[0] == 2


def test_work_before_the_first_step_is_in_no_step_and_is_told() -> None:
    # kineto #702
    t = TraceBuilder()
    t.work("warm-up", 0, 50, correlation=3)
    t.step(5, 100, 100)
    t.launch(110, "k", 120, 30)
    t.step(6, 200, 100)
    t.launch(210, "k", 220, 30)
    trace = t.trace()
    assert traceview.steps(trace)[s.BUSY_NS].tolist() == [30_000, 30_000]
    assert noted(trace, "leaked_warmup") == (1, 50_000)


def test_equal_times_nest_by_length_and_then_by_age() -> None:
    # perfetto #583, trace-viewer #927
    t = TraceBuilder()
    t.op("short", 0, 5)
    t.op("long", 0, 10)
    t.op("empty", 0, 0)
    trace = t.trace()
    assert trace.host[s.NAME].tolist() == ["long", "short", "empty"]
    assert tree(trace).parent.tolist() == [-1, 0, 1]
