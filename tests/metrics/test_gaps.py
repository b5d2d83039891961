"""Every cause of a gap, each on a trace with one gap.

The device works 0..10 and again from 100 on; the gap is 10..100, and what the host did decides.
"""

import weakref

import pytest
from builders import BACKWARD, TraceBuilder

import traceview
from traceview import schema as s
from traceview.metrics.gaps import CAUSES

US = 1000


def causes(t: TraceBuilder) -> dict[str, int]:
    """Microseconds of idle time by cause."""
    frame = traceview.idle(t.trace())
    return {cause: ns // US for cause, ns in zip(frame[s.CAUSE], frame[s.NS], strict=True)}


def test_a_synchronize_that_drains_the_queue_owns_what_follows() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.synchronize(5, 25)  # returns at 30, long after the device ran dry
    t.op("aten::mm", 40, 50)
    t.launch(80, "b", 100, 10)
    # 10..80 the host had to start afresh, 80..81 the call, 81..100 the way to the device
    assert causes(t) == {"sync": 70, "launch_latency": 19, "launch_call": 1}
    gap = traceview.gaps(t.trace()).iloc[0]
    assert (gap[s.CAUSE], gap[s.CALL]) == ("sync", "cudaStreamSynchronize")
    assert (gap[s.ENDED_BY], gap[s.LAUNCH_CALL]) == ("b", "cudaLaunchKernel")
    assert gap[s.DURATION_NS] == 90 * US


def test_a_synchronize_that_returns_as_the_gap_begins_drained_it_too() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.synchronize(2, 8)
    t.launch(80, "b", 100, 10)
    assert causes(t)["sync"] == 70


def test_a_synchronize_within_the_gap_counts_for_its_own_time() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.synchronize(20, 30)
    t.launch(80, "b", 100, 10)
    assert causes(t) == {"unobserved": 40, "sync": 30, "launch_latency": 19, "launch_call": 1}


def test_a_synchronize_on_another_thread_is_not_why() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.synchronize(5, 60, BACKWARD)
    t.launch(80, "b", 100, 10)
    assert "sync" not in causes(t)


def test_allocation() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.op("aten::empty", 10, 70)
    t.call("cudaMalloc", 20, 50)
    t.launch(80, "b", 100, 10)
    assert causes(t) == {"allocation": 50, "cpu_op": 20, "launch_latency": 19, "launch_call": 1}


def test_a_blocking_copy() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.call("cudaMemcpy", 20, 50)
    t.launch(80, "b", 100, 10)
    assert causes(t)["memcpy_blocking"] == 50


def test_a_pageable_copy_that_launches_the_work_itself() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.launch(80, "Memcpy HtoD (Pageable -> Device)", 100, 10, call=15, api="cudaMemcpyAsync")
    assert causes(t) == {"unobserved": 70, "launch_call": 15, "launch_latency": 5}


@pytest.mark.parametrize(
    "name", ["Lazy Function Loading", "Activity Buffer Request", "Command Buffer Full"]
)
def test_overhead_of_the_profiler_has_no_thread_and_holds_for_all(name: str) -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.overhead(name, 20, 30)
    t.launch(80, "b", 100, 10, thread=BACKWARD)
    assert causes(t)["overhead"] == 30


def test_loading_code_is_overhead() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.call("cuModuleLoadData", 20, 30, category="cuda_driver")
    t.launch(80, "b", 100, 10)
    assert causes(t)["overhead"] == 30


def test_dataloader() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 20, 50)
    t.op("aten::stack", 30, 10)
    t.launch(80, "b", 100, 10)
    assert causes(t)["dataloader"] == 50


def test_a_launch_call_that_takes_long() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.launch(10, "b", 100, 10, call=80)
    # launched as the gap begins: the device waited for nothing that it had
    assert causes(t) == {"queued": 90}
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.launch(11, "b", 100, 10, call=80)
    assert causes(t) == {"launch_call": 80, "launch_latency": 9, "unobserved": 1}


def test_ops_and_python() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.python("train.py(7): step", 10, 60)
    t.op("aten::mm", 30, 20)
    t.launch(80, "b", 100, 10)
    assert causes(t) == {
        "python": 40,
        "cpu_op": 20,
        "launch_latency": 19,
        "unobserved": 10,
        "launch_call": 1,
    }


def test_work_launched_before_the_gap_was_late_on_the_device() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.launch(2, "b", 100, 10)
    assert causes(t) == {"queued": 90}


def test_a_stream_that_was_told_to_wait() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10, stream=7)
    wait = t.call("cudaStreamWaitEvent", 2, 1)
    t.sync_record("Stream Wait Event", 2, 1, wait, 8)
    t.launch(4, "b", 100, 10, stream=8)
    assert causes(t) == {"stream_wait": 90}


def test_another_stream_was_told_to_wait() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10, stream=7)
    wait = t.call("cudaStreamWaitEvent", 2, 1)
    t.sync_record("Stream Wait Event", 2, 1, wait, 9)
    t.launch(4, "b", 100, 10, stream=8)
    assert causes(t) == {"queued": 90}


def test_a_wait_that_earlier_work_of_the_stream_met() -> None:
    t = TraceBuilder()
    wait = t.call("cudaStreamWaitEvent", 0, 1)
    t.sync_record("Stream Wait Event", 0, 1, wait, 7)
    t.launch(2, "a", 5, 5)
    t.launch(4, "b", 100, 10)
    assert causes(t) == {"queued": 90}


def test_between_the_kernels_of_one_graph() -> None:
    t = TraceBuilder()
    t.graph(0, [(5, 5), (100, 10)])
    assert causes(t) == {"graph": 90}


def test_between_two_graphs_the_second_was_waited_for() -> None:
    t = TraceBuilder()
    t.graph(0, [(5, 5)])
    t.graph(2, [(100, 10)])
    assert causes(t) == {"queued": 90}


def test_work_without_a_launch_leaves_its_gap_unexplained() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.op("aten::mm", 20, 50)
    t.work("b", 100, 10, correlation=9_999)
    assert causes(t) == {"unlinked": 90}
    assert traceview.gaps(t.trace())[s.LAUNCH_CALL].isna().all()


def test_clocks_that_disagree_still_add_up() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.op("aten::mm", 20, 50)
    t.launch(110, "b", 100, 10)  # launched after it began
    assert causes(t) == {"cpu_op": 50, "unobserved": 40}


def test_each_device_waits_for_itself() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10, device=0)
    t.launch(1, "busy", 5, 200, device=1)
    t.launch(2, "b", 100, 10, device=0)
    frame = traceview.idle(t.trace())
    assert frame[[s.DEVICE_ID, s.NS]].to_numpy().tolist() == [[0, 90 * US]]


def test_a_gap_names_the_place() -> None:
    t = TraceBuilder()
    t.annotation("forward", 0, 90)
    t.op("aten::item", 1, 60)
    t.python("train.py(9): loss", 2, 50)
    t.launch(3, "a", 0, 10)
    t.synchronize(5, 45)
    t.launch(80, "b", 100, 10)
    gap = traceview.gaps(t.trace()).iloc[0]
    assert (gap[s.ANNOTATION], gap[s.OP], gap[s.FRAME]) == (
        "forward",
        "aten::item",
        "train.py(9): loss",
    )


def test_every_cause_is_put_into_words() -> None:
    from traceview.report.causes import EXPLAINED  # noqa: PLC0415 -- the report, not the metric

    assert set(EXPLAINED) == set(CAUSES)


def test_what_is_kept_with_a_trace_goes_with_it() -> None:
    t = TraceBuilder()
    t.launch(0, "a", 0, 10)
    t.launch(80, "b", 100, 10)
    trace = t.trace()
    traceview.gaps(trace)
    seen = weakref.ref(trace)
    del trace
    assert seen() is None
