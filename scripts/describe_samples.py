"""Write the tables of sample_traces/README.md from the recordings themselves.

python scripts/describe_samples.py            # print them
python scripts/describe_samples.py --write    # put them into the README
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

from traceview import kineto, units
from traceview.metrics.steps import steps
from traceview.units import Unit
from traceview.workload import Workload, declared

FOLDER = Path(__file__).parents[1] / "sample_traces"
README = FOLDER / "README.md"
BEGIN, END = "<!-- recordings: begin -->\n", "<!-- recordings: end -->\n"
HEADINGS = (
    "recording", "command", "first call", "CUDA events", "L2 flushed", "GPU busy in the trace",
    "peak allocated", "result",
)  # fmt: skip


def recordings() -> list[Path]:
    """All recordings, those of a folder together."""
    return sorted(FOLDER.rglob("*.json.gz"), key=lambda path: (path.parent, path.name))


def table() -> str:
    """One row a recording, as Markdown."""
    lines = [_line(HEADINGS), _line(["---"] * len(HEADINGS))]
    return "".join([*lines, *(_line(row(path)) for path in recordings())])


def row(path: Path) -> tuple[str, ...]:
    """What the README says of one recording."""
    trace = kineto.load(path)
    told = declared(trace.metadata.properties) or Workload()
    outside = told.outside
    frame = steps(trace)
    busy = int(frame.loc[frame["excluded"].isna(), "busy_ns"].mean())
    return (
        path.relative_to(FOLDER).as_posix(),
        f"`{told.command}`",
        units.text(outside.cold_start_ns, Unit.NS),
        _typical(outside.event_ns),
        _typical(outside.event_flushed_ns),
        units.text(busy, Unit.NS),
        units.text(told.recorded.peak_allocated_bytes, Unit.BYTES),
        told.numerics.verdict,
    )


def _typical(values: tuple[int, ...]) -> str:
    return units.text(round(median(values)), Unit.NS) if values else units.MISSING


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if not parser.parse_args().write:
        print(table(), end="")
        return
    text = README.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    README.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
