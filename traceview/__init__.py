"""What changed between two PyTorch-profiler traces, and is it real.

    A metric is a function from a Trace to a frame.

Loading ends at `Trace`, reporting starts at frames, and a diff is the same metric on two traces.

    trace = traceview.load("trace.json.gz")
    traceview.devices(trace)                  # a DataFrame: busy, idle, ... of each device
    compared = traceview.diff(trace, traceview.load("after.json.gz"))
    compared.quantities                       # a DataFrame: before, after, ratio, verdict
    print(traceview.show.summary(trace))      # the reports of the command line, as text

The columns of each frame, with dtype, unit and meaning, are in `traceview.schema`; figures drawn
from frames are in `traceview.plots`, which has to be imported, and so is `traceview.overlay`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traceview import show, snapshot, store
    from traceview.diff import TraceDiff, diff
    from traceview.errors import TraceviewError
    from traceview.kineto import load
    from traceview.metrics.attribution import (
        annotations,
        folded,
        kinds,
        modules,
        ops,
        owner_coverage,
        stacks,
    )
    from traceview.metrics.coverage import coverage
    from traceview.metrics.critical_path import (
        critical_path,
        critical_path_ops,
        critical_path_parts,
    )
    from traceview.metrics.gaps import gap_parts, gaps, idle, idle_sites
    from traceview.metrics.kernels import kernels
    from traceview.metrics.launches import launch_apis, launch_owners, launches, queue
    from traceview.metrics.memory import (
        memory_at_peak,
        memory_failures,
        memory_peaks,
        memory_steps,
        memory_timeline,
    )
    from traceview.metrics.roofline import roofline
    from traceview.metrics.steps import steps
    from traceview.metrics.syncs import sync_sites, syncs
    from traceview.metrics.utilization import devices, streams
    from traceview.metrics.views import recorded, views
    from traceview.owners import owners
    from traceview.trace import Trace

__all__ = [
    "Trace",
    "TraceDiff",
    "TraceviewError",
    "annotations",
    "coverage",
    "critical_path",
    "critical_path_ops",
    "critical_path_parts",
    "devices",
    "diff",
    "folded",
    "gap_parts",
    "gaps",
    "idle",
    "idle_sites",
    "kernels",
    "kinds",
    "launch_apis",
    "launch_owners",
    "launches",
    "load",
    "memory_at_peak",
    "memory_failures",
    "memory_peaks",
    "memory_steps",
    "memory_timeline",
    "modules",
    "ops",
    "owner_coverage",
    "owners",
    "queue",
    "recorded",
    "roofline",
    "show",
    "snapshot",
    "stacks",
    "steps",
    "store",
    "streams",
    "sync_sites",
    "syncs",
    "views",
]

_HOMES = {
    "traceview.diff": ("diff", "TraceDiff"),
    "traceview.errors": ("TraceviewError",),
    "traceview.kineto": ("load",),
    "traceview.metrics.attribution": (
        "annotations", "folded", "kinds", "modules", "ops", "owner_coverage", "stacks",
    ),
    "traceview.metrics.coverage": ("coverage",),
    "traceview.metrics.critical_path": (
        "critical_path", "critical_path_ops", "critical_path_parts",
    ),
    "traceview.metrics.gaps": ("gaps", "gap_parts", "idle", "idle_sites"),
    "traceview.metrics.kernels": ("kernels",),
    "traceview.metrics.launches": ("launches", "launch_apis", "launch_owners", "queue"),
    "traceview.metrics.memory": (
        "memory_at_peak", "memory_failures", "memory_peaks", "memory_steps", "memory_timeline",
    ),
    "traceview.metrics.roofline": ("roofline",),
    "traceview.metrics.steps": ("steps",),
    "traceview.metrics.syncs": ("syncs", "sync_sites"),
    "traceview.metrics.utilization": ("devices", "streams"),
    "traceview.metrics.views": ("recorded", "views"),
    "traceview.owners": ("owners",),
    "traceview.trace": ("Trace",),
}  # fmt: skip
_MODULES = ("show", "snapshot", "store")
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def _public(name: str) -> Any:
    """Import a public name when it is first asked for: pandas takes longer than `--help` may."""
    if name in _MODULES:
        return import_module(f"traceview.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker that saw it would take every name for a public one
    __getattr__ = _public


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `traceview.diff` the function, although the package that it lives in has its name.

    Importing a module also sets it as an attribute of its parent; here that is passed over for a
    public name. What lies in that package is reached with `from traceview.diff import ...`.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
