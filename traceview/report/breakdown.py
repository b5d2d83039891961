"""Where a difference comes from, in words: regions, replacements and causes of idle time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from traceview import schema as s
from traceview import units
from traceview.diff import TraceDiff
from traceview.diff.attribute import ANYWHERE, BUSY, IDLE, SEPARATOR
from traceview.diff.comparable import SAME_RECORDING
from traceview.diff.match import Change
from traceview.document import Field, Section, Table
from traceview.kernel_names import short
from traceview.report import pictures
from traceview.report.causes import EXPLAINED
from traceview.report.rows import records, values
from traceview.units import Unit


def sections(diff: TraceDiff, shown: int) -> Iterator[Section]:
    """The breakdown by region, `shown` rows of it, and what the largest replacement is made of.

    None of a recording against itself, where every row would be 0.
    """
    frame = diff.attribution
    same = any(reason.code == SAME_RECORDING for reason in diff.reasons)
    if frame.empty or (same and not frame[s.DELTA_NS].any()):
        return
    total = int(frame[s.DELTA_NS].sum())
    fields = (
        Field("delta", Unit.NS, signed=True),
        Field("before", Unit.NS),
        Field("after", Unit.NS),
        Field("what", prose=True),
    )
    groups = _groups(records(frame, s.ATTRIBUTION.columns))
    rows = tuple((g.delta, g.before, g.after, g.text) for g in groups)
    busy = int(frame.loc[(frame[s.PART] == BUSY).to_numpy(), s.DELTA_NS].sum())
    parts = (units.text(ns, Unit.NS, signed=True) for ns in (busy, total - busy))
    lines = (" busy and ".join(parts) + " idle; the rows add up exactly.",)
    title = f"Where the {units.text(total, Unit.NS, signed=True)} of the device period come from"
    before = sum(group.before for group in groups)
    steps = [(group.text, group.delta) for group in groups]
    yield Section(
        title,
        lines,
        (Table("attribution", fields, rows, shown),),
        (lambda: pictures.waterfall("From before to after, a step", before, steps),),
    )
    yield from _replaced(diff)


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows of one region, or one cause of idle time, as one line."""

    text: str
    before: int
    after: int

    @property
    def delta(self) -> int:
        return self.after - self.before


def _groups(rows: Sequence[dict[str, Any]]) -> list[_Group]:
    """The rows of an attribution by region, largest change first."""
    by_line: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        whole = row[s.PART] == IDLE or row[s.CHANGE] == Change.REPLACED
        key = row[s.PATH] if whole else row[s.REGION] or row[s.PATH]
        by_line.setdefault((row[s.PART], f"{row[s.CHANGE]} {key}"), []).append(row)
    groups = [
        _Group(_words(members), _sum(members, s.BEFORE_NS), _sum(members, s.AFTER_NS))
        for members in by_line.values()
    ]
    return sorted(groups, key=lambda group: -abs(group.delta))


def _sum(rows: Sequence[dict[str, Any]], column: s.Column) -> int:
    return sum(row[column] for row in rows)


def _words(members: Sequence[dict[str, Any]]) -> str:
    """What a line of the attribution is about, and how its cost changed."""
    first = members[0]
    if first[s.PART] == IDLE:
        return f"idle: {EXPLAINED.get(first[s.PATH], first[s.PATH])}"
    if first[s.CHANGE] == Change.REPLACED:
        doubt = "" if first[s.CONFIDENCE] > _SURE else ", as far as names tell"
        where = "" if first[s.PATH] == ANYWHERE else f" in {_region(first[s.PATH])}"
        return f"replaced{doubt}{where}: {first[s.LABEL]}"
    names = [_leaf(member[s.PATH]) for member in members]
    where = _region(first[s.REGION]) or names[0]
    what = f"{where}: {names[0]}" if len(names) == 1 and where != names[0] else where
    mark = {Change.ONLY_BEFORE: "gone: ", Change.ONLY_AFTER: "new: "}.get(first[s.CHANGE], "")
    return mark + what + ("" if mark else _cost(members))


_SURE = 0.5
"""The confidence of a replacement of which only the remainder of both sides is known."""


def _cost(members: Sequence[dict[str, Any]]) -> str:
    """Whether there are more calls, or each takes longer."""
    more = sum(m[s.AFTER_CALLS] - m[s.BEFORE_CALLS] for m in members)
    if round(more, 2):
        return f" ({more:+,.4g} calls)"
    old, new = (
        sum(m[calls] * m[mean] for m in members)
        for calls, mean in (
            (s.BEFORE_CALLS, s.BEFORE_CALL_NS),
            (s.AFTER_CALLS, s.AFTER_CALL_NS),
        )
    )
    if not old or not new:
        return ""
    change = new / old - 1
    if abs(change) < _SAME:
        return ""
    if len(members) == 1 and _only_in_company(members[0], change):
        return f" (same calls, {units.percent(change)} slower only beside communication or copies)"
    direction = "slower" if change > 0 else "faster"
    return f" (same calls, each {units.percent(abs(change))} {direction})"


def _only_in_company(row: dict[str, Any], change: float) -> bool:
    """Whether a kernel is slower, but not where it overlaps no communication and no copy."""
    before, after = row[s.BEFORE_ALONE_NS], row[s.AFTER_ALONE_NS]
    return change > _NOTICEABLE and before and after and after / before - 1 < change / 2


_NOTICEABLE = 0.02
_SAME = 0.0005
"""Half a unit of the last place shown."""


def _region(region: str) -> str:
    """The region in few words: its first and its last name."""
    names = [name.removeprefix(_BACKWARD) for name in region.split(SEPARATOR) if name]
    return SEPARATOR.join(names if len(names) <= _FEW else [names[0], "...", names[-1]])


_BACKWARD = "autograd::engine::evaluate_function: "
_FEW = 2


def _leaf(path: str) -> str:
    return short(path.rsplit(SEPARATOR, maxsplit=1)[-1])


def _replaced(diff: TraceDiff) -> Iterator[Section]:
    """What the largest replacement consists of, the costliest first."""
    if diff.replaced.empty:
        return
    row = int(diff.replaced[s.ROW].min())
    members = diff.replaced[(diff.replaced[s.ROW] == row).to_numpy()]
    rows = sorted(
        (
            (str(side), ns, calls, _member(str(path)))
            for side, ns, calls, path in values(members, (s.SIDE, s.NS, s.CALLS_A_STEP, s.PATH))
        ),
        key=lambda line: (line[0] == "after", -int(line[1] or 0)),
    )
    shown = [r for r in rows if r[0] == "before"][:_MEMBERS]
    shown += [r for r in rows if r[0] == "after"][:_MEMBERS]
    fields = (Field("side"), Field("a step", Unit.NS), Field("calls", Unit.COUNT),
              Field("op: kernel", stretch=True))  # fmt: skip
    hidden = len(rows) - len(shown)
    lines = (f"The {len(shown)} costliest of {len(rows)} parts.",) if hidden else ()
    yield Section("What the largest replacement consists of", lines,
                  (Table("replaced", fields, tuple(shown)),), folded=True)  # fmt: skip


_MEMBERS = 3


def _member(path: str) -> str:
    """The op and the kernel at the end of a path."""
    names = path.split(SEPARATOR)
    return ": ".join([*names[-2:-1], short(names[-1])])
