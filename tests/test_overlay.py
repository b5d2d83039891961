"""The overlay: a recording that is whole, nests on every track, and reads as before."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import TraceBuilder
from cli.commandline import traceview
from hypothesis import given
from hypothesis import strategies as st

from traceview import intervals, kineto
from traceview import schema as s
from traceview.errors import FileError, UsageError
from traceview.kineto.rewrite import Lane, Slice, rewritten
from traceview.metrics.gaps import idle
from traceview.metrics.utilization import devices
from traceview.overlay import overlay
from traceview.trace import Trace

RECORDINGS = (
    "h200/overlap.pt.trace.json.gz",
    "h200/cudagraph.pt.trace.json.gz",
    "public/tl_b200_eager.json.gz",
)
Entry = dict[str, Any]


def entries(file: Path) -> list[Entry]:
    """What a file holds, read plainly."""
    opened = gzip.open if file.name.endswith(".gz") else open
    with opened(file, "rb") as stream:
        read: list[Entry] = json.load(stream)["traceEvents"]
    return read


def crossings(read: list[Entry]) -> int:
    """How many slices end after one that began before them on their track."""
    tracks = defaultdict(list)
    for entry in read:
        if entry.get("ph") == "X":
            start = round(float(entry["ts"]) * 1000)
            length = round(float(entry.get("dur", 0)) * 1000)
            tracks[entry["pid"], entry["tid"]].append((start, -length))
    found = 0
    for slices in tracks.values():
        around: list[int] = []
        for start, minus in sorted(slices):
            while around and around[-1] <= start:
                around.pop()
            found += bool(around) and start - minus > around[-1]
            around.append(start - minus)
    return found


def own(entry: Entry) -> bool:
    """Whether the overlay added it."""
    return entry["pid"] == 2**31 - 1 or str(entry.get("args", {}).get("name")).endswith("crossing")


def without_track(read: list[Entry]) -> Counter[str]:
    """The entries as texts, whatever thread they are on."""
    return Counter(json.dumps({**entry, "tid": None}, sort_keys=True) for entry in read)


def written(trace: Trace, file: Path, **how: Any) -> Path:
    """The overlay of a trace as a file."""
    file.write_bytes(b"".join(overlay(trace, **how)))
    return file


def small(folder: Path) -> Trace:
    """A recording on disk: a gap of 30 us in Python between two kernels."""
    t = TraceBuilder()
    t.step(1, 0, 100)
    t.python("train.py(3): step", 5, 90)
    t.launch(10, "gemm", 20, 20)
    t.launch(60, "relu", 70, 10)
    t.write(folder / "trace.json")
    return kineto.load(folder / "trace.json")


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_event_is_lost_and_all_nest(
    name: str, shared: Path, load: Callable[[Path], Trace], tmp_path: Path
) -> None:
    trace = load(shared / name)
    file = written(trace, tmp_path / "overlay.json")
    read = entries(file)
    kept = [entry for entry in read if not own(entry)]
    assert without_track(kept) == without_track(entries(shared / name))
    assert crossings(read) == 0
    assert len(read) > len(kept)
    again = kineto.load(file)
    pd.testing.assert_frame_equal(
        again.device.drop(columns=s.LAUNCH), trace.device.drop(columns=s.LAUNCH)
    )
    assert (again.metadata.dropped, again.metadata.repaired) == (
        trace.metadata.dropped, trace.metadata.repaired,
    )  # fmt: skip
    assert (again.host[s.CATEGORY] != "traceview").sum() == len(trace.host)
    assert len(again.memory) == len(trace.memory)
    pd.testing.assert_frame_equal(devices(again), devices(trace))
    pd.testing.assert_frame_equal(idle(again), idle(trace))


def test_a_gap_says_why(tmp_path: Path) -> None:
    trace = small(tmp_path)
    added = [e for e in entries(written(trace, tmp_path / "o.json")) if own(e)]
    (gap,) = (e for e in added if e["ph"] == "X" and e["name"].startswith("idle"))
    assert gap["name"] == "idle: python"
    assert (gap["ts"], gap["dur"]) == (40, 30)
    parts = {k: v for k, v in gap["args"].items() if k.endswith("_ns")}
    assert sum(parts.values()) == 30_000
    assert gap["args"]["ended_by"] == "relu"
    tracks = {e["args"]["name"] for e in added if e["name"] == "thread_name"}
    assert {"GPU 0: idle", "critical path"} <= tracks
    assert {e["name"] for e in added if e["ph"] == "C"} == {"GPU 0: queue depth"}


def test_work_is_matched_with_that_before(tmp_path: Path) -> None:
    trace = small(tmp_path)
    added = entries(written(trace, tmp_path / "o.json", against=trace))
    names = [e["name"] for e in added if own(e) and "change" in e.get("args", {})]
    assert sorted(names) == ["both: gemm", "both: relu"]


def test_a_step_is_all_that_is_kept(
    shared: Path, load: Callable[[Path], Trace], tmp_path: Path
) -> None:
    trace = load(shared / "h200" / "overlap.pt.trace.json.gz")
    step = "ProfilerStep#10"
    again = kineto.load(written(trace, tmp_path / "o.json", step=step))
    assert step in set(again.host[s.NAME])
    assert 0 < len(again.device) < len(trace.device) / 5
    with pytest.raises(UsageError, match="there is no step 'x'; the steps are ProfilerStep#"):
        overlay(trace, step="x")


def test_what_cannot_be_laid_over(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="was not read from a file"):
        overlay(TraceBuilder().trace())
    file = tmp_path / "torn.json"
    trace = small(tmp_path)
    file.write_bytes((tmp_path / "trace.json").read_bytes()[:-40])
    with pytest.raises(FileError, match="is damaged"):
        list(rewritten(str(file), trace.metadata.origin_ns, [], []))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=12))
def test_slices_that_cross_get_tracks_of_their_own(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[int, int]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "bare.json"
    file.write_text('{"traceEvents": [], "a": 12345678901234567.25}', encoding="utf-8")
    lane = Lane("lane", [Slice(start, length, "x", {}) for start, length in spans])
    text = b"".join(rewritten(str(file), 0, [lane], []))
    assert b'"a": 12345678901234567.25' in text
    read = json.loads(text)["traceEvents"]
    assert crossings(read) == 0
    assert sum(entry["ph"] == "X" for entry in read) == len(spans)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20)), max_size=12))
def test_lanes_hold_no_overlap(spans: list[tuple[int, int]]) -> None:
    ordered = sorted(((start, start + length) for start, length in spans),
                     key=lambda one: (one[0], -one[1]))  # fmt: skip
    start, end = ([one[i] for one in ordered] for i in (0, 1))
    lanes = intervals.lanes(start, end)
    for lane in set(lanes.tolist()):
        mine = [one for one, number in zip(ordered, lanes, strict=True) if number == lane]
        assert all(a[1] <= b[0] for a, b in pairwise(mine))


def test_the_command(tmp_path: Path) -> None:
    small(tmp_path)
    recording, file = tmp_path / "trace.json", tmp_path / "o.json.gz"
    ended = traceview("export", recording, "--overlay", "-o", file)
    assert (ended.returncode, ended.stderr) == (0, "")
    first = file.read_bytes()
    traceview("export", recording, "--overlay", "-o", file)
    assert file.read_bytes() == first
    assert crossings(entries(file)) == 0
    for wrong in (["gaps", "--overlay"], [], ["gaps", "--step", "a"]):
        assert traceview("export", recording, *wrong, "-o", file).returncode == 2
    assert "the recording" in traceview("export", recording, "--overlay", "-o", recording).stderr


@pytest.mark.parametrize("time", ["1e300", "9.2e15"])
def test_a_time_that_no_integer_holds_is_copied_as_it_is(tmp_path: Path, time: str) -> None:
    file = tmp_path / "trace.json"
    t = TraceBuilder()
    t.launch(10, "gemm", 20, 30)
    t.work("stray", 11, 12)
    t.write(file)
    file.write_text(file.read_text().replace('"ts": 11', f'"ts": {time}')
                    .replace('"dur": 12', '"dur": 9.2e15'))  # fmt: skip
    trace = kineto.load(str(file))
    written = tmp_path / "overlay.json"
    written.write_bytes(b"".join(overlay(trace)))
    (stray,) = (entry for entry in entries(written) if entry["name"] == "stray")
    assert stray["ts"] == float(time)
    assert devices(kineto.load(str(written))).equals(devices(trace))
