"""How long a trace takes to open, and how much memory, beside other ways to read it.

    python scripts/benchmark.py trace.json
    python scripts/benchmark.py sample_traces/attention_naive.json.gz --times 200
    python scripts/benchmark.py trace.json --growth

Each way runs in a process of its own, all ways in turn and several times; a row is the median. What
counts are ratios within one table: machines, and one machine at two times, differ. `call` is the
reading alone, `CPU` what it took of the processor (the figure to trust where other programs run),
`process` the interpreter, the imports and the reading, `peak` the most memory the process held,
pages mapped from files included. `--times` repeats the events of a small trace until it is a large
one; `--growth` reads the trace, and the same events twice, four and eight times over.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MEBIBYTE = 1 << 20
REFERENCE = "json.load"


@dataclass(frozen=True)
class Content:
    """How many events a file holds, and the frames that were made of it, if any."""

    events: int
    frames: tuple[Any, ...] = ()

    def held(self) -> int:
        """The bytes of the frames."""
        return sum(int(frame.memory_usage().sum()) for frame in self.frames)


Reader = Callable[[str], Content]


def with_json() -> Reader:
    """The standard library: parsed, no columns."""

    def reader(path: str) -> Content:
        with Path(path).open(encoding="utf-8") as file:
            return Content(len(json.load(file)["traceEvents"]))

    return reader


def with_orjson() -> Reader:
    """Parsed by orjson, no columns."""
    orjson = import_module("orjson")
    return lambda path: Content(len(orjson.loads(Path(path).read_bytes())["traceEvents"]))


def with_hta() -> Reader:
    """HolisticTraceAnalysis: its own reader."""
    trace = import_module("hta.common.trace")
    return lambda path: Content(len(trace.parse_trace_file(path)[1]))


def native_columns() -> Reader:
    """Typed columns of all that the file holds."""
    module = import_module("traceview.kineto.read")
    return lambda path: Content(len(module.read(path)))


def python_columns() -> Reader:
    """The same by the decoder that needs no compiler."""
    module = import_module("traceview.kineto.read")
    decoder = import_module("traceview.kineto.decode").PythonDecoder
    return lambda path: Content(len(module.read(path, decoder=decoder())))


def frames() -> Reader:
    """Columns, joined into the frames of a Trace."""
    load = import_module("traceview.kineto").load

    def reader(path: str) -> Content:
        trace = load(path)
        made = (trace.host, trace.device, trace.memory)
        return Content(sum(trace.metadata.events.values()), made)

    return reader


def frames_by_python() -> Reader:
    """The same by the decoder that needs no compiler."""
    vars(import_module("traceview.kineto.native"))["library"] = lambda: None
    return frames()


WAYS: Mapping[str, tuple[str, Callable[[], Reader]]] = {
    REFERENCE: ("json", with_json),
    "orjson": ("orjson", with_orjson),
    "HolisticTraceAnalysis": ("hta", with_hta),
    "columns, native": ("traceview", native_columns),
    "columns, Python": ("traceview", python_columns),
    "traceview.load": ("traceview", frames),
    "traceview.load, Python": ("traceview", frames_by_python),
}
"""The module that each way needs, and what imports it and makes the reader."""
COMPRESSED = "traceview.load, gzip"


@dataclass(frozen=True)
class Run:
    """One way, once."""

    events: int
    held: int
    call: float
    cpu: float
    process: float
    peak: int


def measured(way: str, path: Path) -> Run:
    """Read `path` in one way in a fresh process."""
    begin = time.perf_counter()
    command = [sys.executable, __file__, str(path), "--only", way]
    child = subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - this script
    process = time.perf_counter() - begin
    return Run(process=process, **json.loads(child.stdout))


def only(way: str, path: str) -> None:
    """Read, and print what it took: the fresh process of `measured`."""
    reader = WAYS[way][1]()
    begin, worked = time.perf_counter(), time.process_time()
    content = reader(path)
    call, cpu = time.perf_counter() - begin, time.process_time() - worked
    run = {"call": call, "cpu": cpu, "peak": peak(), "held": content.held()}
    print(json.dumps({"events": content.events, **run}))


def peak() -> int:
    """The most memory this process held, bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage counts the process that started this one, too
        (high,) = re.findall(r"VmHWM:\s*(\d+) kB", status.read_text(encoding="ascii"))
        return int(high) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def median(runs: list[Run]) -> Run:
    """The middle of each figure."""
    return Run(
        runs[0].events,
        runs[0].held,
        statistics.median(run.call for run in runs),
        statistics.median(run.cpu for run in runs),
        statistics.median(run.process for run in runs),
        int(statistics.median(run.peak for run in runs)),
    )


def compare(path: Path, repeats: int, folder: Path) -> None:
    """The table of all ways that are installed."""
    ways = [way for way, (module, _) in WAYS.items() if find_spec(module)]
    packed = folder / "trace.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), compresslevel=6))
    runs: dict[str, list[Run]] = {way: [] for way in [*ways, COMPRESSED]}
    for _ in range(repeats):
        for way in ways:
            runs[way].append(measured(way, path))
        runs[COMPRESSED].append(measured("traceview.load", packed))
    table({way: median(found) for way, found in runs.items()}, path.stat().st_size)


def table(rows: Mapping[str, Run], size: int) -> None:
    """Times and memory, and their ratios to json.load and to the size of the file."""
    reference = rows[REFERENCE]
    print(f"{size / MEBIBYTE:,.0f} MiB of JSON, {reference.events:,} events")
    print(f"{'way':24}{'call s':>9}{'ratio':>8}{'CPU s':>9}{'ratio':>8}{'process s':>11}"
          f"{'ratio':>8}{'peak MiB':>10}{'/ file':>8}")  # fmt: skip
    for way, run in rows.items():
        print(
            f"{way:24}{run.call:9.2f}{run.call / reference.call:8.3f}{run.cpu:9.2f}"
            f"{run.cpu / reference.cpu:8.3f}{run.process:11.2f}"
            f"{run.process / reference.process:8.3f}{run.peak / MEBIBYTE:10,.0f}"
            f"{run.peak / size:8.2f}"
        )


def grow(path: Path, repeats: int, folder: Path) -> None:
    """How time and memory grow with the number of events."""
    print(f"{'times':>6}{'MiB':>8}{'events':>12}{'CPU s':>9}{'us/event':>10}"
          f"{'peak MiB':>10}{'/ file':>8}{'frames, bytes/event':>21}")  # fmt: skip
    for times in (1, 2, 4, 8):
        larger = enlarged(path, times, folder)
        run = median([measured("traceview.load", larger) for _ in range(repeats)])
        size = larger.stat().st_size
        print(
            f"{times:6}{size / MEBIBYTE:8,.0f}{run.events:12,}{run.cpu:9.2f}"
            f"{1e6 * run.cpu / run.events:10.2f}{run.peak / MEBIBYTE:10,.0f}{run.peak / size:8.2f}"
            f"{run.held / run.events:21.0f}"
        )
        larger.unlink()


def enlarged(path: Path, times: int, folder: Path) -> Path:
    """A plain JSON file in `folder` that holds the events of the trace so many times over."""
    text = path.read_bytes()
    text = gzip.decompress(text) if path.suffix == ".gz" else text
    start = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"]")
    larger = folder / f"{times}.json"
    with larger.open("wb") as file:
        file.write(text[:start])
        for copy in range(times):
            file.write(b"," * (copy > 0) + text[start:end])
        file.write(text[end:])
    return larger


def main() -> None:
    """Parse the command line and run what it asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trace", type=Path, help="plain JSON or .gz, the larger the better")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--times", type=int, default=1, help="repeat its events so many times")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--only", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.trace.is_file():
        sys.exit(f"{options.trace}: there is no such file")
    if options.only:
        only(options.only, str(options.trace))
        return
    with tempfile.TemporaryDirectory() as folder:
        trace = enlarged(options.trace, options.times, Path(folder))
        trace = trace.rename(trace.with_name("trace.json"))
        action = grow if options.growth else compare
        action(trace, options.repeats, Path(folder))


if __name__ == "__main__":
    main()
