"""What a recording says of itself: the property `traceview` that `traceview capture` puts into it.

Nothing here needs torch, and nothing has to be there: a part that is missing, or that is not of the
shape of schema `traceview.capture/1`, reads as empty, so that a report can always ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import msgspec

PROPERTY = "traceview"
"""The top-level key of a trace that holds it."""
SCHEMA = "traceview.capture/1"

Fact = str | int | float | bool | None
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Work:
    """What was run. Two recordings are of the same work if `name` and `problem` are equal.

    `variant` is what a comparison is about (the backend asked for), `ran` what was seen to run, and
    `text` the problem in a few words.
    """

    name: str = ""
    text: str = ""
    problem: Mapping[str, Fact] = field(default_factory=dict)
    variant: Mapping[str, Fact] = field(default_factory=dict)
    ran: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outside:
    """Measured in the same process without the profiler; integers of ns and bytes, None if not.

    Times are those of a step. The cold start is the first step of the process, with its inputs in
    place: it loads kernels, plans, compiles. `event_ns` are CUDA events between steps: if `queued`,
    with the queue kept full, so that they are comparable with busy time; else as the steps come,
    and comparable with the device period. `event_flushed_ns` are such around single queued steps,
    after the L2 cache was flushed. `wall_ns` are means of blocks of steps by the host's clock, and
    `profiled_wall_ns` those of the blocks between them in which the profiler was on. The
    allocation figures are the caching allocator's: before the work, and the peak without the
    profiler.
    """

    cold_start_ns: int | None = None
    event_ns: tuple[int, ...] = ()
    queued: bool = False
    event_flushed_ns: tuple[int, ...] = ()
    wall_ns: tuple[int, ...] = ()
    profiled_wall_ns: tuple[int, ...] = ()
    allocated_before_bytes: int | None = None
    peak_allocated_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the allocator itself says of the recorded steps: the trace's own peak must equal it."""

    peak_allocated_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """The largest error of one tensor against the reference, beside what is allowed.

    `yardstick` is the error of the same computation, written out in the precision of the work;
    None stands for a value that is not finite.
    """

    tensor: str
    error: float | None = None
    yardstick: float | None = None
    allowed: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison with the reference: the work itself, or an edge case."""

    case: str
    verdict: Literal["correct", "wrong", "refused"]
    text: str = ""
    errors: tuple[Error, ...] = ()


@dataclass(frozen=True, slots=True)
class Numerics:
    """Whether what ran computes what was asked.

    `verdict` is that of the work's own shape and mask; `text` says it in one sentence, and is what
    a report should open with if the verdict is `wrong`.
    """

    verdict: Literal["correct", "wrong", "unchecked"] = "unchecked"
    text: str = ""
    rule: str = ""
    cases: tuple[Case, ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """All of the property: the work, how it was recorded, and what else was measured."""

    command: str = ""
    work: Work = field(default_factory=Work)
    options: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)
    outside: Outside = field(default_factory=Outside)
    recorded: Recorded = field(default_factory=Recorded)
    numerics: Numerics = field(default_factory=Numerics)


def declared(properties: Mapping[str, Any]) -> Workload | None:
    """What a trace with these top-level properties says of itself; None if it says nothing."""
    stamp = properties.get(PROPERTY)
    if not isinstance(stamp, Mapping) or stamp.get("schema") != SCHEMA:
        return None
    return Workload(
        command=_part(stamp.get("command"), str, ""),
        work=_part(stamp.get("workload"), Work, Work()),
        options=_part(stamp.get("options"), dict[str, Fact], {}),
        environment=_part(stamp.get("environment"), dict[str, Fact], {}),
        outside=_part(stamp.get("outside"), Outside, Outside()),
        recorded=_part(stamp.get("recorded"), Recorded, Recorded()),
        numerics=_part(stamp.get("numerics"), Numerics, Numerics()),
    )


def _part(value: object, kind: type[_Part], empty: _Part) -> _Part:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return empty
