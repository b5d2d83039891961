"""A figure is the same in every format: text, Markdown, the page and its picture, CSV, JSON."""

import csv
import json
import re
from collections.abc import Callable
from html import unescape
from io import StringIO
from pathlib import Path

from traceview import units
from traceview.diff import diff
from traceview.document import Waterfall
from traceview.render import render
from traceview.report import diff as report
from traceview.trace import Trace
from traceview.units import Unit


def test_where_a_difference_comes_from(shared: Path, load: Callable[[Path], Trace]) -> None:
    before, after = (
        load(shared / "h200" / f"train_{name}.pt.trace.json.gz") for name in ("eager_attn", "sdpa")
    )
    compared = diff(before, after)
    document = report.document(compared, limit=10_000)
    made = {name: render(document, name) for name in ("text", "markdown", "html", "csv", "json")}
    data = json.loads(made["json"])["attribution"]
    total = data["total_delta_ns"]
    assert sum(row["delta_ns"] for row in data["rows"]) == total

    lines = [line for line in csv.reader(StringIO(made["csv"])) if line[0] == "attribution"]
    deltas = [int(value) for _, _, column, _, value in lines if column == "delta"]
    assert sum(deltas) == total

    pictures = [draw() for part in document.sections for draw in part.pictures]
    (waterfall,) = (picture for picture in pictures if isinstance(picture, Waterfall))
    assert waterfall.after - waterfall.before == total
    steps = [delta for _, delta in waterfall.rows]
    assert steps[:10] == deltas[:10]

    page = re.search(r'<table id="attribution">.*?</table>', made["html"], re.DOTALL)
    assert page is not None
    raw = re.findall(r'<tr id=[^>]*><td class="number" data-v="(-?\d+)">([^<]*)</td>', page[0])
    assert [int(value) for value, _ in raw] == deltas[: len(raw)]

    headline = units.text(total, Unit.NS, signed=True)
    for name in ("text", "markdown", "html"):
        assert f"Where the {headline} of the device period come from" in unescape(made[name])
    for _, shown in raw[:8]:
        assert re.search(rf"^ *{re.escape(shown)} ", made["text"], re.MULTILINE)
        assert f"| {shown} |" in made["markdown"]
