"""What the figures leave out, and what they cannot know: nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from traceview import busy, units
from traceview import schema as s
from traceview.calls import closing_synchronize, without_work
from traceview.trace import LAUNCHING, OUT_OF_MEMORY, Note, Trace


def coverage(trace: Trace) -> pd.DataFrame:
    """One row a note: a code, a sentence, how many events, how long; columns as schema.COVERAGE.

    The notes of the reader come first, then what the recording lacks, with the option that would
    supply it, then what is counted apart.
    """
    notes = [*trace.metadata.notes, *_lacking(trace), *_apart(trace)]
    return s.COVERAGE.of_rows([(note.code, note.text, note.count, note.ns) for note in notes])


def _lacking(trace: Trace) -> Iterator[Note]:
    cut = trace.metadata.cut_off
    if trace.host.empty:
        advice = _cut("host events") if cut else "record with ProfilerActivity.CPU"
        yield Note("no_host_events", f"no host events: {advice}")
    elif trace.work.empty:
        advice = _cut("device work") if cut else "record with ProfilerActivity.CUDA (or XPU)"
        yield Note("no_device_work", f"no device work: {advice}")
    if not trace.work.empty and trace.host_of(*LAUNCHING).empty:
        yield Note("no_launches", "no runtime calls: launches, syncs and causes are unknown")
    if trace.memory.empty:
        advice = _cut("memory events") if cut else "record with profile_memory=True"
        yield Note("no_memory_events", f"no memory events: {advice}")
    if trace.metadata.resolution_ns > 1:
        yield Note(
            "whole_microseconds", "times are whole microseconds: a duration of 0 is under one"
        )


def _cut(what: str) -> str:
    return f"the file is cut off: {what} may lie in the missing part"


def _apart(trace: Trace) -> Iterator[Note]:
    work = trace.work
    unlinked = work[s.LAUNCH].isna().to_numpy()
    leaked = trace.leaked
    if leaked.any():
        count = int(leaked.sum())
        text = f"{_pieces(count)} launched before the recording: busy, in no step"
        yield Note("leaked_warmup", text, count, busy.union(work[leaked]))
    if (lost := unlinked & ~leaked).any():
        count = int(lost.sum())
        text = f"{_pieces(count)} without a launch in the file: busy, in no step"
        yield Note("lost_launch_records", text, count, busy.union(work[lost]))
    closing = closing_synchronize(trace)
    if len(closing):
        text = "the profiler's own closing synchronize: no sync stall of the program"
        yield Note("closing_synchronize", text, len(closing), int(closing[s.DURATION_NS].sum()))
    if without := len(without_work(trace)):
        text = f"{units.plural(without, 'launch call')} whose device work is not in the file"
        yield Note("launches_without_work", text, without)
    if failed := int((trace.memory[s.NAME] == OUT_OF_MEMORY).sum()):
        text = f"{units.plural(failed, 'allocation')} that failed for want of memory: in no peak"
        yield Note("out_of_memory", text, failed)
    if early := _before_its_launch(trace):
        start = units.plural(early, "starts before its", "start before their")
        text = f"{_pieces(early)} that {start} launch: clocks disagree"
        yield Note("negative_latency", text, early)


def _pieces(count: int) -> str:
    return f"{units.plural(count, 'piece')} of device work"


def _before_its_launch(trace: Trace) -> int:
    work = trace.work
    launch = work[s.LAUNCH].to_numpy(dtype=np.int64, na_value=-1)
    begin = np.append(trace.host[s.START_NS].to_numpy(), 0)[launch]
    return int(((launch >= 0) & (work[s.START_NS].to_numpy() < begin)).sum())
