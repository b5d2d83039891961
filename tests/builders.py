"""TraceBuilder: a recording written down as literals that can be read in the head.

    t = TraceBuilder()
    t.step(1, 0, 100)
    t.launch(10, "gemm", 20, 30)     # called at 10 us, runs from 20 us for 30 us
    t.synchronize(40, 20)
    t.trace()

Times and durations are microseconds, or nanoseconds with `TraceBuilder(unit=1)`. What is built goes
through the plain reader and the product's own assembly; `write` makes a file of it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import plain_reader

from traceview.kineto.assemble import assemble
from traceview.trace import Trace

HOST = 4242
"""The process of the host events."""
MAIN, BACKWARD = 1, 2
"""Threads of it."""
CUDA = 1
"""c10 device type."""
H200 = {"id": 0, "name": "NVIDIA H200", "numSms": 132}


class TraceBuilder:
    """Adds events in the order of the calls; a method is one or two events of a real recording."""

    def __init__(self, *, unit: int = 1000, process: int = HOST, **properties: Any) -> None:
        self.unit = unit
        self.process = process
        self.properties = properties
        self.events: list[dict[str, Any]] = []
        self._correlation = 100

    def __repr__(self) -> str:
        lines = (f"    {json.dumps(event)}" for event in self.events)
        return "\n".join(("TraceBuilder of", *lines))

    # Host.

    def op(self, name: str, start: int, length: int, thread: int = MAIN) -> None:
        self._host("cpu_op", name, start, length, thread)

    def annotation(self, name: str, start: int, length: int, thread: int = MAIN) -> None:
        self._host("user_annotation", name, start, length, thread)

    def step(self, number: int, start: int, length: int) -> None:
        self.annotation(f"ProfilerStep#{number}", start, length)

    def python(self, name: str, start: int, length: int, thread: int = MAIN) -> None:
        self._host("python_function", name, start, length, thread)

    def overhead(self, name: str, start: int, length: int) -> None:
        """Overhead of the profiler has a process of its own and no thread."""
        self.add(ph="X", cat="overhead", name=name, pid=-1, tid=0, ts=start, dur=length)

    def call(
        self,
        name: str,
        start: int,
        length: int,
        thread: int = MAIN,
        *,
        correlation: int | None = None,
        category: str = "cuda_runtime",
    ) -> int:
        """A runtime call; its correlation."""
        number = self.correlation() if correlation is None else correlation
        self._host(category, name, start, length, thread, correlation=number)
        return number

    def synchronize(self, start: int, length: int, thread: int = MAIN) -> int:
        return self.call("cudaStreamSynchronize", start, length, thread)

    def sync_record(
        self, name: str, start: int, length: int, correlation: int, stream: int
    ) -> None:
        """What enable_cuda_sync_events adds: on a device's row, in host time."""
        arguments = {"correlation": correlation, "stream": stream}
        self.add(ph="X", cat="cuda_sync", name=name, pid=0, tid=stream, ts=start, dur=length,
                 args=arguments)  # fmt: skip

    # Device.

    def launch(
        self,
        at: int,
        name: str,
        start: int,
        length: int,
        *,
        call: int = 1,
        api: str = "cudaLaunchKernel",
        thread: int = MAIN,
        **where: Any,
    ) -> int:
        """A call at `at` that lasts `call`, and the work that it launches; their correlation."""
        number = self.call(api, at, call, thread)
        self.work(name, start, length, correlation=number, **where)
        return number

    def graph(self, at: int, kernels: Iterable[tuple[int, int]], *, call: int = 1) -> int:
        """One cudaGraphLaunch and the kernels (start, length) that it replays."""
        number = self.call("cudaGraphLaunch", at, call)
        for start, length in kernels:
            self.work("graph_kernel", start, length, correlation=number)
        return number

    def work(
        self,
        name: str,
        start: int,
        length: int,
        *,
        correlation: int | None = None,
        category: str | None = None,
        device: int = 0,
        stream: int = 7,
        **arguments: Any,
    ) -> None:
        """Device work; a copy or memset by its name. Without a correlation it is unlinked."""
        kinds = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}
        kind = category or kinds.get(name[:6], "kernel")
        arguments |= {"device": device, "stream": stream}
        if correlation is not None:
            arguments["correlation"] = correlation
        self.add(ph="X", cat=kind, name=name, pid=device, tid=stream, ts=start, dur=length,
                 args=arguments)  # fmt: skip

    # Memory.

    def memory(
        self,
        time: int,
        size: int,
        total: int | None = None,
        *,
        address: int | None = None,
        reserved: int | None = None,
        thread: int = MAIN,
        device: tuple[int, int] = (CUDA, 0),
    ) -> None:
        """An allocation, or a free where `size` is negative; `total` is what the allocator says."""
        stated = {
            "Device Type": device[0], "Device Id": device[1], "Bytes": size, "Addr": address,
            "Total Allocated": total, "Total Reserved": reserved,
        }  # fmt: skip
        arguments = {key: value for key, value in stated.items() if value is not None}
        self.add(ph="i", cat="cpu_instant_event", name="[memory]", s="t", pid=self.process,
                 tid=thread, ts=time, args=arguments)  # fmt: skip

    # All of it.

    def correlation(self) -> int:
        """A correlation that was not used yet."""
        self._correlation += 1
        return self._correlation

    def add(self, *, ts: int, dur: int | None = None, **entry: Any) -> None:
        """An entry of traceEvents as it stands, but for the unit of its times."""
        self.events.append(
            entry
            | {"ts": self._microseconds(ts)}
            | ({} if dur is None else {"dur": self._microseconds(dur)})
        )

    def document(self) -> dict[str, Any]:
        return {"schemaVersion": 1, **self.properties, "traceEvents": list(self.events)}

    def trace(self) -> Trace:
        return assemble(plain_reader.from_document(self.document()))

    def write(self, path: Path) -> Path:
        """The file, gzipped where its name says so."""
        content = json.dumps(self.document()).encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    def _host(
        self, category: str, name: str, start: int, length: int, thread: int, **arguments: Any
    ) -> None:
        self.add(ph="X", cat=category, name=name, pid=self.process, tid=thread, ts=start,
                 dur=length, args=arguments)  # fmt: skip

    def _microseconds(self, time: int) -> int | float:
        """Exact: a double holds thousandths up to 2^53 ns, three months."""
        whole, rest = divmod(time * self.unit, 1000)
        return whole if rest == 0 else time * self.unit / 1000
