"""What the reports by owner share: a table of host and device time, and how owners are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from traceview import schema as s
from traceview import units
from traceview.document import Document, Field, Section, Table
from traceview.metrics import attribution as metric
from traceview.report.heading import about, coverage_section, title
from traceview.report.rows import field, records, table
from traceview.schema import Column, Schema
from traceview.trace import Trace
from traceview.units import Unit

SHARE = Column("share", "Float64", Unit.SHARE, "share of the busy time")
_WORDS = {
    "launch": "have an owner by their launch calls",
    "external_id": "have an owner by their external ids; the launches are not recorded",
    "none": "have none: the launches are not recorded",
}


def document(
    name: str,
    trace: Trace,
    frame: pd.DataFrame,
    schema: Schema,
    keys: Mapping[Column, Field],
    *,
    limit: int,
    nested: bool = True,
    before: Sequence[Section] = (),
    more: Mapping[str, Any] | None = None,
) -> Document:
    """A report with one table of `frame`, whose rows `keys` name; `limit` is how many text shows.

    Of rows that are `nested` in others the table has what was launched below them as well.
    """
    shown = _with_share(frame)
    main = Section(
        "By owner",
        ("GPU busy is shared where work overlaps and goes to the innermost owner: it adds up.",),
        (table(name, shown, dict(keys) | _figures(frame, nested=nested), limit),),
    )
    known = metric.owner_coverage(trace)
    owned = Section("How owners are known", _lines(known))
    data = {
        "schema": f"traceview.{name}/1",
        "trace": about(trace),
        name: records(frame, schema.columns),
        "owners": records(known, s.OWNER_COVERAGE.columns),
        **(more or {}),
    }
    lead = _lead(shown, next(iter(keys)))
    return Document(name, title(trace), lead, (main, *before, owned, coverage_section(trace)), data)


def _figures(frame: pd.DataFrame, *, nested: bool) -> dict[Column, Field]:
    """The columns of figures that fit beside a name."""
    fields = {s.CALLS: field(s.CALLS, "calls")}
    if not nested:
        fields[s.HOST_SELF_NS] = field(s.HOST_SELF_NS, "host self")
    fields |= {
        s.HOST_TOTAL_NS: field(s.HOST_TOTAL_NS, "host total"),
        s.BUSY_NS: field(s.BUSY_NS, "GPU busy"),
        SHARE: field(SHARE, "share"),
    }
    if nested:
        fields[s.DEVICE_NS] = field(s.DEVICE_NS, "GPU total")
        if frame[s.BACKWARD_NS].any():
            fields[s.BACKWARD_NS] = field(s.BACKWARD_NS, "backward")
    elif frame[s.ALLOCATES].any():
        fields[s.ALLOCATES] = field(s.ALLOCATES, "allocated")
    return fields


def kinds_table(kinds: pd.DataFrame) -> Table:
    """Device work by kind."""
    frame = _with_share(kinds)
    fields = {
        s.KIND_OF_WORK: field(s.KIND_OF_WORK, "kind"),
        s.DETAIL_OF_KIND: field(s.DETAIL_OF_KIND, "which"),
        s.DEVICE_EVENTS: field(s.DEVICE_EVENTS, "work"),
        s.BUSY_NS: field(s.BUSY_NS, "GPU busy"),
        SHARE: field(SHARE, "share"),
    }
    return table("kinds", frame, fields)


def _with_share(frame: pd.DataFrame) -> pd.DataFrame:
    total = int(frame[s.BUSY_NS].sum())
    busy = frame[s.BUSY_NS].astype("Float64")
    return frame.assign(**{SHARE: busy / total if total else busy.mask(busy == 0)})


def _lead(frame: pd.DataFrame, key: Column) -> tuple[str, ...]:
    nameless = frame[key].str.startswith("(")
    named = frame[~nameless]
    if named.empty:
        return ("Nothing of the kind is recorded.",)
    if not named[s.BUSY_NS].any():
        return (f"{len(named):,} rows; none of them launched device work.",)
    first = named.iloc[0]
    text = f"{first[key]} has {units.percent(float(first[SHARE]))} of the busy time."
    if rest := float(frame.loc[nameless, SHARE].sum()):
        text += f" {units.percent(rest)} of it has no such owner."
    return (text,)


def _lines(frame: pd.DataFrame) -> tuple[str, ...]:
    rows = frame[frame[s.DEVICE_EVENTS] > 0]
    return tuple(
        f"{units.counted(events, 'piece')} of work ({units.text(ns, Unit.NS)}) {_WORDS[how]}"
        for how, events, ns in rows.astype(object).to_numpy().tolist()
    ) or ("No device work is recorded.",)
