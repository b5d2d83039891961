"""The JSON of each report as a JSON Schema, made from the columns of the frames it holds.

That of an experiment is made from the types of its record.

A report keeps all that its schema requires and may add keys. Meanings and units are those of
`traceview.schema`, so that the two cannot part; the files that the package brings, which
`traceview schema` prints, are written from here by scripts/write_contracts.py.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from traceview import experiment
from traceview import schema as s
from traceview.check import Answer
from traceview.diff import Comparability
from traceview.experiment import Observed, Plan
from traceview.schema import Column, Schema
from traceview.stats import Verdict
from traceview.units import Unit

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {"int64": "integer", "bool": "boolean", "float64": "number"}
"""Types of columns that miss no value."""
_NULLABLE = {"Int64": "integer", "UInt64": "integer", "Float64": "number", "boolean": "boolean"}

Node = dict[str, Any]


def contracts() -> dict[str, Node]:
    """The schema of each report, by the name of its command."""
    reports = {name: _report(name, keys) for name, keys in _REPORTS.items()}
    reports |= {
        "experiment": _report("experiment", _PROBLEMS, **_RECORD, **_DEFINITIONS),
        "experiments": _report("experiments", {"records": _array(_LISTED)}, **_DEFINITIONS),
    }
    return dict(sorted(reports.items()))


def _report(name: str, keys: Node, **more: object) -> Node:
    identity = f"traceview.{name}/1"
    return {
        "$schema": DIALECT,
        "title": identity,
        **_object({"schema": {"const": identity}, **keys}),
        **more,
    }


def _object(keys: Node) -> Node:
    """An object that has at least these keys."""
    return {"type": "object", "required": list(keys), "properties": keys}


def _array(items: Node) -> Node:
    return {"type": "array", "items": items}


def _rows(schema: Schema, **more: Node) -> Node:
    """The rows of a frame."""
    return {"description": schema.meaning, **_array(_object(_columns(schema.columns) | more))}


def _columns(columns: tuple[Column, ...]) -> Node:
    return {str(column): _column(column) for column in columns}


def _column(column: Column) -> Node:
    kind = _TYPES.get(column.dtype)
    unit = "" if column.unit in (Unit.TEXT, Unit.ID, Unit.FLAG) else f" ({column.unit})"
    return {
        "type": kind or [_NULLABLE.get(column.dtype, "string"), "null"],
        "description": f"{column.meaning}{unit}",
    }


def _of(kind: str, meaning: str = "", *, missing: bool = False) -> Node:
    """A plain value, which may be missing."""
    node: Node = {"type": [kind, "null"] if missing else kind}
    return node | {"description": meaning} if meaning else node


def _one_of(words: type[StrEnum]) -> Node:
    return {"enum": [word.value for word in words]}


def _sides(node: Node) -> Node:
    return _object({"before": node, "after": node})


_COUNT = _of("integer") | {"minimum": 0}
_NS = _of("integer", "ns")
_TEXT, _TEXT_OR_NONE = _of("string"), _of("string", missing=True)
_TRACE = _object(
    {
        "path": _TEXT_OR_NONE,
        "events": _COUNT,
        "dropped": _COUNT,
        "repaired": _COUNT,
        "rank": _of("integer", missing=True),
        "device_names": _array(_TEXT),
        "torch": _TEXT_OR_NONE,
        "versions": {"type": "object"},
        "options": {"type": "object", "additionalProperties": _of("boolean")},
        "notes": _rows(s.COVERAGE),
    }
)
_DEVICE = _of("integer", "index of the device")
_STREAM_COLUMNS = (s.STREAM, s.BUSY_NS, s.EVENTS)
_INTERVAL = {"type": ["array", "null"], "items": _of("number"), "minItems": 2, "maxItems": 2}
_QUANTITY = _columns(
    tuple(c for c in s.QUANTITIES.columns if c not in (s.INTERVAL_LOW, s.INTERVAL_HIGH))
) | {
    "interval": _INTERVAL,
    str(s.VERDICT): _one_of(Verdict),
    str(s.REASONS): _array(_TEXT),
}


def _of_trace(**keys: Node) -> Node:
    """The keys of a report on one recording."""
    return {"trace": _TRACE, **keys}


def _owned(schema: Schema, **more: Node) -> Node:
    """The keys of a report by owner."""
    return _of_trace(**{schema.name: _rows(schema)}, owners=_rows(s.OWNER_COVERAGE), **more)


_LAUNCH = _object(
    {
        "count": _COUNT,
        "host_ns": _NS,
        "back_pressure_ns": _NS,
        "median_latency_ns": _of("integer", "ns", missing=True),
        "apis": _array(_object({"name": _TEXT} | _columns(s.LAUNCH_APIS.columns[1:]))),
    }
)
_SYNC = _object(
    {
        "count": _COUNT,
        "blocked_ns": _NS,
        "device_idle_ns": _NS,
        "sites": _rows(s.SYNC_SITES),
        "pageable_copies": _object({"count": _COUNT, "host_ns": _NS}),
    }
)
_FRAGMENTATION = _array(_object(_columns((s.DEVICE_TYPE, s.MEMORY_DEVICE, s.FRAGMENTATION))))
_SUMMARY = _of_trace(
    devices=_rows(s.DEVICES, streams=_array(_object(_columns(_STREAM_COLUMNS)))),
    steps=_rows(s.STEPS),
    idle=_rows(s.IDLE),
    launch=_LAUNCH,
    sync=_SYNC,
    memory=_rows(
        s.MEMORY_PEAKS, device=_DEVICE, at_peak=_array(_object(_columns((s.GROUP, s.HELD))))
    ),
    kernels=_rows(s.KERNELS),
)
_DIFF = {
    "comparable": _object(
        {
            "verdict": _one_of(Comparability),
            "reasons": _array(_object({"code": _TEXT, "text": _TEXT})),
        }
    ),
    "recordings": _sides(_COUNT),
    "traces": _sides(_array(_TRACE)),
    "quantities": _array(_object(_QUANTITY)),
    "attribution": _object(
        {
            "total_delta_ns": _NS,
            "rows": _rows(s.ATTRIBUTION),
            "replaced": _rows(s.REPLACED),
        }
    ),
    "structure": _array(
        _object({str(s.FACT): _TEXT, str(s.BEFORE_FACT): {}, str(s.AFTER_FACT): {}})
    ),
    "memory": _rows(s.MEMORY_DELTA, device=_DEVICE),
    "spread": _rows(s.SPREAD),
    "outside": _sides(
        _object({"event_ns": _of("integer", missing=True), "wall_ns": _of("integer", missing=True)})
    ),
}
_NAMED = {"name": _TEXT, "meaning": _TEXT}
_COLUMN = _object({**_NAMED, "dtype": _TEXT, "unit": _one_of(Unit)})
_CHECK = _object(
    {
        "claim": _TEXT,
        "answer": {"enum": [answer.code for answer in Answer]},
        "value": {"type": ["number", "string", "null"]},
        "unit": _one_of(Unit),
        "interval": _INTERVAL,
        "basis": _TEXT_OR_NONE,
        "origin": _TEXT_OR_NONE,
        "reason": _TEXT_OR_NONE,
    }
)
(_PLAN, _OBSERVED), _PARTS = msgspec.json.schema_components((Plan, Observed))
_DEFINITIONS = {"$defs": msgspec.json.decode(msgspec.json.encode(_PARTS))}
_PROBLEMS = {"problems": _array(_object({"line": _COUNT, "text": _TEXT}))}
_OUTCOME = {"verdict": _one_of(experiment.Verdict), "reason": _TEXT, "observed": _OBSERVED}
_RECORD = {"anyOf": [{"allOf": [_PLAN, {"properties": _OUTCOME}]}, _object({"file": _TEXT})]}
"""A record, or the name of the file where it cannot be read."""
_LISTED = _object(_PROBLEMS) | _RECORD
_REPORTS: dict[str, Node] = {
    "summary": _SUMMARY,
    "diff": _DIFF,
    "gaps": _of_trace(
        idle=_rows(s.IDLE),
        sites=_rows(s.IDLE_SITES),
        gaps=_rows(s.GAP_LIST),
        parts=_rows(s.GAP_PARTS),
    ),
    "kernels": _of_trace(kernels=_rows(s.KERNELS)),
    "steps": _of_trace(steps=_rows(s.STEPS)),
    "syncs": _of_trace(sites=_rows(s.SYNC_SITES), calls=_rows(s.SYNC_LIST)),
    "launches": _of_trace(
        apis=_rows(s.LAUNCH_APIS), owners=_rows(s.LAUNCH_OWNERS), launches=_rows(s.LAUNCH_LIST)
    ),
    "critical_path": _of_trace(parts=_rows(s.CRITICAL_PARTS), ops=_rows(s.CRITICAL_OPS)),
    "memory": _of_trace(
        peaks=_rows(s.MEMORY_PEAKS),
        at_peak=_rows(s.AT_PEAK),
        at_peak_by={"type": "object", "additionalProperties": _rows(s.AT_PEAK)},
        steps=_rows(s.MEMORY_STEPS),
        failures=_rows(s.MEMORY_FAILURES),
        fragmentation=_FRAGMENTATION,
    ),
    "snapshot": {
        "path": _TEXT_OR_NONE,
        "peaks": _rows(s.SNAPSHOT_PEAKS),
        "at_peak": _rows(s.SNAPSHOT_HELD),
        "alive": _rows(s.SNAPSHOT_HELD),
        "segments": _rows(s.SNAPSHOT_SEGMENTS),
        "timeline": _rows(s.SNAPSHOT_TIMELINE),
        "notes": _rows(s.COVERAGE),
    },
    "roofline": _of_trace(peak={"type": ["object", "null"]}, roofline=_rows(s.ROOFLINE)),
    "ops": _owned(s.OPS, kinds=_rows(s.WORK_KINDS)),
    "modules": _owned(s.MODULES_VIEW),
    "annotations": _owned(s.ANNOTATIONS),
    "stacks": _owned(s.STACKS),
    "doctor": _of_trace(file={"type": "object"}, recorded=_rows(s.RECORDED), views=_rows(s.VIEWS)),
    "check": {"checks": _array(_CHECK)},
    "metrics": {"metrics": _array(_object({**_NAMED, "unit": _TEXT}))},
    "columns": {"frames": _array(_object({**_NAMED, "columns": _array(_COLUMN)}))},
    "noise": {
        "recordings": _COUNT,
        "device_names": _array(_TEXT),
        "log_sd": {"type": "object", "additionalProperties": _of("number")},
    },
}
