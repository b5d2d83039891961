"""The walk: from the end of a window backwards, always to what was waited for last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from traceview.metrics.critical_path.device import UNLINKED, Waits
from traceview.metrics.critical_path.host import Thread

WORKING, RETURNING, RUNNING = "working", "sync", "running"
"""What a stretch is besides a wait of device work (`device.Waits.wait`): device work itself, the
way back from it to the host in a blocking call, a host thread at work."""
_NONE = -1


class Stretch(NamedTuple):
    """A part [start, end) of the path: of device work (`work`) or on a host thread (`thread`)."""

    start: int
    end: int
    what: str
    work: int = _NONE
    thread: int = _NONE


def walked(
    waits: Waits,
    threads: Mapping[int, Thread],
    launching: list[int],
    window: tuple[int, int],
    begin: tuple[int, int],
) -> list[Stretch]:
    """The path through a window, latest stretch first; the stretches tile the window exactly.

    `begin` is (work, -1) or (-1, thread): what ended the window. `launching` is the thread that
    launched each piece of work. Each step of the walk either enters work that it had not seen, or
    goes back on a host thread, so that it ends.
    """
    low, time = window
    work, thread = begin
    path: list[Stretch] = []
    seen: set[int] = set()

    def add(until: int, what: str, work: int = _NONE, thread: int = _NONE) -> None:
        nonlocal time
        until = max(min(until, time), low)
        if until < time:
            path.append(Stretch(until, time, what, work, thread))
            time = until

    while time > low:
        if work >= 0:
            seen.add(work)
            add(waits.start[work], WORKING, work)
            add(waits.ready[work], waits.wait[work], work)
            before = waits.before[work]
            if before in seen:
                break
            work, thread = (before, _NONE) if before >= 0 else (_NONE, launching[work])
            continue
        leave = threads[thread].leave_before(time) if thread in threads else None
        while leave is not None and leave.work in seen:
            leave = threads[thread].leave_before(leave.at - 1)
        if leave is None:
            break
        add(leave.at, RUNNING, thread=thread)
        if leave.work >= 0:
            add(waits.end[leave.work], RETURNING, thread=thread)
        work, thread = leave.work, leave.thread
    add(low, RUNNING if thread >= 0 else UNLINKED, work, thread)
    return path
