"""Bytes -> Trace: read a Chrome or Kineto trace file.

container   the text within gz, zip, tar, ...; compression, archive, encodings: their layers
window      the part of the text that is in memory
outline     the properties around the events, and the way to these
decode      text -> typed columns, by Python; native: the same by compiled code
repair      single entries that no decoder takes, damaged ones too
read        all of these together: bytes -> Events, all that the file holds
dialect     names by age and vendor -> the present ones
links       which call launched which device work
sanity      device records with impossible times
parts       the events of one frame, in its order, as its columns
metadata    what a file says apart from its events
assemble    Events -> Trace
"""

from __future__ import annotations

import os

from traceview.kineto.assemble import assemble
from traceview.kineto.read import read
from traceview.trace import Trace


def load(path: str | os.PathLike[str]) -> Trace:
    """Read the trace file at `path`.

    Times are exact to the nanosecond, whatever the file's resolution and origin. Raises FileError
    (or its children NotATraceError, EmptyTraceError) with one plain sentence when nothing can be
    read; what could only be read in part is in `Trace.metadata.notes`.
    """
    name = os.fspath(path)
    return assemble(read(name), name)


__all__ = ["load"]
