"""Figures: drawn on what is given, with units, from frames; nothing to draw is said."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from builders import TraceBuilder
from cli.commandline import traceview
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from traceview import plots
from traceview import schema as s
from traceview.diff import diff
from traceview.metrics.gaps import gaps, idle
from traceview.metrics.kernels import kernels
from traceview.metrics.launches import launches
from traceview.metrics.memory import memory_at_peak, memory_timeline
from traceview.metrics.roofline import roofline
from traceview.metrics.steps import steps
from traceview.peaks import peak_of
from traceview.trace import Trace

DRAWN = ("steps", "idle_by_cause", "gap_lengths", "launch_latency", "queue_depth", "kernels")


def recording(length: int = 30) -> Trace:
    """Three steps of a kernel each."""
    t = TraceBuilder()
    for number in range(3):
        at = 100 * number
        t.step(number, at, 90)
        t.launch(at + 10, "void $gemm<float>", at + 20, length)
    return t.trace()


def frames(trace: Trace) -> dict[str, pd.DataFrame]:
    """The frame that each figure takes."""
    return {
        "steps": steps(trace),
        "idle_by_cause": idle(trace),
        "gap_lengths": gaps(trace),
        "launch_latency": launches(trace),
        "queue_depth": launches(trace),
        "kernels": kernels(trace),
    }


def axes_of(figure: Figure) -> Axes:
    figure.draw_without_rendering()
    (axes,) = figure.axes
    return axes


@pytest.mark.parametrize("name", DRAWN)
def test_sides_are_drawn_on_the_axes_that_are_given(name: str) -> None:
    mine = Figure().add_subplot()
    sides = {"before": frames(recording())[name], "after": frames(recording(50))[name]}
    assert getattr(plots, name)(sides, mine) is mine.figure
    axes = axes_of(mine.figure)
    assert axes.get_xlabel()
    assert "(" in axes.get_xlabel() + axes.get_ylabel(), "a unit"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["before", "after"]


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_to_draw_is_said(name: str) -> None:
    axes = axes_of(getattr(plots, name)({"empty": frames(TraceBuilder().trace())[name]}))
    assert axes.texts[0].get_text().startswith("no")


def test_the_waterfall_adds_up() -> None:
    compared = diff(recording(), recording(50))
    before, after = (int(compared.attribution[c].sum()) for c in (s.BEFORE_NS, s.AFTER_NS))
    axes = axes_of(plots.waterfall(compared.attribution, before))
    texts = [text.get_text() for text in axes.texts]
    assert (texts[0], texts[-1]) == (f"{before / 1000:.2f} us", f"{after / 1000:.2f} us")
    changes = [float(text.split()[0]) for text in texts[1:-1]]
    assert sum(changes) == pytest.approx((after - before) / 1000, abs=0.011)


def test_memory_names_the_owners_of_the_peak(shared: Path) -> None:
    from traceview.kineto import load  # noqa: PLC0415 -- only where there are recordings

    trace = load(shared / "h200" / "attn_naive.pt.trace.json.gz")
    axes = axes_of(plots.memory(memory_timeline(trace), memory_at_peak(trace)))
    assert axes.get_title(loc="left").startswith("peak 2.16 GiB\n")
    frame = roofline(trace)
    assert axes_of(plots.roofline(frame, peak_of(trace.metadata.device_names))).lines


def test_the_command_writes_the_same_file_again(tmp_path: Path) -> None:
    t = TraceBuilder()
    t.step(0, 0, 90)
    t.launch(10, "gemm", 20, 30)
    file = tmp_path / "trace.json"
    t.write(file)
    for ending in ("png", "svg"):
        drawn = [tmp_path / f"{name}.{ending}" for name in "ab"]
        for target in drawn:
            ended = traceview("plot", file, "--what", "kernels", "-o", target)
            assert (ended.returncode, ended.stderr) == (0, "")
        assert drawn[0].read_bytes()[:4] in (b"\x89PNG", b"<?xm")
    assert "names no format" in traceview("plot", file, "-o", tmp_path / "a.pdf").stderr


def test_nothing_loads_matplotlib_but_a_plot() -> None:
    code = (
        "import sys, traceview; traceview.show; traceview.gaps; print('matplotlib' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout == "False\n"
