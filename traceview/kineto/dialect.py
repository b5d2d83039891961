"""Names by age, vendor and framework, mapped to the present ones of Kineto (format notes, 2.3, 5).

Whatever recorded a file, its host events come out as host events, its device work as `kernel`,
`gpu_memcpy` and `gpu_memset` with a device and a stream, and pairs of begin and end as complete
events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from traceview.kineto import ascend, xprof
from traceview.kineto.columns import Events, Texts
from traceview.kineto.pairing import paired
from traceview.kineto.tracks import Tracks, recategorized
from traceview.trace import Note

_CATEGORIES: Final = {
    "operator": "cpu_op",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "runtime": "cuda_runtime",
    "user": "gpu_user_annotation",
    "python": "python_function",
    "net": "trace",
    "async": "ac2g",
    "async_gpu": "ac2g",
    "async_cpu_to_gpu": "ac2g",
    "forward_backward": "fwdbwd",
}
"""Earlier category names, in lower case."""
_KINETO: Final = frozenset(
    {"cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver",
     "cpu_instant_event", "user_annotation", "gpu_user_annotation", "mtia_runtime",
     "mtia_ccp_events", "hpu_op", "glow_runtime", "xpu_runtime", "xpu_driver",
     "privateuse1_runtime", "privateuse1_driver", "cuda_sync", "ac2g"}
)  # fmt: skip
"""Categories that only a recording of PyTorch has."""


@dataclass(frozen=True, slots=True)
class _Rename:
    """Events of a category whose names tell that they are something else."""

    category: str
    name: re.Pattern[str]
    present: str
    only_without: str = ""


_RENAMES: Final = (
    # Ranges were operators before they had a category of their own (format notes, 2.3).
    _Rename("cpu_op", re.compile(r"ProfilerStep#?\d+|ProfilerStep\*?"), "user_annotation"),
    _Rename(
        "cpu_op",
        re.compile(r"Optimizer\.(?:step|zero_grad)#.*|enumerate\(DataLoader\)#.*"),
        "user_annotation",
        only_without="user_annotation",
    ),
    # ROCm 7 labels copies as kernels; XPU repeats kernels with their counters (format notes, 5).
    _Rename("kernel", re.compile(r"MEMORY_COPY_.*|__amd_rocclr_copyBuffer.*"), "gpu_memcpy"),
    _Rename("kernel", re.compile(r"__amd_rocclr_fillBuffer.*"), "gpu_memset"),
    _Rename("kernel", re.compile(r"metrics: .*"), "kernel_metrics"),
)


def canonical(category: str) -> str:
    """The present name of a category, in lower case as recorders of all ages are read."""
    lowered = category.lower()
    return _CATEGORIES.get(lowered, lowered)


def translated(events: Events) -> Events:
    """`events` with present categories and complete events only, and a note on its dialect."""
    events = _renamed(replace(events, category=_canonical(events.category)))
    for recognize, translate, words in _DIALECTS:
        tracks = Tracks.of(events)
        if recognize(tracks):
            return _noted(paired(translate(events, tracks)), words)
    events = paired(events)
    return events if _is_kineto(events) else _noted(events, _CHROME)


_CHROME: Final = (
    "a Chrome trace that PyTorch did not record: its events are shown as host events; it names no "
    "operators, launches or device work"
)
_Translation = Callable[[Events, Tracks], Events]
_DIALECTS: Final[tuple[tuple[Callable[[Tracks], bool], _Translation, str], ...]] = (
    (ascend.recognized, ascend.translated, ascend.MEANING),
    (xprof.recognized, xprof.translated, xprof.MEANING),
)


def _noted(events: Events, words: str) -> Events:
    return replace(events, notes=(*events.notes, Note("dialect", words)))


def _is_kineto(events: Events) -> bool:
    return (
        not len(events)
        or "schemaVersion" in events.properties
        or not _KINETO.isdisjoint(events.category.values)
    )


def _canonical(category: Texts) -> Texts:
    return _merged(category.codes, (canonical(value) for value in category.values))


def _merged(codes: NDArray[np.int32], values: Iterable[str]) -> Texts:
    """Codes of values that may have become equal, as codes of distinct ones."""
    code_of: dict[str, int] = {}
    new = [code_of.setdefault(value, len(code_of)) for value in values]
    return Texts(np.array([*new, -1], dtype=np.int32)[codes], tuple(code_of))


def _renamed(events: Events) -> Events:
    before = events.category
    for rename in _RENAMES:
        if rename.category not in before.values or rename.only_without in before.values:
            continue
        named = [rename.name.fullmatch(name) is not None for name in events.name.values]
        if any(named):
            hit = np.array([*named, False], dtype=np.bool_)[events.name.codes]
            hit &= before.codes == before.values.index(rename.category)
            events = recategorized(events, hit, rename.present)
    return events
