"""The causes of idle time in words."""

from __future__ import annotations

EXPLAINED = {
    "sync": "the host waited for the GPU, then had to start afresh",
    "allocation": "the host allocated or freed memory",
    "memcpy_blocking": "the host was in a copy that blocks",
    "overhead": "profiler overhead, code loading or compilation",
    "dataloader": "the host waited for data",
    "launch_call": "the host was in runtime or driver calls",
    "cpu_op": "the host prepared work in ops",
    "python": "the host was in Python, outside any op",
    "unobserved": "nothing of the launching thread is recorded",
    "launch_latency": "from the return of the launch call to the start of the work",
    "stream_wait": "a stream waited for another one",
    "graph": "between the kernels of one graph launch",
    "queued": "launched in time: the GPU's own latency between pieces of work",
    "unlinked": "no launch record of the work that ended the gap: unexplained",
}
"""The causes of idle time in words, as `traceview.metrics.gaps` defines them."""
