"""Write the table of the samples' README from the recordings themselves.

python scripts/describe_samples.py            # print it
python scripts/describe_samples.py --write    # put it into the README
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

from traceview import kineto, units
from traceview import schema as s
from traceview.metrics.steps import steps
from traceview.units import Unit
from traceview.workload import Workload, declared

SAMPLES = Path(__file__).parents[1] / "sample_traces"
BEGIN, END = "<!-- recordings: begin -->\n", "<!-- recordings: end -->\n"
HEADINGS = (
    "recording", "command", "first call", "CUDA events", "L2 flushed", "GPU busy in the trace",
    "peak allocated", "result",
)  # fmt: skip


def table(folder: Path) -> str:
    """One row a recording, as Markdown."""
    paths = sorted(folder.rglob("*.json.gz"), key=lambda path: (path.parent, path.name))
    rows = [row(path.relative_to(folder).as_posix(), path) for path in paths]
    return "".join(map(_line, (HEADINGS, ("---",) * len(HEADINGS), *rows)))


def row(name: str, path: Path) -> tuple[str, ...]:
    """What the README says of one recording."""
    trace = kineto.load(path)
    told = declared(trace.metadata.properties) or Workload()
    outside = told.outside
    frame = steps(trace)
    busy = int(frame.loc[frame[s.EXCLUDED].isna(), s.BUSY_NS].mean())
    return (
        name,
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


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"


def described(readme: str, folder: Path) -> str:
    """The README with the table of the recordings in this folder."""
    before, _, rest = readme.partition(BEGIN)
    return f"{before}{BEGIN}{table(folder)}{END}{rest.partition(END)[2]}"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLES)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if not arguments.write:
        print(table(arguments.folder), end="")
        return
    readme = arguments.folder / "README.md"
    text = described(readme.read_text(encoding="utf-8"), arguments.folder)
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
