"""Every column of every frame: its name, dtype, unit and meaning.

A column is a constant of this module, usable wherever pandas takes a name (`frame[BUSY_NS]`), so
that a typo is an error before anything runs. Times are int64 nanoseconds from the trace's own
start, sizes int64 bytes; what may be missing has a nullable dtype and is missing, never -1 or 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

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
        column = super().__new__(cls, name)
        column.dtype, column.unit, column.meaning = dtype, unit, meaning
        return column


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one kind of frame, in order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def frame(self, values: Mapping[Column, Any]) -> pd.DataFrame:
        """A frame of exactly these columns, with exactly their dtypes, from arrays of one length.

        Raises ColumnError when a column is missing from `values`.
        """
        missing = [column for column in self.columns if column not in values]
        if missing:
            raise ColumnError(self.name, missing, values)
        return pd.DataFrame(
            {str(column): _typed(values[column], column.dtype) for column in self.columns}
        )

    def empty(self) -> pd.DataFrame:
        """A frame of no rows."""
        return self.frame({column: [] for column in self.columns})


def _typed(values: Any, dtype: str) -> Any:
    """`values` as a pandas array of `dtype`, without a copy where it already is one."""
    if isinstance(values, pd.Series):
        values = values.array
    if dtype == "category" and isinstance(values, pd.Categorical):
        return values
    return pd.array(values, dtype=dtype) if dtype != "category" else pd.Categorical(values)


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
FORWARD_THREAD = Column("forward_thread", "Int64", _ID, "thread of the forward op; 0 on forward ops")
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
    "one row a host event, by (start, longest first, file order)",
    (NAME, CATEGORY, PROCESS, THREAD, START_NS, DURATION_NS, CORRELATION, EXTERNAL_ID,
     SEQUENCE_NUMBER, FORWARD_THREAD, INPUT_DIMS, INPUT_TYPES, CONCRETE_INPUTS, CALL_STACK, MODULES,
     PYTHON_ID, PYTHON_PARENT_ID, PYTHON_MODULE_ID, STREAM, WAITS_ON_STREAM, WAITS_ON_EVENT),
)  # fmt: skip
DEVICE = Schema(
    "device",
    "one row a device event, by (start, longest first, file order)",
    (NAME, CATEGORY, DEVICE_ID, STREAM, PROCESS, START_NS, DURATION_NS, CORRELATION, EXTERNAL_ID,
     LAUNCH, BYTES_MOVED, GRID, BLOCK, REGISTERS, SHARED_MEMORY, GRAPH_ID, GRAPH_NODE_ID, CORRUPT),
)  # fmt: skip
MEMORY = Schema(
    "memory",
    "one row an allocation or a free, by time",
    (NAME, PROCESS, THREAD, TIME_NS, DEVICE_TYPE, MEMORY_DEVICE, ADDRESS, BYTES, ALLOCATED,
     RESERVED),
)  # fmt: skip
