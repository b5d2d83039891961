"""Hypotheses that can fail, and records that add up.

record    what a record says, as types; the verdict, which follows from the recorded numbers
front     the front matter of a file, with the line of everything in it
text      record <-> one Markdown file with YAML front matter; a fault is named with its line
factors   what differs between two sides besides what was declared
observe   traces -> what was observed
folder    records in folders: new ones, all of them, two folders made one

A prediction is written before anything is recorded. Numbers and verdicts are generated: what is
changed by hand afterwards is found and named.
"""

from __future__ import annotations

from traceview.experiment.folder import Entry, create, entries, find, merge, save
from traceview.experiment.observe import observe
from traceview.experiment.record import Change, Observed, Plan, Problem, Record, Verdict

__all__ = [
    "Change",
    "Entry",
    "Observed",
    "Plan",
    "Problem",
    "Record",
    "Verdict",
    "create",
    "entries",
    "find",
    "merge",
    "observe",
    "save",
]
