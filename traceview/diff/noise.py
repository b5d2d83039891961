"""Noise profiles: how far recordings of one program differ, measured once and used again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev
from typing import Any

from traceview.diff.measure import PROFILED, typical
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

    Raises UsageError for fewer, and for a set that is no repeated recordings.
    """
    if len(traces) <= 1:
        raise UsageError("a noise profile needs recordings to compare: give 3 or more")
    recordings = measured_side("here", traces)
    found = {name: spread([typical(r, name) for r in recordings]) for name in PROFILED}
    return NoiseProfile(
        len(recordings),
        traces[0].metadata.device_names,
        {name: sd for name, sd in found.items() if sd is not None},
    )
