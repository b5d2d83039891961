"""What ran in one step, as a picture: annotations, gaps, streams and host threads.

The step is the median one of those that count, so that the picture is of nothing unusual. It begins
with the host's part of the step and ends where host and devices are done with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traceview import intervals, units
from traceview import schema as s
from traceview.document import Excerpt, Section, Timeline, Track
from traceview.metrics.gaps import gaps
from traceview.metrics.steps import step_of_work, steps
from traceview.owners import owners
from traceview.report.causes import EXPLAINED
from traceview.report.rows import values
from traceview.trace import ANNOTATION, FRAME, LAUNCHING, OP, OVERHEAD, Trace, extent
from traceview.units import Unit

MOST_EVENTS = 12_000
"""Of one recording; the shortest are left out above that, so that a page stays small."""
MOST_LANES = 24
"""Of one track: what lies deeper is left out."""
_HOST = (OP, *LAUNCHING, OVERHEAD)


def timeline(*recordings: tuple[str, Trace]) -> Timeline:
    """The median step of each of these recordings, all beginning together."""
    texts: dict[str, int] = {"": 0}
    excerpts = tuple(_excerpt(label, trace, texts) for label, trace in recordings)
    title = "The median step" if len(excerpts) == 1 else "The median step of each side"
    return Timeline(title, excerpts, tuple(texts))


def section(*traces: Trace) -> Iterator[Section]:
    """The section that shows it, of one recording or of both sides of a diff."""
    names = [_name(trace) for trace in traces] if len(traces) > 1 else [""]
    sides = list(zip(names, traces, strict=True))
    if any(len(trace.host) or len(trace.work) for trace in traces):
        yield Section("Timeline", pictures=(lambda: timeline(*sides),))


@dataclass(frozen=True, slots=True)
class _Group:
    """The events of one track, in order of their start, as parallel arrays."""

    name: str
    kind: str
    start: intervals.Ints
    length: intervals.Ints
    names: NDArray[np.object_]
    details: NDArray[np.object_]

    def only(self, kept: NDArray[np.bool_]) -> _Group:
        return _Group(self.name, self.kind, self.start[kept], self.length[kept], self.names[kept],
                      self.details[kept])  # fmt: skip


def _excerpt(label: str, trace: Trace, texts: dict[str, int]) -> Excerpt:
    step, low, high = _median_step(trace)
    groups = [
        *_annotations(trace, low, high), *_devices(trace, low, high), *_threads(trace, low, high)
    ]  # fmt: skip
    groups, left_out = _within_reason(groups)
    frames = len(_inside(trace.host_of(FRAME), low, high))
    if frames:
        left_out.append(f"{frames:,} Python frames")
    tracks = [track for group in groups for track in _track(group, low, texts, left_out)]
    name = label if label and not step else f"{label}: {step}" if label else step
    return Excerpt(name or "whole window", low, high - low, tuple(tracks), tuple(left_out))


def _median_step(trace: Trace) -> tuple[str, int, int]:
    """Name, begin and end; without steps the whole of the recording."""
    table = steps(trace)
    used = table[table[s.EXCLUDED].isna()]
    if used.empty:
        frames = [frame for frame in (trace.host, trace.work) if len(frame)]
        begins = [int(frame[s.START_NS].min()) for frame in frames]
        ends = [int((frame[s.START_NS] + frame[s.DURATION_NS]).max()) for frame in frames]
        return "", min(begins, default=0), max(ends, default=0)
    length = used[s.DEVICE_PERIOD_NS].fillna(used[s.HOST_NS]).to_numpy()
    middle = int(np.argsort(length, kind="stable")[(len(used) - 1) // 2])
    columns = (s.STEP, s.START_NS, s.HOST_NS, s.DEVICE_END_NS)
    name, begin, host, device_end = values(used, columns)[middle]
    start, done = int(begin or 0), int(device_end or 0)
    return str(name), start, max(start + int(host or 0), done)


def _inside(frame: pd.DataFrame, low: int, high: int) -> pd.DataFrame:
    """The events that share an instant with the stretch."""
    start, end = extent(frame)
    inside: pd.DataFrame = frame[(end > low) & (start < high)]
    return inside


def _group(name: str, kind: str, frame: pd.DataFrame, details: NDArray[np.object_]) -> _Group:
    return _Group(
        name,
        kind,
        frame[s.START_NS].to_numpy(),
        frame[s.DURATION_NS].to_numpy(),
        frame[s.NAME].astype("object").to_numpy(),
        details,
    )


def _annotations(trace: Trace, low: int, high: int) -> Iterator[_Group]:
    yield from _by_thread(trace, _inside(trace.host_of(ANNOTATION), low, high), "annotation")


def _threads(trace: Trace, low: int, high: int) -> Iterator[_Group]:
    yield from _by_thread(trace, _inside(trace.host_of(*_HOST), low, high), "host")


def _by_thread(trace: Trace, events: pd.DataFrame, kind: str) -> Iterator[_Group]:
    keys = [events[s.PROCESS].astype("str"), events[s.THREAD].astype("str")]
    for (process, thread), mine in events.groupby(keys, sort=True):
        known = trace.metadata.thread_names.get((str(process), str(thread)))
        name = known or f"thread {thread}"
        what = f"annotations of {name}" if kind == "annotation" else name
        yield _group(what, kind, mine, mine[s.CATEGORY].astype("object").to_numpy())


def _devices(trace: Trace, low: int, high: int) -> Iterator[_Group]:
    work = trace.work
    owned = owners(trace)
    owner = _joined(owned[s.ANNOTATION_PATH], owned[s.OWNER_OP]) + _launched_in(trace)
    inside = _inside(work, low, high)
    waits = _inside(gaps(trace), low, high)
    devices = np.unique(work[s.DEVICE_ID])
    for device in devices.tolist():
        yield _waits(f"GPU {device}: idle", waits[(waits[s.DEVICE_ID] == device).to_numpy()])
        mine = inside[(inside[s.DEVICE_ID] == device).to_numpy()]
        for stream, events in mine.groupby(s.STREAM, dropna=False, sort=True):
            name = f"GPU {device}: " + ("no stream" if pd.isna(stream) else f"stream {stream}")
            yield _group(name, "device", events, owner[events.index.to_numpy()])


def _joined(annotation: pd.Series, op: pd.Series) -> NDArray[np.object_]:
    """Who launched it: the path of annotations, then the op."""
    parts = [column.astype("object").fillna("") for column in (annotation, op)]
    return np.array(
        [" > ".join(filter(None, (a.replace("/", " > "), b))) for a, b in zip(*parts, strict=True)],
        dtype=object,
    )


def _launched_in(trace: Trace) -> NDArray[np.object_]:
    """The step that launched each piece of work, as a line of its own; nothing where none did."""
    names = [f"\nlaunched in {name}" for name in steps(trace)[s.STEP]]
    lines = np.array([*names, ""], dtype=object)
    return np.asarray(lines[step_of_work(trace)])


def _waits(name: str, found: pd.DataFrame) -> _Group:
    rows = zip(found[s.CAUSE], found[s.OP], found[s.ENDED_BY], strict=True)
    details = [
        f"{EXPLAINED[cause]}"
        + ("" if pd.isna(op) else f"\nhost was in {op}")
        + ("" if pd.isna(ended) else f"\nended by {ended}")
        for cause, op, ended in rows
    ]
    names = ("idle: " + found[s.CAUSE]).to_numpy(dtype=object)
    start, length = (found[column].to_numpy() for column in (s.START_NS, s.DURATION_NS))
    return _Group(name, "idle", start, length, names, np.array(details, dtype=object))


def _within_reason(groups: Sequence[_Group]) -> tuple[list[_Group], list[str]]:
    """The groups with no more than MOST_EVENTS in all, and what was left out for that."""
    lengths = np.concatenate([group.length for group in groups] or [np.empty(0, np.int64)])
    if lengths.size <= MOST_EVENTS:
        return [group for group in groups if group.start.size], []
    least = int(np.sort(lengths)[-MOST_EVENTS])
    kept = [group.only(group.length > least) for group in groups]
    missing = lengths.size - sum(group.start.size for group in kept)
    said = f"{units.counted(missing, 'event')} of {units.text(least, Unit.NS)} and less"
    return [group for group in kept if group.start.size], [said]


def _track(group: _Group, low: int, texts: dict[str, int], left_out: list[str]) -> Iterator[Track]:
    lane = intervals.lanes(group.start, group.start + group.length)
    deep = int((lane >= MOST_LANES).sum())
    if deep:
        left_out.append(f"{units.counted(deep, 'event')} of {group.name} below {MOST_LANES} others")
    columns = (group.start - low, group.length, lane, group.names, group.details)
    events = tuple(
        (start, length, number, _number(name, texts), _number(detail, texts))
        for start, length, number, name, detail in zip(
            *(column.tolist() for column in columns), strict=True
        )
        if number < MOST_LANES
    )
    if events:
        yield Track(group.name, group.kind, min(int(lane.max()) + 1, MOST_LANES), events)


def _number(text: object, texts: dict[str, int]) -> int:
    return texts.setdefault(str(text), len(texts))


def _name(trace: Trace) -> str:
    """The name of the file, to tell the sides of a diff apart."""
    return PurePath(trace.metadata.path).name.split(".")[0] if trace.metadata.path else "trace"
