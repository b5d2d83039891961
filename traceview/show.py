"""Every report as a function that returns its text, in any of the formats of the command line.

text        for a terminal, `width` cells wide
markdown    for a pull request
html        one page for a browser, with pictures and a timeline
json        the contract that other programs rely on
csv         all rows, raw integers of ns and bytes
"""
# ruff: noqa: A002 -- `format` is the word that users know from the command line

from collections.abc import Mapping

from traceview.diff import diff as compare
from traceview.render import render
from traceview.report import annotations as annotations_report
from traceview.report import critical_path as critical_path_report
from traceview.report import diff as diff_report
from traceview.report import doctor as doctor_report
from traceview.report import gaps as gaps_report
from traceview.report import kernels as kernels_report
from traceview.report import launches as launches_report
from traceview.report import memory as memory_report
from traceview.report import modules as modules_report
from traceview.report import ops as ops_report
from traceview.report import roofline as roofline_report
from traceview.report import snapshot as snapshot_report
from traceview.report import stacks as stacks_report
from traceview.report import steps as steps_report
from traceview.report import summary as summary_report
from traceview.report import syncs as syncs_report
from traceview.snapshot import Snapshot
from traceview.trace import Trace


def summary(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say whether the GPU does useful work, and what it waits for."""
    return render(summary_report.document(trace), format, width=width)


def diff(
    before: Trace,
    after: Trace,
    format: str = "text",
    *,
    width: int = 80,
    margins: Mapping[str, float] | None = None,
) -> str:
    """Say what changed, where it comes from, and whether it is real; margins are shares of one."""
    compared = compare(before, after, margins=margins)
    return render(diff_report.document(compared), format, width=width)


def gaps(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say what the GPU waits for while it is idle."""
    return render(gaps_report.document(trace), format, width=width)


def launches(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say what the launches cost the host, and whether they keep the GPU fed."""
    return render(launches_report.document(trace), format, width=width)


def syncs(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say where the host waits for the GPU."""
    return render(syncs_report.document(trace), format, width=width)


def memory(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say how high the peak is, and what was alive at it."""
    return render(memory_report.document(trace), format, width=width)


def kernels(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say which kernels keep the GPU busy."""
    return render(kernels_report.document(trace), format, width=width)


def steps(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say how long a step is, and whether the steps agree."""
    return render(steps_report.document(trace), format, width=width)


def ops(trace: Trace, format: str = "text", *, width: int = 80, shapes: bool = False) -> str:
    """Say which ops take the time, on the host and on the GPU."""
    return render(ops_report.document(trace, shapes=shapes), format, width=width)


def modules(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say which nn.Modules take the time."""
    return render(modules_report.document(trace), format, width=width)


def annotations(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say which annotated regions take the time."""
    return render(annotations_report.document(trace), format, width=width)


def stacks(trace: Trace, format: str = "text", *, width: int = 80, host: bool = False) -> str:
    """Say which lines of Python take the time; `folded` text is for flame graphs."""
    return render(stacks_report.document(trace, host=host), format, width=width)


def roofline(
    trace: Trace,
    format: str = "text",
    *,
    width: int = 80,
    peaks: Mapping[str, float] | None = None,
) -> str:
    """Say how near matrix products, convolutions and attention come to the GPU's peak."""
    return render(roofline_report.document(trace, peaks=peaks), format, width=width)


def critical_path(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say what would have to be faster for a step to be shorter."""
    return render(critical_path_report.document(trace), format, width=width)


def doctor(trace: Trace, format: str = "text", *, width: int = 80) -> str:
    """Say what the recording is, whether it is sound, and what can be computed from it."""
    return render(doctor_report.document(trace), format, width=width)


def snapshot(taken: Snapshot, format: str = "text", *, width: int = 80) -> str:
    """Say how high the memory of a snapshot (`traceview.snapshot.load`) got, and who held it."""
    return render(snapshot_report.document(taken), format, width=width)
