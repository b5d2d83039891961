"""Whether the two sides are recordings of the same work, made in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from statistics import fmean

from traceview import schema as s
from traceview.diff.measure import Measured
from traceview.diff.reasons import Reason
from traceview.diff.shapes import shape_reasons
from traceview.metrics.steps import OTHER_SIDE, REASONS, steps
from traceview.trace import OPTIONS, VERSIONS, Trace
from traceview.workload import Workload


class Comparability(StrEnum):
    """Whether figures of the two sides may be held against each other."""

    YES = "yes"
    WITH_RESERVATIONS = "with_reservations"
    NO = "no"


SAME_RECORDING = "same_recording"
WRONG_RESULT = "wrong_result"
VARIANT_DIFFERS = "variant_differs"


def comparability(
    before: Sequence[Measured], after: Sequence[Measured], factor: str = ""
) -> tuple[Comparability, tuple[Reason, ...]]:
    """The verdict and its reasons, what forbids a comparison first.

    That `factor` differs is what the comparison is about, and no reason against it.
    """
    found = [
        replace(reason, forbids=False, informs=True)
        if factor and reason.factor == factor
        else reason
        for reason in _reasons(before, after, factor)
    ]
    reasons = tuple(sorted(found, key=lambda reason: (not reason.forbids, reason.informs)))
    if any(reason.forbids for reason in reasons):
        return Comparability.NO, reasons
    if any(not reason.informs for reason in reasons):
        return Comparability.WITH_RESERVATIONS, reasons
    return Comparability.YES, reasons


def _reasons(
    before: Sequence[Measured], after: Sequence[Measured], factor: str
) -> Iterator[Reason]:
    left, right = before[0].trace, after[0].trace
    if {r.trace.fingerprint for r in before} & {r.trace.fingerprint for r in after}:
        yield Reason(SAME_RECORDING, "both sides are the same recording", informs=True)
    yield from _wrong_results(before, after)
    yield from _cut_off(before, after)
    yield from _hardware(left, right)
    yield from _versions(left, right)
    yield from _options(left, right)
    yield from _ranks(left, right)
    yield from _step_marks(before[0], after[0])
    yield from _within_a_side(before, after)
    yield from _coverage(before, after)
    yield from _steps(before, after)
    yield from _workload(before, after, factor)


def _wrong_results(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    for name, side in (("before", before), ("after", after)):
        for workload in filter(None, (recording.declared for recording in side)):
            if workload.numerics.verdict == "wrong":
                yield Reason(WRONG_RESULT, f"{name}: {workload.numerics.text}", forbids=True)
                break


def _cut_off(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    for name, side in (("before", before), ("after", after)):
        if cut := sum(r.trace.metadata.cut_off for r in side):
            which = "the file is" if len(side) == 1 else f"{cut} of {len(side)} files are"
            yield Reason("cut_off", f"{name}: {which} cut off, and a part is missing")


def _hardware(left: Trace, right: Trace) -> Iterator[Reason]:
    first, second = left.metadata.device_names, right.metadata.device_names
    if first and second and first != second:
        names = f"{', '.join(first)} against {', '.join(second)}"
        yield Reason(
            "hardware_differs", f"the devices differ: {names}", forbids=True, factor="device"
        )
    elif not first and not second and not (left.work.empty and right.work.empty):
        yield Reason("hardware_unknown", "neither file names its device")
    elif bool(first) != bool(second):
        yield Reason("hardware_unknown", "only one of the files names its device")


def _versions(left: Trace, right: Trace) -> Iterator[Reason]:
    stated = [trace.metadata.versions for trace in (left, right)]
    for name in VERSIONS:
        first, second = (versions.get(name, "not recorded") for versions in stated)
        if first != second:
            yield Reason("versions_differ", f"{name}: {first} against {second}", factor=name)
    first, second = (t.metadata.torch_version or "not recorded" for t in (left, right))
    if first != second:
        yield Reason("versions_differ", f"torch: {first} against {second}", factor="torch")


def _ranks(left: Trace, right: Trace) -> Iterator[Reason]:
    infos = [trace.metadata.properties.get("distributedInfo") for trace in (left, right)]
    worlds = [info.get("world_size") if isinstance(info, Mapping) else None for info in infos]
    first, second = left.metadata.rank, right.metadata.rank
    if worlds[0] != worlds[1]:
        known = ["not recorded" if world is None else f"{world} ranks" for world in worlds]
        yield Reason("world_size_differs", f"jobs of other sizes: {known[0]} against {known[1]}")
    if first != second and None not in (first, second):
        yield Reason("ranks_differ", f"rank {first} against rank {second}")


def _options(left: Trace, right: Trace) -> Iterator[Reason]:
    stated = [trace.metadata.options for trace in (left, right)]
    for name in OPTIONS:
        first, second = ("on" if options.get(name) else "off" for options in stated)
        if first != second:
            cost = ", which costs host time" if name in ("with_stack", "profile_memory") else ""
            yield Reason(
                "options_differ",
                f"profiler option {name}{cost}: {first} against {second}",
                factor=name,
            )


def _within_a_side(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    """Recordings of one side that are not of one program, as far as their counts tell."""
    for name, side in (("before", before), ("after", after)):
        counts = {round(r.events_per_step, 2) for r in side}
        machines = {r.trace.metadata.device_names for r in side}
        if len(counts) > 1 or len(machines) > 1:
            shown = ", ".join(f"{count:,g}" for count in sorted(counts))
            text = f"the recordings {name} differ among themselves: {shown} device events a step"
            yield Reason("recordings_differ", text)


def _coverage(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    have = [any(r.has_device for r in side) for side in (before, after)]
    if have[0] != have[1]:
        side = "before" if have[1] else "after"
        yield Reason("no_device_work", f"the side {side} has no device work", forbids=True)
    elif not have[0]:
        yield Reason("no_device_work", "no device work on either side: only the host is compared")


def _steps(before: Sequence[Measured], after: Sequence[Measured]) -> Iterator[Reason]:
    stepped = [all(len(r.used) > 0 for r in side) for side in (before, after)]
    if stepped[0] != stepped[1]:
        where = "before" if stepped[1] else "after"
        text = f"the side {where} has no steps: its whole window would count as one"
        yield Reason("no_steps", text, forbids=True)
    elif not stepped[0]:
        yield Reason("no_steps", "no steps on either side: whole windows are compared")
    texts = _exclusions(before), _exclusions(after)
    if texts[0] == texts[1] and texts[0]:
        yield Reason("steps_excluded", f"on both sides {texts[0]}", informs=True)
    else:
        for name, text in zip(("before", "after"), texts, strict=True):
            if text:
                yield Reason("steps_excluded", f"{name}: {text}", informs=True)
    counts = [sum(len(r.used) for r in side) for side in (before, after)]
    if all(stepped) and counts[0] != counts[1]:
        text = f"{counts[0]} steps before, {counts[1]} after"
        yield Reason("step_counts_differ", text, informs=True)


def _exclusions(side: Sequence[Measured]) -> str:
    """How many steps of a side count and why others do not; empty where all do."""
    excluded = {reason for recording in side for reason in _left_out(recording)}
    if not excluded:
        return ""
    used, recorded = sum(len(r.used) for r in side), sum(r.all_steps for r in side)
    why = "; ".join(REASONS[code] for code in sorted(excluded))
    return f"{used} of {recorded} steps count ({why})"


def _step_marks(before: Measured, after: Measured) -> Iterator[Reason]:
    """Steps that one side marks by the profiler and the other by an annotation."""
    marks = [set(recording.used[s.SOURCE]) for recording in (before, after)]
    if all(marks) and marks[0] != marks[1]:
        text = "the steps of one side are the profiler's, those of the other repeated annotations"
        yield Reason("step_marks_differ", text)


def _left_out(recording: Measured) -> set[str]:
    """The codes of why steps of a recording do not count."""
    table = steps(recording.trace)
    out = table.drop(index=recording.used.index)[s.EXCLUDED]
    return {str(reason) for reason in out.fillna(OTHER_SIDE)}


def _workload(
    before: Sequence[Measured], after: Sequence[Measured], factor: str
) -> Iterator[Reason]:
    """What the recordings declare to be their work; else what their ops and kernels tell."""
    left, right = before[0].declared, after[0].declared
    if left and right and left.work.name and right.work.name:
        yield from _declared_work(left, right, factor)
        return
    yield from shape_reasons(before[0], after[0])
    counts = [round(fmean(r.events_per_step for r in side), 2) for side in (before, after)]
    if counts[0] != counts[1] and all(counts):
        step = " a step" if all(len(r.used) for r in (*before, *after)) else ""
        text = (
            f"{counts[0]:,g} device events{step} against {counts[1]:,g}, and the files do not "
            "declare their workload: make sure that they do the same job"
        )
        yield Reason("kernel_counts_differ", text)


def _declared_work(left: Workload, right: Workload, factor: str) -> Iterator[Reason]:
    if left.work.name == right.work.name and left.work.problem == right.work.problem:
        text = f"same declared workload ({left.work.text or left.work.name})"
        yield Reason("same_workload", text, informs=True)
        return
    names = f"{left.work.name} against {right.work.name}"
    changes = _changes(left.work.problem, right.work.problem)
    own = changes.keys() == {factor} and left.work.name == right.work.name
    text = f"the declared workloads differ: {'; '.join(changes.values()) or names}"
    yield Reason("workload_differs", text, forbids=True, factor=factor if own else "")


def variant_reasons(before: Measured, after: Measured) -> Iterator[Reason]:
    """Declared variants that differ: no reason against a diff, but not of one program."""
    left, right = before.declared, after.declared
    if left and right and left.work.variant and right.work.variant:
        for name, text in _changes(left.work.variant, right.work.variant).items():
            yield Reason(VARIANT_DIFFERS, text, forbids=True, factor=name)


def _changes(left: Mapping[str, object], right: Mapping[str, object]) -> dict[str, str]:
    """What differs between two declared problems or variants, in words."""
    return {
        key: f"{key} {left.get(key, 'not stated')} against {right.get(key, 'not stated')}"
        for key in {**left, **right}
        if left.get(key) != right.get(key)
    }
