"""Recordings as hypothesis invents them: small, crowded, full of ties, and legal."""

from builders import BACKWARD, MAIN, TraceBuilder
from hypothesis import strategies as st

TIMES = st.integers(0, 60)
LENGTHS = st.integers(0, 25)
THREADS = st.sampled_from([MAIN, BACKWARD])
CALLS = st.sampled_from(
    ["cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpy", "cudaMalloc", "cudaFree",
     "cudaStreamWaitEvent", "cudaEventQuery", "cuModuleLoad"]
)  # fmt: skip
WORK = st.sampled_from(
    ["gemm", "softmax", "ncclDevKernel_AllReduce", "Memcpy HtoD (Pageable -> Device)",
     "Memcpy DtoD (Device -> Device)", "Memset (Device)"]
)  # fmt: skip


def _host(t: TraceBuilder, draw: st.DrawFn) -> None:
    kind = draw(st.sampled_from(["op", "annotation", "python", "call"]))
    start, length, thread = draw(TIMES), draw(LENGTHS), draw(THREADS)
    if kind == "op":
        t.op(draw(st.sampled_from(["aten::mm", "aten::item"])), start, length, thread)
    elif kind == "annotation":
        name = draw(st.sampled_from(["forward", "enumerate(DataLoader)#next", "iteration 1"]))
        t.annotation(name, start, length, thread)
    elif kind == "python":
        t.python("train.py(3): step", start, length, thread)
    else:
        t.call(draw(CALLS), start, length, thread)


def _launched(t: TraceBuilder, draw: st.DrawFn) -> None:
    at, where = draw(TIMES), {"device": draw(st.integers(0, 1)), "stream": draw(st.integers(7, 8))}
    # Mostly after the call, at times before it: clocks that disagree.
    start = at + draw(st.integers(-3, 40))
    api = "cudaMemcpyAsync" if (name := draw(WORK)).startswith("Memcpy") else "cudaLaunchKernel"
    t.launch(at, name, start, draw(LENGTHS), call=draw(LENGTHS), api=api, thread=draw(THREADS),
             **where)  # fmt: skip


def _unlinked(t: TraceBuilder, draw: st.DrawFn) -> None:
    number = draw(st.sampled_from([None, 1, 2, 1_000_000]))
    device = draw(st.integers(0, 1))
    t.work(draw(WORK), draw(TIMES), draw(LENGTHS), device=device, correlation=number)


def _replayed(t: TraceBuilder, draw: st.DrawFn) -> None:
    at = draw(TIMES)
    kernels = draw(st.lists(st.tuples(st.integers(at, at + 40), LENGTHS), min_size=1, max_size=4))
    t.graph(at, kernels, call=draw(st.integers(0, 4)))


def _allocated(t: TraceBuilder, draw: st.DrawFn, time: int) -> None:
    size = draw(st.integers(-512, 512).filter(bool))
    total = draw(st.integers(512, 2048))
    device = draw(st.sampled_from([(0, -1), (1, 0), (1, 1)]))
    t.memory(time, size, total, address=draw(st.integers(1, 3)), device=device)


@st.composite
def recordings(draw: st.DrawFn, *, steps: bool | None = None, work: int = 8) -> TraceBuilder:
    """A recording of two threads, two devices and up to three steps."""
    t = TraceBuilder(unit=1)
    if draw(st.booleans()) if steps is None else steps:
        start = draw(st.integers(0, 20))
        for number in range(draw(st.integers(1, 3))):
            length = draw(st.integers(1, 25))
            t.step(number, start, length)
            start += length + draw(st.integers(0, 2))
    for add, most in ((_host, 8), (_launched, work), (_unlinked, 2), (_replayed, 1)):
        for _ in range(draw(st.integers(0, most))):
            add(t, draw)
    # Two at one time have no order but the file's.
    for time in draw(st.lists(TIMES, max_size=6, unique=True)):
        _allocated(t, draw, time)
    if draw(st.booleans()):
        t.overhead("Activity Buffer Request", draw(TIMES), draw(LENGTHS))
    return t
