"""What a host thread was in at a given time."""

import numpy as np
from builders import BACKWARD, MAIN, TraceBuilder

from traceview import schema as s
from traceview.context import covering, site, thread_numbers
from traceview.trace import ANNOTATION, OP, Trace

US = 1000


def recorded() -> Trace:
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.annotation("forward", 0, 60)
    t.op("aten::linear", 10, 40)
    t.op("aten::addmm", 20, 10)
    t.op("backward", 20, 10, BACKWARD)
    t.memory(25, 8, thread=MAIN)
    t.memory(26, 8, thread=BACKWARD)
    t.memory(27, 8, thread=99)
    return t.trace()


def names(trace: Trace, category: str, thread: int, times: list[int]) -> list[str | None]:
    threads = thread_numbers(trace, trace.memory)[thread]
    at = np.array(times) * US
    found = covering(trace, category, np.full(at.size, threads), at)
    named = trace.host[s.NAME].astype("str")
    return [named[position] if position >= 0 else None for position in found.tolist()]


def test_the_innermost_op_at_a_time() -> None:
    times = [5, 10, 20, 29, 30, 49, 50]
    expected = [None, "aten::linear", "aten::addmm", "aten::addmm", "aten::linear",
                "aten::linear", None]  # fmt: skip
    assert names(recorded(), OP, 0, times) == expected


def test_threads_see_their_own_ops_only() -> None:
    assert names(recorded(), OP, 1, [10, 20, 30]) == [None, "backward", None]


def test_a_thread_without_host_events_is_nowhere() -> None:
    trace = recorded()
    assert thread_numbers(trace, trace.memory)[2] == -1
    assert names(trace, OP, 2, [25]) == [None]


def test_a_profiler_step_is_no_annotation() -> None:
    assert names(recorded(), ANNOTATION, 0, [30, 80]) == ["forward", None]


def test_a_site_names_op_annotation_and_frame() -> None:
    trace = recorded()
    around = site(trace, thread_numbers(trace, trace.memory), trace.memory[s.TIME_NS])
    assert around[s.OP].fillna("-").tolist() == ["aten::addmm", "backward", "-"]
    assert around[s.ANNOTATION].fillna("-").tolist() == ["forward", "-", "-"]
    assert around[s.FRAME].isna().all()
