"""What differs between two sides besides the change that was declared.

The factors of a recording are what it says of itself: device, versions, profiler options, declared
work, and the type of its numbers. Only what both sides tell is compared: unknown is not different.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from traceview import schema as s
from traceview.diff import TraceDiff
from traceview.diff.measure import Measured
from traceview.experiment.record import NO_CHANGE, Change, Difference
from traceview.trace import OP, OPTIONS, Trace
from traceview.workload import Fact

_PASSING = frozenset({
    "sm_clock_mhz", "memory_clock_mhz", "power_w", "temperature_c", "trace_only",
})  # fmt: skip
"""What is never the same twice, and no factor of the work."""
_FLOATS = {
    "c10::BFloat16": "bfloat16", "c10::Half": "float16", "float": "float32", "double": "float64",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2",
}  # fmt: skip
_IN_NAMES = {
    "bfloat16": re.compile(r"bfloat16|bf16", re.IGNORECASE),
    "float16": re.compile(r"c10::Half|__half|(?<!b)f16|fp16|(?<!b)float16", re.IGNORECASE),
}
_FROM_SHAPES = {"shapes_differ": "input shapes", "dtypes_differ": "input types"}
"""Reasons of a diff that are factors of their own."""


def factors(side: Sequence[Measured]) -> dict[str, Fact]:
    """What the recordings of a side say of themselves, by factor; both where they disagree."""
    told = [_facts(recording) for recording in side]
    names = dict.fromkeys(name for facts in told for name in facts)
    found: dict[str, Fact] = {}
    for name in names:
        values = sorted({facts[name] for facts in told if facts.get(name) is not None}, key=str)
        if values:
            found[name] = values[0] if len(values) == 1 else " | ".join(map(str, values))
    return found


def variants(side: Sequence[Measured]) -> set[str]:
    """The factors that the recordings of a side declare to be what a comparison is about."""
    workloads = filter(None, (recording.declared for recording in side))
    return {name for workload in workloads for name in workload.work.variant}


def differences(diff: TraceDiff, change: Change) -> tuple[Difference, ...]:
    """The factors that are not the same on both sides, the declared one first."""
    before, after = factors(diff.before), factors(diff.after)
    found = [
        Difference(name, before[name], after[name])
        for name in before
        if name in after and before[name] != after[name]
    ]
    known = {difference.factor for difference in found}
    found += [
        Difference(_FROM_SHAPES[reason.code], note=reason.text)
        for reason in diff.reasons
        if reason.code in _FROM_SHAPES and not (reason.code == "dtypes_differ" and "dtype" in known)
    ]
    own = _own(found, change, variants(diff.before) | variants(diff.after))
    marked = [
        Difference(d.factor, d.before, d.after, d.factor in own, d.note) for d in found
    ]  # fmt: skip
    return tuple(sorted(marked, key=lambda difference: not difference.declared))


def fixed(diff: TraceDiff) -> dict[str, Fact]:
    """The factors that are the same on both sides."""
    before, after = factors(diff.before), factors(diff.after)
    return {name: value for name, value in before.items() if after.get(name) == value}


def unattributable(diff: TraceDiff, change: Change, found: Sequence[Difference]) -> Iterator[str]:
    """Why an effect cannot be put down to the declared change, a sentence each."""
    others = "; ".join(difference.text for difference in found if not difference.declared)
    if others:
        whose = "nothing" if change.factor == NO_CHANGE else f"only {change.factor}"
        yield f"{whose} was declared to change, and these did: {others}"
    yield from _not_as_declared(diff, change)


def _not_as_declared(diff: TraceDiff, change: Change) -> Iterator[str]:
    """A declared change that the recordings do not show, where they would."""
    before, after = factors(diff.before), factors(diff.after)
    name = next((name for name in before if same_name(name, change.factor)), None)
    if name is None or name not in after:
        return
    seen = str(before[name]), str(after[name])
    if seen != (change.before, change.after):
        yield (
            f"declared was {change.text}, and the recordings show {name}: {seen[0]} -> {seen[1]}"
        )


def same_name(first: str, second: str) -> bool:
    """Whether two names of a factor are one, however they are written."""
    return plain(first) == plain(second)


def plain(name: str) -> str:
    """The name of a factor as recordings have it."""
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())


def _own(found: Sequence[Difference], change: Change, told: set[str]) -> set[str]:
    """The difference that is the declared change.

    That of its name; else the one variant that differs: a recording may call the change otherwise,
    as it does where another backend is how another mask comes about.
    """
    if change.factor == NO_CHANGE:
        return set()
    named = {d.factor for d in found if same_name(d.factor, change.factor)}
    varied = {d.factor for d in found if d.factor in told}
    return named or (varied if len(varied) == 1 else set())


def _facts(recording: Measured) -> dict[str, Fact]:
    metadata, told = recording.trace.metadata, recording.declared
    options = metadata.options
    facts: dict[str, Fact] = {
        "device": ", ".join(metadata.device_names) or None,
        "torch": metadata.torch_version,
        **metadata.versions,
        **{name: "on" if options.get(name) else "off" for name in OPTIONS},
        "dtype": _dtype(recording.trace),
    }
    if told is not None:
        work = told.work
        parts: tuple[Mapping[str, Fact], ...] = (
            told.environment, told.options, work.variant, work.problem,
        )  # fmt: skip
        facts |= {name: value for part in parts for name, value in part.items()}
        facts["work"] = work.name or None
    return {name: value for name, value in facts.items() if name not in _PASSING}


def _dtype(trace: Trace) -> str | None:
    """The floating-point type of most of the numbers that ops take, else that kernels name."""
    ops = trace.host_of(OP)
    ops = ops[ops[s.INPUT_TYPES].notna() & ops[s.INPUT_DIMS].notna()]
    weights: Counter[str] = Counter()
    kinds = ops.groupby([s.INPUT_TYPES, s.INPUT_DIMS], observed=True).size()
    for types, dims, calls in kinds.reset_index().itertuples(index=False, name=None):
        for name, elements in _tensors(str(types), str(dims)):
            weights[name] += elements * int(calls)
    if not weights:
        weights = _in_kernel_names(trace)
    return max(weights, key=lambda name: (weights[name], name)) if weights else None


def _tensors(types: str, dims: str) -> Iterator[tuple[str, int]]:
    """(type, elements) of the floating-point tensors among recorded inputs."""
    try:
        named, shaped = json.loads(types), json.loads(dims)
    except ValueError:
        return
    if not isinstance(named, list) or not isinstance(shaped, list):
        return
    for name, shape in zip(named, shaped, strict=False):
        whole = isinstance(shape, list) and all(isinstance(size, int) for size in shape)
        if whole and shape and str(name) in _FLOATS:
            yield _FLOATS[str(name)], max(int(np.prod(shape, dtype=np.int64)), 0)


def _in_kernel_names(trace: Trace) -> Counter[str]:
    """GPU time of the kernels that name a half-precision type; of other types names say little."""
    work = trace.work
    times = work.groupby(s.NAME, observed=True)[s.DURATION_NS].sum()
    weights: Counter[str] = Counter()
    for kernel, ns in times.items():
        for name, pattern in _IN_NAMES.items():
            if pattern.search(str(kernel)):
                weights[name] += int(ns)
    return weights
