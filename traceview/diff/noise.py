"""Noise profiles: how far recordings of one program differ, measured once and used again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from statistics import stdev
from typing import Any

from traceview import schema as s
from traceview import units
from traceview.diff.comparable import VARIANT_DIFFERS, comparability, variant_reasons
from traceview.diff.measure import PROFILED, Measured, typical
from traceview.diff.recordings import measured_side
from traceview.errors import FileError, UsageError
from traceview.trace import Trace

SCHEMA = "traceview.noise/1"


@dataclass(frozen=True, slots=True)
class NoiseProfile:
    """The run-to-run sd of the logarithm of each quantity, from `recordings` of one program."""

    recordings: int
    device_names: tuple[str, ...]
    sds: Mapping[str, float]
    doubts: tuple[str, ...] = ()
    """Why the recordings may not be of one program; not stored."""

    def sd(self, quantity: str) -> tuple[float, float] | None:
        """(sd, degrees of freedom) of a quantity, or None where it was not measured."""
        value = self.sds.get(quantity)
        return None if value is None else (value, self.recordings - 1)

    def to_json(self) -> dict[str, Any]:
        """The profile as `traceview noise` stores it."""
        return {
            "schema": SCHEMA,
            "recordings": self.recordings,
            "device_names": list(self.device_names),
            "log_sd": dict(self.sds),
        }


def spread(values: Sequence[float | None]) -> float | None:
    """The sd of the logarithm of two or more positive values; None where one is missing or zero."""
    known = [math.log(value) for value in values if value]
    return stdev(known) if len(known) == len(values) > 1 else None


def load_profile(path: str) -> NoiseProfile:
    """The profile that `traceview noise -o` wrote.

    Raises FileError when the file is no such profile.
    """
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
        if stored["schema"] != SCHEMA:
            raise FileError(path, f"is no noise profile: its schema is {stored['schema']}")
        sds = {str(name): float(value) for name, value in stored["log_sd"].items()}
        return NoiseProfile(int(stored["recordings"]), tuple(stored["device_names"]), sds)
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(path, "is no noise profile: make one with `traceview noise`") from error


def profile(traces: Sequence[Trace]) -> NoiseProfile:
    """The spread of two or more recordings of one program, over the steps that count.

    Raises UsageError for fewer, and for a set that is no repeated recordings: of ranks, or of
    declared work, variants (a backend) or devices that differ.
    """
    if len(traces) <= 1:
        raise UsageError("a noise profile needs recordings to compare: give 3 or more")
    recordings = measured_side("here", traces)
    found = {name: spread([typical(r, name) for r in recordings]) for name in PROFILED}
    return NoiseProfile(
        len(recordings),
        traces[0].metadata.device_names,
        {name: sd for name, sd in found.items() if sd is not None},
        tuple(_doubts(recordings)),
    )


def _doubts(recordings: Sequence[Measured]) -> Iterator[str]:
    """What speaks against one program, a sentence a recording; the first is the yardstick."""
    first, *others = recordings
    for other in others:
        names = f"{_name(first)} and {_name(other)}"
        reasons = [*variant_reasons(first, other), *comparability((first,), (other,))[1]]
        if refused := [r.text for r in reasons if r.code in _REFUSED]:
            raise UsageError(f"{names} are no recordings of one program: {refused[0]}")
        differ = [r.text for r in reasons if r.code in _DOUBTED]
        if apart := len(_kernels(first) ^ _kernels(other)):
            differ.append(f"{units.counted(apart, 'kernel')} only in one of them")
        if differ:
            yield f"{names} may not be of one program: {'; '.join(differ)}."


_REFUSED = frozenset({VARIANT_DIFFERS, "workload_differs", "hardware_differs"})
_DOUBTED = frozenset({"versions_differ", "options_differ", "shapes_differ", "dtypes_differ"})


def _kernels(recording: Measured) -> set[str]:
    return set(recording.work[s.NAME].astype("str").unique())


def _name(recording: Measured) -> str:
    return PurePath(recording.trace.metadata.path or "trace").name
