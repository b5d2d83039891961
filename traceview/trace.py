"""Trace: what one recording holds, as three frames and its metadata.

A Trace never changes. The frames it hands out are shallow copies, which pandas keeps from
reaching the original (copy on write), so that no analysis can disturb another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import schema as s
from traceview.intervals import Ints

Derived = TypeVar("Derived")

KERNEL, MEMCPY, MEMSET = "kernel", "gpu_memcpy", "gpu_memset"
WORK = (KERNEL, MEMCPY, MEMSET)
"""The categories of device work: what keeps a device busy."""
LAUNCHING = ("cuda_runtime", "cuda_driver", "xpu_runtime", "xpu_driver", "mtia_runtime",
             "privateuse1_runtime", "privateuse1_driver", "glow_runtime")  # fmt: skip
"""The categories of runtime and driver calls, which may launch device work."""
ANNOTATION = "user_annotation"
OP = "cpu_op"
FRAME = "python_function"
OVERHEAD = "overhead"
SYNC_RECORD = "cuda_sync"
"""The category of records that tell which stream a call waits for (format notes, 4.3)."""
STEP_PREFIX = "ProfilerStep"
"""How the annotations of the profiler's steps begin."""
MODULE_PREFIX = "nn.Module: "
"""How the Python frames of calls of modules begin."""
ALLOCATOR, OUT_OF_MEMORY = "[memory]", "[OutOfMemory]"
"""The names of memory events: an allocation or a free, and an allocation that failed."""
CPU = 0
"""c10 device type of the host's own memory."""
OPTIONS = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
VERSIONS = (
    "cuda_runtime_version", "cuda_driver_version", "cupti_version", "hip_runtime_version",
    "hip_driver_version", "roctracer_version", "rocprofiler-sdk_version", "xpupti_version",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader of the figures must know: a code, a sentence, how many, how long (ns)."""

    code: str
    text: str
    count: int | None = None
    ns: int | None = None


CUT_OFF = (
    frozenset({"cut_end"}),
    frozenset({"truncated_container"}),
    frozenset({"unclosed", "unclosed_object"}),
)
"""The codes of notes that tell together of a file that ends before its events do.

A list of events that stands alone need not be closed, and an object that is closed has ended.
"""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a file says apart from its events, and what reading it met.

    `origin_ns` is the file's own time at the trace's zero and `base_time_ns` the epoch time of
    the file's zero (None where the file does not tell); `resolution_ns` is 1000 where the file
    holds whole microseconds, so that a duration of 0 means "under a microsecond".
    `events` counts the entries of traceEvents by phase; `properties` holds all other top-level
    keys. `decoder` is what read the file: "native" or "python", and "" where none was read.
    """

    path: str | None = None
    base_time_ns: int | None = None
    origin_ns: int = 0
    resolution_ns: int = 1
    events: Mapping[str, int] = field(default_factory=dict)
    dropped: int = 0
    repaired: int = 0
    properties: Mapping[str, Any] = field(default_factory=dict)
    process_names: Mapping[str, str] = field(default_factory=dict)
    thread_names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    decoder: str = ""

    @property
    def cut_off(self) -> bool:
        """Whether the file ends before its events do, so that a part of them is missing."""
        codes = {note.code for note in self.notes}
        return any(signs <= codes for signs in CUT_OFF)

    @property
    def device_names(self) -> tuple[str, ...]:
        """The models of the devices, as the recording names them."""
        listed = self.properties.get("deviceProperties")
        devices = listed if isinstance(listed, list) else []
        names = (device.get("name") for device in devices if isinstance(device, Mapping))
        return tuple(sorted({str(name) for name in names if name}))

    @property
    def rank(self) -> int | None:
        """The rank of the process in a distributed job."""
        info = self.properties.get("distributedInfo")
        rank = info.get("rank") if isinstance(info, Mapping) else None
        if isinstance(rank, str) and rank.isdecimal():  # what saves a file again may write a text
            return int(rank)
        return rank if isinstance(rank, int) and not isinstance(rank, bool) else None

    @property
    def options(self) -> dict[str, bool]:
        """The profiler options that the recording states; torch states only those that are on."""
        return {name: bool(self.properties[name]) for name in OPTIONS if name in self.properties}

    @property
    def torch_version(self) -> str | None:
        """The version of torch, where whoever recorded it stored one; Kineto does not."""
        for holder in (self.properties.get("traceview"), self.properties):
            if isinstance(holder, Mapping):
                environment = holder.get("environment")
                inner = environment if isinstance(environment, Mapping) else holder
                for key in ("torch", "torch_version", "pytorch_version"):
                    if isinstance(inner.get(key), str):
                        return str(inner[key])
        return None

    @property
    def versions(self) -> dict[str, str]:
        """Versions of driver, runtime and tracing library, as the recording states them."""
        return {name: str(self.properties[name]) for name in VERSIONS if name in self.properties}


@dataclass(frozen=True, repr=False)
class Trace:
    """One recording: host events, device events, memory events, metadata.

    The frames follow the schemas HOST, DEVICE and MEMORY and are sorted by time; `device["launch"]`
    is the position in `host` of the call that launched a piece of work.
    """

    _host: pd.DataFrame
    _device: pd.DataFrame
    _memory: pd.DataFrame
    metadata: Metadata

    @property
    def host(self) -> pd.DataFrame:
        """Everything stamped by the host clock; columns as schema.HOST."""
        return self._host.copy(deep=False)

    @property
    def device(self) -> pd.DataFrame:
        """Everything stamped by a device: work, and annotation rows; columns as schema.DEVICE."""
        return self._device.copy(deep=False)

    @property
    def memory(self) -> pd.DataFrame:
        """Allocations and frees in order of time; columns as schema.MEMORY."""
        return self._memory.copy(deep=False)

    @property
    def work(self) -> pd.DataFrame:
        """Device work with a usable time: kernels, copies and memsets; columns as schema.DEVICE.

        Annotation rows are no work, and corrupt records are left out.
        """
        return self._work.copy(deep=False)

    @cached_property
    def _work(self) -> pd.DataFrame:
        device = self._device
        usable = device[s.CATEGORY].isin(WORK) & ~device[s.CORRUPT]
        return device[usable].reset_index(drop=True)

    @cached_property
    def leaked(self) -> NDArray[np.bool_]:
        """Which pieces of `work` were launched before the recording began.

        They have no launch in the file, and their correlation is smaller than that of any call of
        their process (format notes, 3.2.5). Other work without a launch lost its record.
        """
        work, host = self._work, self._host
        calls = host[host[s.CORRELATION].notna() & (host[s.CORRELATION] != 0)]
        first = calls.groupby(calls[s.PROCESS].astype("str"))[s.CORRELATION].min()
        limit = work[s.PROCESS].astype("str").map(first)
        keyed = (work[s.CORRELATION] != 0) & (work[s.CORRELATION] < limit)
        before = work[s.LAUNCH].isna() & keyed.fillna(value=False)
        return before.to_numpy(dtype=bool)

    @cached_property
    def fingerprint(self) -> str:
        """The same for two files of one recording, however they are stored or ordered."""
        digest = hashlib.sha256()
        for frame in (self._host, self._device.drop(columns=s.LAUNCH), self._memory):
            rows = pd.util.hash_pandas_object(frame, index=False).to_numpy()
            digest.update(np.sort(rows).tobytes())
        properties = json.dumps(self.metadata.properties, sort_keys=True, default=str)
        digest.update(properties.encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def derived(self, make: Callable[..., Derived], *of: str) -> Derived:
        """What `make(trace, *of)` derives from this trace, made once and then kept with it.

        For what several analyses are built on and nobody changes; a frame is handed out anew.
        """
        key = (make, *of)
        if key not in self._derived:
            self._derived[key] = make(self, *of)
        found: Derived = self._derived[key]
        return found

    @cached_property
    def _derived(self) -> dict[tuple[Any, ...], Any]:
        return {}

    def host_of(
        self, *categories: str, called: Callable[[str], bool] | None = None
    ) -> pd.DataFrame:
        """The host events of these categories, with their positions in `host` as the index.

        `called` picks those whose name it holds for; it is asked once a distinct name.
        """
        chosen = _holding(self._host[s.CATEGORY], lambda category: category in categories)
        if called is not None:
            chosen = chosen & named(self._host, called)
        return self._host[chosen]

    def __repr__(self) -> str:
        devices = np.unique(self._work[s.DEVICE_ID])
        return (
            f"<Trace {self.metadata.path or 'in memory'}: {len(self._host):,} host events, "
            f"{len(self._work):,} pieces of device work on {len(devices)} device(s), "
            f"{len(self._memory):,} memory events>"
        )


def extent(events: pd.DataFrame) -> tuple[Ints, Ints]:
    """Begin and end of each event, ns."""
    begin = events[s.START_NS].to_numpy()
    return begin, begin + events[s.DURATION_NS].to_numpy()


def of_accelerators(memory: pd.DataFrame) -> pd.DataFrame:
    """The rows of memory devices that are not the host's own memory."""
    return memory[(memory[s.DEVICE_TYPE] != CPU).to_numpy()]


def named(events: pd.DataFrame, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Which events bear a name for which `holds` is true; it is asked once a distinct name."""
    return _holding(events[s.NAME], holds)


def _holding(texts: pd.Series, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Where `holds` is true of a text; never of a missing one, whose code is -1."""
    member = np.array([*(holds(str(text)) for text in texts.cat.categories), False], dtype=bool)
    return member.take(texts.cat.codes.to_numpy(), mode="wrap")
