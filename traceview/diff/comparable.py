"""Are the two sides recordings of the same work, made in the same way?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from traceview import schema as s
from traceview.diff.measure import Measured
from traceview.metrics.steps import OTHER_SIDE, REASONS, steps
from traceview.trace import OPTIONS, VERSIONS, Trace


class Comparability(StrEnum):
    """Whether figures of the two sides may be held against each other."""

    YES = "yes"
    WITH_RESERVATIONS = "with_reservations"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Reason:
    """A difference between the sides other than the one looked for.

    `forbids` says that no ratio between them means anything; `informs` that it is only good to know.
    """

    code: str
    text: str
    forbids: bool = False
    informs: bool = False


SAME_RECORDING = "same_recording"


def comparability(
    before: Sequence[Measured], after: Sequence[Measured]
) -> tuple[Comparability, tuple[Reason, ...]]:
    """The verdict and its reasons."""
    reasons = tuple(_reasons(before, after))
    if any(reason.forbids for reason in reasons):
        return Comparability.NO, reasons
    if any(not reason.informs for reason in reasons):
        return Comparability.WITH_RESERVATIONS, reasons
    return Comparability.YES, reasons


def fingerprint(trace: Trace) -> str:
    """The same for two files of one recording, however they are stored or ordered."""
    digest = hashlib.sha256()
    for frame in (trace.host, trace.device):
        keys = frame[[s.START_NS, s.DURATION_NS]].to_numpy(dtype=np.int64)
        names = frame[s.NAME].astype("str").to_numpy()
        order = np.lexsort((names, keys[:, 1], keys[:, 0]))
        digest.update(np.ascontiguousarray(keys[order]).tobytes())
        digest.update("\0".join(names[order].tolist()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _reasons(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    left, right = before[0].trace, after[0].trace
    prints = {fingerprint(r.trace) for r in before} & {fingerprint(r.trace) for r in after}
    if prints:
        yield Reason(SAME_RECORDING, "both sides are the same recording", informs=True)
    yield from _hardware(left, right)
    yield from _properties("versions_differ", "", VERSIONS, left, right)
    yield from _properties("options_differ", "profiler option ", OPTIONS, left, right, absent=False)
    yield from _coverage(before, after)
    yield from _steps(before, after)
    yield from _workload(before, after)


def _hardware(left: Trace, right: Trace) -> Iterator[Reason]:
    first, second = left.metadata.device_names, right.metadata.device_names
    if first and second and first != second:
        names = f"{', '.join(first)} against {', '.join(second)}"
        yield Reason("hardware_differs", f"the devices differ: {names}", forbids=True)
    elif not first and not second:
        yield Reason("hardware_unknown", "neither file names its device")
    elif not first or not second:
        yield Reason("hardware_unknown", "only one of the files names its device")


def _properties(
    code: str, what: str, names: Sequence[str], left: Trace, right: Trace, absent: object = None
) -> Iterator[Reason]:
    for name in names:
        values = [t.metadata.properties.get(name, absent) for t in (left, right)]
        first, second = (bool(v) if absent is False else v for v in values)
        if first != second:
            words = "not recorded" if absent is None else "off"
            shown = [words if v in (None, False) else "on" if v is True else v
                     for v in (first, second)]  # fmt: skip
            yield Reason(code, f"{what}{name}: {shown[0]} against {shown[1]}")


def _coverage(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    have = [any(r.has_device for r in side) for side in (before, after)]
    if have[0] != have[1]:
        side = "before" if have[1] else "after"
        yield Reason("no_device_work", f"only the side {side} has no device work", forbids=True)
    elif not have[0]:
        yield Reason("no_device_work", "neither side has device work: only the host is compared")


def _steps(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    stepped = [all(len(r.used) for r in side) for side in (before, after)]
    if stepped[0] != stepped[1]:
        side = "before" if stepped[1] else "after"
        yield Reason(
            "no_steps", f"only the side {side} has no steps: its whole window is one", forbids=True
        )
    elif not stepped[0]:
        yield Reason("no_steps", "no steps on either side: whole windows are compared")
    for name, side in (("before", before), ("after", after)):
        excluded = {reason for recording in side for reason in _left_out(recording)}
        counted = sum(len(r.used) for r in side), sum(r.all_steps for r in side)
        if excluded:
            why = "; ".join(REASONS.get(code, code) for code in sorted(excluded))
            text = f"{name}: {counted[0]} of {counted[1]} steps count ({why})"
            yield Reason("steps_excluded", text, informs=True)
    counts = [sum(len(r.used) for r in side) for side in (before, after)]
    if all(stepped) and counts[0] != counts[1]:
        text = f"{counts[0]} steps before, {counts[1]} after"
        yield Reason("step_counts_differ", text, informs=True)


def _left_out(recording: Measured) -> set[str]:
    """The codes of why steps of a recording do not count."""
    table = steps(recording.trace)
    out = table.drop(index=recording.used.index)[s.EXCLUDED]
    return {str(reason) for reason in out.fillna(OTHER_SIDE)}


def _workload(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    counts = [
        sum(len(r.work) for r in side) / max(sum(r.count for r in side), 1)
        for side in (before, after)
    ]
    if counts[0] != counts[1] and all(counts):
        yield Reason(
            "kernel_counts_differ",
            f"{counts[0]:,.4g} device events a step against {counts[1]:,.4g}, and the files do not "
            "declare their workload: make sure that they do the same job",
        )
