"""A ratio of means beside an interval of medians: where they part, the report says why."""

from builders import H200, TraceBuilder
from sides import EPOCH_NS, GEMM

import traceview
from traceview.render import render
from traceview.report.diff import document
from traceview.trace import Trace


def recording(number: int, *, gemm: int, slowest: int) -> Trace:
    """Forty steps of 2000 us with a matmul of `gemm` us, the last of them one of `slowest`."""
    t = TraceBuilder(deviceProperties=[H200], baseTimeNanoseconds=EPOCH_NS + number)
    for step in range(40):
        at = 2000 * step
        t.step(step, at, 1900)
        t.launch(at + 10, GEMM, at + 20, number + (slowest if step == 20 else gemm))
    return t.trace()


def report(slowest: int) -> str:
    before = [recording(number, gemm=500, slowest=500) for number in range(3)]
    after = [recording(number + 3, gemm=250, slowest=slowest) for number in range(3)]
    return render(document(traceview.diff(before, after)), "text")


def test_steps_that_move_the_means_are_told() -> None:
    said = " ".join(report(1500).split())
    assert "GPU busy: single steps move the means, whose ratio is x0.56" in said
    assert "that of the median steps is x0.50" in said


def test_even_steps_need_no_word() -> None:
    assert "single steps" not in report(250)
