"""Every column of every frame: its name, dtype, unit and meaning.

A column is a constant of this module, usable wherever pandas takes a name (`frame[BUSY_NS]`), so
that a typo is an error before anything runs. Times are int64 nanoseconds from the trace's own
start, sizes int64 bytes; what may be missing has a nullable dtype and is missing, never -1 or 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from traceview.errors import ColumnError
from traceview.units import Unit


class Column(str):
    """The name of a column that knows its dtype, unit and meaning."""

    __slots__ = ("dtype", "meaning", "unit")
    dtype: str
    unit: Unit
    meaning: str

    def __new__(cls, name: str, dtype: str, unit: Unit, meaning: str) -> Self:
        """A column of this name, which is all that pandas sees of it."""
        column = super().__new__(cls, name)
        column.dtype, column.unit, column.meaning = dtype, unit, meaning
        return column


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one kind of frame, in order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def frame(self, values: Mapping[Column, Any], *, copy: bool = True) -> pd.DataFrame:
        """A frame of exactly these columns, with exactly their dtypes, from arrays of one length.

        Without `copy` it takes the arrays themselves, which nobody else may then hold. Raises
        ColumnError when a column is missing from `values`.
        """
        missing = [column for column in self.columns if column not in values]
        if missing:
            raise ColumnError(self.name, missing=missing, found=values)
        return pd.DataFrame(
            {str(column): _typed(values[column], column.dtype) for column in self.columns},
            copy=copy,
        )

    def of_rows(self, rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
        """A frame of these rows, each with a value a column, in the order of the columns."""
        return self.frame({c: [row[i] for row in rows] for i, c in enumerate(self.columns)})

    def empty(self) -> pd.DataFrame:
        """A frame of no rows."""
        return self.frame({column: [] for column in self.columns})

    def check(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame itself, if it has exactly these columns, in any order, of these dtypes.

        Raises ColumnError that names the columns that are missing, not expected or of another type.
        """
        expected = {str(column): column for column in self.columns}
        missing = expected.keys() - set(frame.columns)
        extra = [str(name) for name in frame.columns if name not in expected]
        mistyped = [
            f"{name} ({frame[name].dtype}, not {column.dtype})"
            for name, column in expected.items()
            if name in frame and not _is_of(frame[name].dtype, column.dtype)
        ]
        if missing or extra or mistyped:
            found = map(str, frame.columns) if missing else ()
            raise ColumnError(
                self.name, missing=missing, extra=extra, mistyped=mistyped, found=found
            )
        return frame


def _is_of(dtype: Any, expected: str) -> bool:
    if expected == "category":
        return isinstance(dtype, pd.CategoricalDtype)
    return bool(dtype == pd.api.types.pandas_dtype(expected))


def _typed(values: Any, dtype: str) -> Any:
    """`values` as an array of `dtype`, without a copy where it already is one."""
    if isinstance(values, pd.Series):
        values = values.array
    if dtype == "category":
        return values if isinstance(values, pd.Categorical) else pd.Categorical(values)
    if dtype in _PLAIN and isinstance(values, np.ndarray):
        return values.astype(dtype, copy=False)
    return pd.array(values, dtype=dtype, copy=False)


_PLAIN = ("int64", "float64", "bool")
"""Dtypes of numpy itself."""


_NS, _BYTES, _COUNT, _ID, _TEXT = Unit.NS, Unit.BYTES, Unit.COUNT, Unit.ID, Unit.TEXT

# What events have in common.
NAME = Column("name", "category", _TEXT, "name of the event, as recorded")
CATEGORY = Column("category", "category", _TEXT, "canonical category: cpu_op, kernel, ...")
PROCESS = Column("process", "category", _TEXT, "process that made the event")
THREAD = Column("thread", "category", _TEXT, "thread of that process")
START_NS = Column("start_ns", "int64", _NS, "begin, from the trace's own start")
DURATION_NS = Column("duration_ns", "int64", _NS, "length")
CORRELATION = Column("correlation", "Int64", _ID, "joins a launch and the work it launched")
EXTERNAL_ID = Column("external_id", "Int64", _ID, "id that torch gave the op, as recorded")

# Host events.
SEQUENCE_NUMBER = Column("sequence_number", "Int64", _ID, "joins an op and its backward op")
FORWARD_THREAD = Column(
    "forward_thread", "Int64", _ID, "thread of the forward op; 0 on forward ops"
)
INPUT_DIMS = Column("input_dims", "category", _TEXT, "shapes of the inputs, as recorded (JSON)")
INPUT_TYPES = Column("input_types", "category", _TEXT, "types of the inputs, as recorded (JSON)")
CONCRETE_INPUTS = Column("concrete_inputs", "category", _TEXT, "scalar inputs, as recorded (JSON)")
CALL_STACK = Column("call_stack", "category", _TEXT, "Python stack of an op, `;` between frames")
MODULES = Column("module_hierarchy", "category", _TEXT, "nn.Module path of an op")
PYTHON_ID = Column("python_id", "Int64", _ID, "id of a Python frame")
PYTHON_PARENT_ID = Column("python_parent_id", "Int64", _ID, "id of the frame that called it")
PYTHON_MODULE_ID = Column("python_module_id", "Int64", _ID, "id of the nn.Module being called")
WAITS_ON_STREAM = Column("wait_on_stream", "Int64", _ID, "stream whose event is waited for")
WAITS_ON_EVENT = Column(
    "wait_on_event_correlation", "Int64", _ID, "correlation of the record call of that event"
)

# Device events.
DEVICE_ID = Column("device", "int64", _ID, "device that ran it")
STREAM = Column("stream", "Int64", _ID, "stream of that device")
LAUNCH = Column("launch", "Int64", _ID, "position in the host frame of the launching call")
BYTES_MOVED = Column("bytes", "Int64", _BYTES, "bytes copied or set")
GRID = Column("grid", "category", _TEXT, "grid of a kernel, as recorded (JSON)")
BLOCK = Column("block", "category", _TEXT, "block of a kernel, as recorded (JSON)")
REGISTERS = Column("registers_per_thread", "Int64", _COUNT, "registers of one thread")
SHARED_MEMORY = Column("shared_memory_bytes", "Int64", _BYTES, "static and dynamic shared memory")
OCCUPANCY = Column(
    "occupancy_percent", "Int64", _COUNT, "estimated achieved occupancy, per cent, as recorded"
)
GRAPH_ID = Column("graph_id", "Int64", _ID, "CUDA graph; 0 for none")
GRAPH_NODE_ID = Column("graph_node_id", "Int64", _ID, "node of that graph")
CORRUPT = Column("corrupt", "bool", Unit.FLAG, "has an impossible time and is in no figure")

# Memory events.
TIME_NS = Column("time_ns", "int64", _NS, "when, from the trace's own start")
DEVICE_TYPE = Column("device_type", "int64", _ID, "c10 device type: 0 CPU, 1 CUDA, 6 HIP, ...")
MEMORY_DEVICE = Column("device_id", "int64", _ID, "device index within its type; -1 for the CPU")
ADDRESS = Column("address", "UInt64", _ID, "address of the block")
BYTES = Column("bytes", "int64", _BYTES, "size; positive allocates, negative frees")
ALLOCATED = Column("allocated_bytes", "Int64", _BYTES, "allocated on the device after the event")
RESERVED = Column("reserved_bytes", "Int64", _BYTES, "reserved by the allocator after the event")

HOST = Schema(
    "host",
    "one row a host event, by start, the longest first",
    (NAME, CATEGORY, PROCESS, THREAD, START_NS, DURATION_NS, CORRELATION, EXTERNAL_ID,
     SEQUENCE_NUMBER, FORWARD_THREAD, INPUT_DIMS, INPUT_TYPES, CONCRETE_INPUTS, CALL_STACK, MODULES,
     PYTHON_ID, PYTHON_PARENT_ID, PYTHON_MODULE_ID, STREAM, WAITS_ON_STREAM, WAITS_ON_EVENT),
)  # fmt: skip
DEVICE = Schema(
    "device",
    "one row a device event, by start, the longest first",
    (NAME, CATEGORY, DEVICE_ID, STREAM, PROCESS, START_NS, DURATION_NS, CORRELATION, EXTERNAL_ID,
     LAUNCH, BYTES_MOVED, GRID, BLOCK, REGISTERS, SHARED_MEMORY, OCCUPANCY, GRAPH_ID, GRAPH_NODE_ID,
     CORRUPT),
)  # fmt: skip
MEMORY = Schema(
    "memory",
    "one row an allocation or a free, by time",
    (NAME, PROCESS, THREAD, TIME_NS, DEVICE_TYPE, MEMORY_DEVICE, ADDRESS, BYTES, ALLOCATED,
     RESERVED),
)  # fmt: skip

# Metrics.
END_NS = Column("end_ns", "int64", _NS, "end, from the trace's own start")
WINDOW_NS = Column("window_ns", "int64", _NS, "first start to last end of the device's work")
BUSY_NS = Column("busy_ns", "int64", _NS, "union of device work; of a kernel its exclusive share")
IDLE_NS = Column("idle_ns", "int64", _NS, "window less busy")
KERNEL_NS = Column("kernel_ns", "int64", _NS, "union of kernels")
MEMCPY_NS = Column("memcpy_ns", "int64", _NS, "union of copies")
MEMSET_NS = Column("memset_ns", "int64", _NS, "union of memsets")
COMMUNICATION_NS = Column("communication_ns", "int64", _NS, "union of communication kernels")
EXPOSED_COMMUNICATION_NS = Column(
    "exposed_communication_ns", "int64", _NS, "communication while no other kernel runs"
)
EVENTS = Column("events", "int64", _COUNT, "pieces of device work")
UNLINKED_EVENTS = Column("unlinked_events", "int64", _COUNT, "of these, with no launch in the file")
UNLINKED_NS = Column("unlinked_ns", "int64", _NS, "union of unlinked work")

STEP = Column("step", "string", _TEXT, "name of the step")
SOURCE = Column("source", "string", _TEXT, "what marks the step: profiler_step or annotation")
HOST_NS = Column("host_ns", "int64", _NS, "host range; of launches their host time")
DEVICE_PERIOD_NS = Column(
    "device_period_ns", "Int64", _NS,
    "last device end of the step less that of the one before; missing where that is cut off",
)  # fmt: skip
DEVICE_END_NS = Column("device_end_ns", "Int64", _NS, "last end of the work launched in the step")
DEVICE_EVENTS = Column("device_events", "int64", _COUNT, "pieces of device work launched in it")
LAUNCHES = Column("launches", "int64", _COUNT, "launch calls in it")
EXCLUDED = Column("excluded", "string", _TEXT, "why the step does not count; missing if it does")

GAP = Column("gap", "int64", _ID, "number of the gap, by device and time")
CAUSE = Column("cause", "string", _TEXT, "what the device waited for")
NS = Column("ns", "int64", _NS, "how long")
GAPS = Column("gaps", "int64", _COUNT, "gaps that have a part of this cause")
ENDED_BY = Column("ended_by", "string", _TEXT, "name of the work that ended the gap")
LAUNCH_CALL = Column("launch_call", "string", _TEXT, "call that launched that work")
CALL = Column("call", "string", _TEXT, "name of the runtime or driver call")
OP = Column("op", "string", _TEXT, "innermost op around it on its thread")
ANNOTATION = Column("annotation", "string", _TEXT, "innermost annotation around it on its thread")
FRAME = Column("python_frame", "string", _TEXT, "innermost Python frame around it, if recorded")

LATENCY_NS = Column(
    "latency_ns",
    "Int64",
    _NS,
    "start of the first work less start of the call; missing if negative",
)
QUEUE_DEPTH = Column("queue_depth", "int64", _COUNT, "work launched before and not yet started")
BACK_PRESSURE_NS = Column(
    "back_pressure_ns", "int64", _NS, "time in launch calls while the device was saturated"
)
WORK_NS = Column("work_ns", "int64", _NS, "union of the work that the calls launched")
SHORTER = Column(
    "shorter", "int64", _COUNT, "calls that took longer than their work, back-pressure aside"
)
LAUNCH_ANNOTATIONS = Column(
    "annotation_path", "string", _TEXT, "annotations around the calls, as owners have them"
)
DEPTH = Column("queue_depth", "int64", _COUNT, "work launched and not yet started, from then on")
MEDIAN_LATENCY_NS = Column("median_latency_ns", "Int64", _NS, "median launch latency")
COUNT = Column("count", "int64", _COUNT, "how many")

KIND = Column("kind", "string", _TEXT, "synchronize, blocking_copy or pageable_copy")
BLOCKED_NS = Column("blocked_ns", "int64", _NS, "host time in the blocking call")
DEVICE_BUSY_NS = Column("device_busy_ns", "int64", _NS, "of it, while a device worked")
DEVICE_IDLE_NS = Column("device_idle_ns", "int64", _NS, "of it, while all devices were idle")

PEAK_ALLOCATED = Column("peak_allocated_bytes", "Int64", _BYTES, "most allocated at one time")
BASELINE = Column("baseline_bytes", "Int64", _BYTES, "allocated before the first event")
PEAK_RESERVED = Column("peak_reserved_bytes", "Int64", _BYTES, "most reserved at one time")
PEAK_AT_NS = Column("peak_at_ns", "Int64", _NS, "when the peak was first reached")
GROUP = Column("group", "string", _TEXT, "op and annotation that allocated what is alive")
HELD = Column("bytes", "int64", _BYTES, "alive at the peak")

FRAGMENTATION = Column(
    "fragmentation_bytes", "Int64", _BYTES, "reserved and not allocated: reserved - allocated"
)
UNKNOWN_FREES = Column(
    "unknown_frees", "int64", _COUNT, "frees of blocks whose allocation is not recorded"
)
UNKNOWN_FREED = Column("unknown_freed_bytes", "int64", _BYTES, "what these freed")
AT_BEGIN = Column("begin_bytes", "Int64", _BYTES, "allocated at the begin of the step")
AT_END = Column("end_bytes", "Int64", _BYTES, "allocated at the end of the step")
ALLOCATIONS = Column("allocations", "int64", _COUNT, "allocations in the step")
FREES = Column("frees", "int64", _COUNT, "frees in the step")
CHURN_ALLOCATED = Column("allocated_in_step_bytes", "int64", _BYTES, "allocated in the step")
CHURN_FREED = Column("freed_in_step_bytes", "int64", _BYTES, "freed in the step")
TEMPORARY = Column("temporary_bytes", "Int64", _BYTES, "allocated and freed within the step")

TOTAL_NS = Column("total_ns", "int64", _NS, "durations added up, overlap counted twice")
MEAN_OCCUPANCY = Column(
    "mean_occupancy_percent", "Int64", _COUNT,
    "estimated achieved occupancy by time, rounded down; missing where it was not measured",
)  # fmt: skip
MEDIAN_NS = Column("median_ns", "int64", _NS, "median duration, rounded down")

STEP_NUMBER = Column("step_number", "int64", _ID, "place of the step among those looked at")
PATH_KIND = Column("kind", "string", _TEXT, "what the path is in: kernel, queued, cpu_op, ...")
PATH_NAME = Column("name", "string", _TEXT, "the device work, or the innermost op or call")
ON_DEVICE = Column("device", "Int64", _ID, "device that ran or waited; missing on the host")
PATH_HOST_NS = Column("host_path_ns", "int64", _NS, "of the path, on the host")
PATH_DEVICE_NS = Column("device_path_ns", "int64", _NS, "of the path, in work it launched")

CODE = Column("code", "string", _TEXT, "what the note is about")
NOTE = Column("text", "string", _TEXT, "the note in words")
NOTE_COUNT = Column("count", "Int64", _COUNT, "how many events it concerns")
NOTE_NS = Column("ns", "Int64", _NS, "how long these are")

ACCOMPANIED = Column(
    "accompanied", "bool", Unit.FLAG, "a kernel that overlaps communication or a copy"
)

WINDOWS = Schema(
    "windows", "one row a device: the part of time that counts", (DEVICE_ID, START_NS, END_NS)
)
DEVICES = Schema(
    "devices",
    "one row a device; busy + idle = window",
    (DEVICE_ID, WINDOW_NS, BUSY_NS, IDLE_NS, KERNEL_NS, MEMCPY_NS, MEMSET_NS, COMMUNICATION_NS,
     EXPOSED_COMMUNICATION_NS, EVENTS, UNLINKED_EVENTS, UNLINKED_NS),
)  # fmt: skip
STREAMS = Schema("streams", "one row a stream", (DEVICE_ID, STREAM, BUSY_NS, EVENTS))
STEPS = Schema(
    "steps",
    "one row a step, in order",
    (STEP, SOURCE, PROCESS, START_NS, HOST_NS, DEVICE_EVENTS, LAUNCHES, BUSY_NS, DEVICE_END_NS,
     DEVICE_PERIOD_NS, EXCLUDED),
)  # fmt: skip
GAP_LIST = Schema(
    "gaps",
    "one row a gap: a maximal idle interval of a device",
    (GAP, DEVICE_ID, START_NS, DURATION_NS, CAUSE, ENDED_BY, LAUNCH_CALL, CALL, OP, ANNOTATION,
     FRAME),
)  # fmt: skip
GAP_PARTS = Schema(
    "gap_parts", "one row a gap and cause; the parts of a gap add up to it",
    (GAP, DEVICE_ID, CAUSE, NS),
)  # fmt: skip
IDLE = Schema(
    "idle", "one row a device and cause; they add up to idle", (DEVICE_ID, CAUSE, GAPS, NS)
)
IDLE_SITES = Schema(
    "idle_sites",
    "one row a device, cause and place; they add up to idle",
    (DEVICE_ID, CAUSE, CALL, OP, ANNOTATION, FRAME, GAPS, NS),
)
LAUNCH_LIST = Schema(
    "launches",
    "one row a launch call",
    (NAME, PROCESS, THREAD, START_NS, DURATION_NS, DEVICE_EVENTS, LATENCY_NS, QUEUE_DEPTH,
     BACK_PRESSURE_NS, WORK_NS),
)  # fmt: skip
LAUNCH_OWNERS = Schema(
    "launch_owners",
    "one row an op and annotation that launches",
    (OP, LAUNCH_ANNOTATIONS, COUNT, HOST_NS, WORK_NS, SHORTER, BACK_PRESSURE_NS, MEDIAN_LATENCY_NS),
)
QUEUE = Schema(
    "queue", "one row a change of a device's queue, by device and time", (DEVICE_ID, TIME_NS, DEPTH)
)
LAUNCH_APIS = Schema(
    "launch_apis", "one row a launch API", (CALL, COUNT, HOST_NS, BACK_PRESSURE_NS,
                                            MEDIAN_LATENCY_NS)
)  # fmt: skip
SYNC_LIST = Schema(
    "syncs",
    "one row a blocking call; the profiler's own closing synchronize is left out",
    (CALL, KIND, PROCESS, THREAD, START_NS, BLOCKED_NS, DEVICE_BUSY_NS, DEVICE_IDLE_NS, OP,
     ANNOTATION, FRAME),
)  # fmt: skip
SYNC_SITES = Schema(
    "sync_sites",
    "one row a place that blocks",
    (CALL, KIND, OP, ANNOTATION, FRAME, COUNT, BLOCKED_NS, DEVICE_IDLE_NS),
)  # fmt: skip
MEMORY_PEAKS = Schema(
    "memory_peaks",
    "one row a memory device",
    (DEVICE_TYPE, MEMORY_DEVICE, PEAK_ALLOCATED, BASELINE, PEAK_RESERVED, PEAK_AT_NS, EVENTS,
     UNKNOWN_FREES, UNKNOWN_FREED),
)  # fmt: skip
MEMORY_TIMELINE = Schema(
    "memory_timeline",
    "one row an allocation or a free, with the totals after it, by device and time",
    (DEVICE_TYPE, MEMORY_DEVICE, TIME_NS, BYTES, ALLOCATED, RESERVED, FRAGMENTATION),
)
MEMORY_STEPS = Schema(
    "memory_steps",
    "one row a step and memory device",
    (STEP, DEVICE_TYPE, MEMORY_DEVICE, PEAK_ALLOCATED, PEAK_AT_NS, AT_BEGIN, AT_END, ALLOCATIONS,
     FREES, CHURN_ALLOCATED, CHURN_FREED, TEMPORARY),
)  # fmt: skip
MEMORY_FAILURES = Schema(
    "memory_failures",
    "one row an allocation that failed ([OutOfMemory])",
    (DEVICE_TYPE, MEMORY_DEVICE, TIME_NS, BYTES, ALLOCATED, RESERVED, OP, ANNOTATION, FRAME),
)
AT_PEAK = Schema(
    "memory_at_peak",
    "one row a memory device and owner; they add up to the peak",
    (DEVICE_TYPE, MEMORY_DEVICE, GROUP, HELD),
)  # fmt: skip
CRITICAL_PATH = Schema(
    "critical_path",
    "one row a stretch of the critical path of a step; they tile it exactly",
    (STEP_NUMBER, STEP, START_NS, DURATION_NS, PATH_KIND, PATH_NAME, OP, ANNOTATION, ON_DEVICE,
     STREAM, PROCESS, THREAD),
)  # fmt: skip
CRITICAL_PARTS = Schema(
    "critical_path_parts",
    "one row a step and kind of stretch; they add up to the length of the step",
    (STEP_NUMBER, STEP, PATH_KIND, NS),
)
CRITICAL_OPS = Schema(
    "critical_path_ops",
    "one row an op that lies on the critical path; they add up to it",
    (OP, COUNT, PATH_HOST_NS, PATH_DEVICE_NS, NS),
)
COVERAGE = Schema(
    "coverage",
    "one row a note on what the figures leave out or cannot know",
    (CODE, NOTE, NOTE_COUNT, NOTE_NS),
)
KERNELS = Schema(
    "kernels",
    "one row a name of device work; busy_ns adds up to the busy time of all devices",
    (NAME, CATEGORY, COUNT, BUSY_NS, TOTAL_NS, MEDIAN_NS, MEAN_OCCUPANCY),
)  # fmt: skip

# Owners of device work.
OWNER_OP = Column("op", "category", _TEXT, "innermost op that launched it; missing outside ops")
OP_POSITION = Column("op_position", "Int64", _ID, "position of that op in the host frame")
OP_PATH = Column("op_path", "category", _TEXT, "ops around the launch, outermost first, by `/`")
ANNOTATION_PATH = Column(
    "annotation_path", "category", _TEXT,
    "annotations around it, outermost first, by `/`; of a backward op those of its forward op",
)  # fmt: skip
MODULE_PATH = Column("module_path", "category", _TEXT, "nn.Modules around it, likewise")
OWNER_FRAME = Column(
    "python_frame", "category", _TEXT, "innermost frame with a line in a file, likewise"
)
DIRECTION = Column("direction", "category", _TEXT, "backward in a backward pass, else forward")
WORK_KIND = Column("kernel_kind", "category", _TEXT, "attention, gemm, copy, ...: what it does")
KIND_DETAIL = Column(
    "kind_detail", "category", _TEXT, "backend of an attention, cores of a gemm, form of a triton"
)
HOW = Column("how", "category", _TEXT, "how the owner is known: launch, external_id or none")

OWNERS = Schema(
    "owners",
    "who launched it: one row a piece of device work, in the order of `Trace.work`",
    (
        OWNER_OP,
        OP_POSITION,
        OP_PATH,
        ANNOTATION_PATH,
        MODULE_PATH,
        OWNER_FRAME,
        DIRECTION,
        WORK_KIND,
        KIND_DETAIL,
        HOW,
    ),
)

# What a recording supplies.
VIEW = Column("view", "string", _TEXT, "command that shows it")
AVAILABLE = Column("available", "string", _TEXT, "yes, partly or no")
LACKS = Column("lacks", "string", _TEXT, "what the recording does not hold")
SUPPLY = Column("supply", "string", _TEXT, "how to record it")
ENTRIES = Column("events", "int64", _COUNT, "events of this category")
COVERED_NS = Column("covered_ns", "Int64", _NS, "time in at least one of them")
VIEWS = Schema(
    "views",
    "one row a view and thing it lacks: whether the recording supplies it",
    (VIEW, AVAILABLE, LACKS, SUPPLY),
)
RECORDED = Schema(
    "recorded", "one row a category of events that the recording holds",
    (CATEGORY, ENTRIES, COVERED_NS),
)  # fmt: skip

# Memory snapshots.
SITE = Column("site", "string", _TEXT, "innermost Python frame outside torch that allocated it")
SEGMENT_TYPE = Column("segment_type", "string", _TEXT, "pool of the segment: small or large")
SEGMENT_BYTES = Column("segment_bytes", "int64", _BYTES, "size of the segment, in use or not")
ACTIVE = Column("active_bytes", "int64", _BYTES, "allocated, or freed and still used by a stream")
EXPANDABLE = Column("expandable", "bool", Unit.FLAG, "whether the segment may grow")
STATE = Column("state", "string", _TEXT, "active_allocated, active_awaiting_free or inactive")
BLOCK_BYTES = Column("bytes", "int64", _BYTES, "size of the block; of an event what it asks for")
REQUESTED = Column("requested_bytes", "int64", _BYTES, "what the program asked for")
ACTION = Column("action", "string", _TEXT, "alloc, free_requested, segment_alloc, oom, ...")
ALLOCATED_NOW = Column("allocated_bytes", "int64", _BYTES, "allocated when the snapshot was taken")
RESERVED_NOW = Column("reserved_bytes", "int64", _BYTES, "reserved when the snapshot was taken")
OUT_OF_MEMORY = Column("out_of_memory", "int64", _COUNT, "allocations that failed")

SNAPSHOT_SEGMENTS = Schema(
    "snapshot_segments",
    "one row a segment that the allocator holds from the driver",
    (DEVICE_ID, ADDRESS, STREAM, SEGMENT_TYPE, SEGMENT_BYTES, ALLOCATED, ACTIVE, EXPANDABLE),
)
SNAPSHOT_BLOCKS = Schema(
    "snapshot_blocks",
    "one row a block of a segment, in use or not",
    (DEVICE_ID, ADDRESS, STATE, BLOCK_BYTES, REQUESTED, SITE),
)
SNAPSHOT_EVENTS = Schema(
    "snapshot_events",
    "one row an event of the history, as recorded",
    (DEVICE_ID, TIME_NS, ACTION, ADDRESS, BLOCK_BYTES, STREAM, SITE),
)
SNAPSHOT_TIMELINE = Schema(
    "snapshot_timeline",
    "one row an event of the history, with the totals after it",
    (DEVICE_ID, TIME_NS, ACTION, ALLOCATED, RESERVED, FRAGMENTATION),
)
SNAPSHOT_PEAKS = Schema(
    "snapshot_peaks",
    "one row a device; without a history the peak is missing",
    (DEVICE_ID, PEAK_ALLOCATED, BASELINE, PEAK_RESERVED, PEAK_AT_NS, ALLOCATED_NOW, RESERVED_NOW,
     EVENTS, UNKNOWN_FREES, OUT_OF_MEMORY),
)  # fmt: skip
SNAPSHOT_HELD = Schema(
    "snapshot_held", "one row a device and place in the program", (DEVICE_ID, SITE, HELD)
)

# Views by owner.
CALLS = Column("calls", "int64", _COUNT, "how often it was called; recursion counts once")
HOST_SELF_NS = Column("host_self_ns", "int64", _NS, "host time in it, but in nothing below it")
HOST_TOTAL_NS = Column("host_total_ns", "int64", _NS, "host time in it; recursion counts once")
BACKWARD_NS = Column("backward_ns", "int64", _NS, "of busy_ns, what backward passes launched")
DEVICE_NS = Column("device_ns", "int64", _NS, "union of the work launched in it or below it")
ALLOCATES = Column("allocated_in_it_bytes", "int64", _BYTES, "device memory allocated in it")
STACK = Column("stack", "string", _TEXT, "frames, outermost first, by `;`")
SHAPES = Column("shapes", "string", _TEXT, "shapes of the inputs, where grouped by them")
OWNED_PATH = Column("path", "string", _TEXT, "the path, outermost first, by `/`")
KIND_OF_WORK = Column("kernel_kind", "string", _TEXT, "attention, gemm, copy, ...: what it does")
DETAIL_OF_KIND = Column("kind_detail", "string", _TEXT, "which of it, where that is known")
HOW_OWNED = Column("how", "string", _TEXT, "how owners are known: launch, external_id or none")

_HOST_AND_DEVICE = (
    CALLS, HOST_SELF_NS, HOST_TOTAL_NS, BUSY_NS, BACKWARD_NS, DEVICE_NS, LAUNCHES, DEVICE_EVENTS,
    ALLOCATES,
)  # fmt: skip
OPS = Schema(
    "ops",
    "one row an op; busy_ns adds up to the busy time of all devices",
    (OP, SHAPES, *_HOST_AND_DEVICE),
)
MODULES_VIEW = Schema(
    "modules", "one row a path of nn.Modules; busy_ns adds up", (OWNED_PATH, *_HOST_AND_DEVICE)
)
ANNOTATIONS = Schema(
    "annotations", "one row a path of annotations; busy_ns adds up", (OWNED_PATH, *_HOST_AND_DEVICE)
)
STACKS = Schema("stacks", "one row a Python stack; busy_ns adds up", (STACK, *_HOST_AND_DEVICE))
FOLDED = Schema("folded", "collapsed stacks for a flame graph", (STACK, NS))
WORK_KINDS = Schema(
    "kinds",
    "one row a kind of device work; busy_ns adds up",
    (KIND_OF_WORK, DETAIL_OF_KIND, DEVICE_EVENTS, BUSY_NS),
)
OWNER_COVERAGE = Schema(
    "owner_coverage", "how the owners of work are known", (HOW_OWNED, DEVICE_EVENTS, BUSY_NS)
)

# Roofline.
PRECISION = Column("precision", "string", _TEXT, "of the inputs; tf32 for fp32 on tensor cores")
USEFUL_FLOP = Column("useful_flop", "int64", Unit.FLOP, "operations that the result needs")
EXECUTED_FLOP = Column("executed_flop", "int64", Unit.FLOP, "operations that the op carries out")
LEAST_BYTES = Column(
    "least_bytes", "int64", _BYTES, "each input read once, each output written once"
)
USEFUL_RATE = Column("useful_rate", "Float64", Unit.FLOP_RATE, "useful_flop by device_ns")
EXECUTED_RATE = Column("executed_rate", "Float64", Unit.FLOP_RATE, "executed_flop by device_ns")
BYTE_RATE = Column("byte_rate", "Float64", Unit.BYTE_RATE, "least_bytes by device_ns")
COMPUTE_SHARE = Column("compute_share", "Float64", Unit.SHARE, "executed_rate of the GPU's peak")
MEMORY_SHARE = Column("memory_share", "Float64", Unit.SHARE, "byte_rate of the GPU's bandwidth")
BOUND = Column("bound", "string", _TEXT, "what limits a perfect kernel: compute or memory")
ROOFLINE = Schema(
    "roofline",
    "one row an op and its input shapes, of those that multiply matrices",
    (OP, SHAPES, PRECISION, CALLS, USEFUL_FLOP, EXECUTED_FLOP, LEAST_BYTES, DEVICE_NS, USEFUL_RATE,
     EXECUTED_RATE, BYTE_RATE, COMPUTE_SHARE, MEMORY_SHARE, BOUND),
)  # fmt: skip

# Differences.
QUANTITY = Column("quantity", "string", _TEXT, "gpu_busy, device_period, ...; times are a step")
UNIT = Column("unit", "string", _TEXT, "ns or bytes")
BEFORE = Column("before", "Int64", Unit.ID, "value before, in the row's unit")
AFTER = Column("after", "Int64", Unit.ID, "value after, in the row's unit")
DELTA = Column("delta", "Int64", Unit.ID, "after - before")
RATIO = Column("ratio", "Float64", Unit.RATIO, "after / before; missing where before is 0")
INTERVAL_LOW = Column(
    "interval_low", "Float64", Unit.RATIO, "lower end; of a share for idle, syncs"
)
INTERVAL_HIGH = Column("interval_high", "Float64", Unit.RATIO, "upper end")
MARGIN = Column("margin", "Float64", Unit.SHARE, "smallest change that matters")
BASIS = Column("basis", "string", _TEXT, "where the interval comes from: exact, measured, ...")
VERDICT = Column("verdict", "string", _TEXT, "improved, regressed, same or cannot_tell")
REASONS = Column("reasons", "string", _TEXT, "codes of the reasons, blank between them")
DETECTABLE = Column(
    "detectable", "Float64", Unit.SHARE, "change that would have been seen, where none can be told"
)

PART = Column("kind", "string", _TEXT, "busy or idle")
PATH = Column(
    "path", "string", _TEXT, "region, ops and kernel from the outside in, or a cause of idle time"
)
BEFORE_NS = Column("before_ns", "int64", _NS, "a step, before")
AFTER_NS = Column("after_ns", "int64", _NS, "a step, after")
DELTA_NS = Column("delta_ns", "int64", _NS, "after - before")
CHANGE = Column("change", "string", _TEXT, "both, replaced, only_before or only_after")
REGION = Column("region", "string", _TEXT, "what is matched around it: annotations, modules, ops")
BEFORE_CALLS = Column("before_calls", "Float64", _COUNT, "calls a step, before")
AFTER_CALLS = Column("after_calls", "Float64", _COUNT, "calls a step, after")
BEFORE_CALL_NS = Column("before_call_ns", "Float64", _NS, "mean duration of a call, before")
AFTER_CALL_NS = Column("after_call_ns", "Float64", _NS, "mean duration of a call, after")
BEFORE_ALONE_NS = Column(
    "before_alone_ns", "Float64", _NS, "mean of the calls that overlap no communication or copy"
)
AFTER_ALONE_NS = Column("after_alone_ns", "Float64", _NS, "the same, after")
CONFIDENCE = Column(
    "confidence", "float64", Unit.SHARE, "1 for equal names; a replacement: 0.9 in one region, "
    "0.8 in one op, 0.5 where only both sides have something left over",
)  # fmt: skip
LABEL = Column("label", "string", _TEXT, "of a replacement: the ops before -> the ops after")
ROW = Column("row", "int64", _ID, "row of the attribution")
SIDE = Column("side", "string", _TEXT, "before or after")
CALLS_A_STEP = Column("calls", "float64", _COUNT, "calls a step")

FACT = Column("fact", "string", _TEXT, "what was counted, a step")
BEFORE_FACT = Column("before", "string", _TEXT, "count before; a range where steps differ")
AFTER_FACT = Column("after", "string", _TEXT, "count after")

BEFORE_BYTES = Column("before_bytes", "Int64", _BYTES, "peak before; missing where not recorded")
AFTER_BYTES = Column("after_bytes", "Int64", _BYTES, "peak after")
DELTA_BYTES = Column("delta_bytes", "Int64", _BYTES, "after - before")

RECORDING = Column("recording", "int64", _ID, "number of the recording on its side")
STEP_COUNT = Column("steps", "int64", _COUNT, "steps that count")
LEAST_NS = Column("least_ns", "int64", _NS, "smallest")
MIDDLE_NS = Column("median_ns", "int64", _NS, "median")
MOST_NS = Column("most_ns", "int64", _NS, "largest")
DRIFT = Column("drift", "Float64", Unit.SHARE, "second half of the steps over the first, less one")
FAR_OFF = Column("far_off", "int64", _COUNT, "steps far outside the quartiles")

SPREAD = Schema(
    "spread",
    "how the steps of each recording scatter: a diagnostic, and no error bar",
    (SIDE, RECORDING, QUANTITY, STEP_COUNT, LEAST_NS, MIDDLE_NS, MOST_NS, DRIFT, FAR_OFF),
)
QUANTITIES = Schema(
    "quantities",
    "one row a quantity of a diff",
    (QUANTITY, UNIT, BEFORE, AFTER, DELTA, RATIO, INTERVAL_LOW, INTERVAL_HIGH, MARGIN, BASIS,
     VERDICT, REASONS, DETECTABLE),
)  # fmt: skip
ATTRIBUTION = Schema(
    "attribution",
    "where a difference comes from; delta_ns adds up to that of the device period",
    (PART, PATH, BEFORE_NS, AFTER_NS, DELTA_NS, CHANGE, REGION, BEFORE_CALLS, AFTER_CALLS,
     BEFORE_CALL_NS, AFTER_CALL_NS, BEFORE_ALONE_NS, AFTER_ALONE_NS, CONFIDENCE,
     LABEL),
)  # fmt: skip
REPLACED = Schema(
    "replaced",
    "what a replaced row of the attribution consists of",
    (ROW, SIDE, PATH, NS, CALLS_A_STEP),
)
STRUCTURE = Schema("structure", "exact facts that differ, a step", (FACT, BEFORE_FACT, AFTER_FACT))
MEMORY_DELTA = Schema(
    "memory_delta",
    "one row a memory device: peak allocated bytes",
    (DEVICE_TYPE, MEMORY_DEVICE, BEFORE_BYTES, AFTER_BYTES, DELTA_BYTES),
)


def schemas() -> dict[str, Schema]:
    """All schemas, by the name of their frame."""
    return {value.name: value for value in globals().values() if isinstance(value, Schema)}
