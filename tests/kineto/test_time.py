"""Times are exact integers of ns, whatever their size and their spelling (format notes, 1.5)."""

import gzip
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import both, counts

from traceview import schema as s
from traceview.kineto import load
from traceview.kineto.read import read
from traceview.kineto.values import nanoseconds
from traceview.tree import tree


def test_absolute_times_with_a_fraction_are_exact(shared: Path) -> None:
    # A float64 gets 45,250 of the 45,420 wrong.
    file = shared / "public" / "hta_ns_absolute.json.gz"
    entries = json.loads(gzip.decompress(file.read_bytes()), parse_float=Decimal)["traceEvents"]
    complete = [row for row, entry in enumerate(entries) if entry["ph"] == "X"]
    assert len(complete) == 45_420
    events = read(file)
    assert events.start_ns[complete].tolist() == [int(entries[r]["ts"] * 1000) for r in complete]
    assert events.duration_ns[complete].tolist() == [
        int(entries[r]["dur"] * 1000) for r in complete
    ]
    assert not events.whole_microseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-0.001", -1),
        ("12", 12_000),
        ("1711964646123456.789", 1_711_964_646_123_456_789),
        ("9223372036854774.807", 9_223_372_036_854_774_807),
        # Fractions of a ns are rounded, half to even.
        ("0.0005", 0),
        ("0.0015", 2),
        ("0.00051", 1),
        ("0.00049999", 0),
        ("-0.0015", -2),
        ("0.9999999", 1000),
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_decimal_texts(tmp_path: Path, text: str, expected: int, quoted: bool) -> None:
    assert nanoseconds(text) == expected
    file = tmp_path / "trace.json"
    value = f'"{text}"' if quoted else text
    # Often enough that neither decoder leaves it to the slow path.
    file.write_text("[" + ", ".join([f'{{"ph": "X", "ts": {value}, "dur": 1.500}}'] * 50) + "]")
    events = both(file)
    assert set(events.start_ns.tolist()) == {expected}
    assert events.start_known.all()


@given(st.decimals(-(10**15), 10**15, places=5))
def test_rounding_is_that_of_decimal(number: Decimal) -> None:
    assert nanoseconds(f"{number:f}") == int((number * 1000).to_integral_value())


def test_whole_microseconds_are_told(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text('[{"ph": "X", "ts": 1616498410577379, "dur": 0}]')
    assert both(file).whole_microseconds
    assert load(file).metadata.resolution_ns == 1000


@pytest.mark.parametrize("first", [True, False])
def test_the_base_time_stands_before_or_after_the_events(tmp_path: Path, first: bool) -> None:
    events = '"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]'
    base = '"baseTimeNanoseconds": 1711964646000000000'
    file = tmp_path / "trace.json"
    file.write_text(f"{{{base}, {events}}}" if first else f"{{{events}, {base}}}")
    assert load(file).metadata.base_time_ns == 1_711_964_646_000_000_000


SPELLINGS: dict[str, int | None] = {
    "1.5e3": 1_500_000,
    "1E3": 1_000_000,
    "-1": -1000,
    "-0": 0,
    "-0.0": 0,
    "1e15": 10**18,
    "0.1234567890123456789": 123,
    "9223372036854775.807": 2**63 - 1,
    "-9223372036854775.808": -(2**63),
    # beyond int64 in ns, and what no float holds
    "9223372036854775.808": None,
    "-9223372036854775.809": None,
    "9223372036854775808": None,
    "123456789012345678901234567890": None,
    "1e16": None,
    "1e400": None,
    "-1e400": None,
    "1e999999999": None,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("field", ["ts", "dur"])
def test_a_time_is_exact_or_missing_however_it_is_spelled(
    tmp_path: Path, spelling: str, quoted: bool, field: str
) -> None:
    value = f'"{spelling}"' if quoted else spelling
    other = "dur" if field == "ts" else "ts"
    file = tmp_path / "trace.json"
    file.write_text(f'[{{"ph": "X", "name": "a", "{field}": {value}, "{other}": 1.25}}]')
    events = both(file)
    found = {
        "ts": (events.start_ns[0], events.start_known[0]),
        "dur": (events.duration_ns[0], events.duration_known[0]),
    }
    expected = SPELLINGS[spelling]
    assert found[field] == (expected or 0, expected is not None)
    assert found[other] == (1250, True)
    assert counts(events) == ({} if expected is not None else {"impossible_time": 1})


@pytest.mark.parametrize("unit", ["ms", "ns"])
def test_the_unit_of_display_changes_no_time(tmp_path: Path, unit: str) -> None:
    file = tmp_path / "trace.json"
    event = '{"ph": "X", "name": "a", "ts": 5.123, "dur": 1.001}'
    file.write_text(f'{{"displayTimeUnit": "{unit}", "traceEvents": [{event}]}}')
    events = both(file)
    assert (events.start_ns[0], events.duration_ns[0]) == (5123, 1001)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1711964646000000000", 1_711_964_646_000_000_000),
        ('"1711964646000000000"', 1_711_964_646_000_000_000),
        ("1.711964646e18", 1_711_964_646_000_000_000),
        ("0", 0),
        ("true", None),
        ("false", None),
        ("null", None),
        ("99999999999999999999999", None),
        ('"soon"', None),
        ("[1]", None),
    ],
)
def test_the_base_time_of_a_file_that_was_saved_again(
    tmp_path: Path, written: str, expected: int | None
) -> None:
    file = tmp_path / "trace.json"
    event = '{"ph": "X", "name": "a", "ts": 1, "dur": 1}'
    file.write_text(f'{{"traceEvents": [{event}], "baseTimeNanoseconds": {written}}}')
    metadata = load(file).metadata
    assert metadata.base_time_ns == expected
    assert ("baseTimeNanoseconds" in metadata.properties) is (expected is None)


MARCH_2024 = 1_710_900_000 * 10**9


def unpadded(ns: int) -> str:
    """As builds of March 2024 wrote it (format notes, 1.5)."""
    return f"{ns // 1000}.{ns % 1000}"


def padded(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03}"


def whole(ns: int) -> str:
    return str(ns // 1000)


def coarse(ns: int) -> str:
    """A clock that steps by 125 ns has no fraction between 0 and 100 either."""
    return padded(ns // 125 * 125)


def doubts(
    tmp_path: Path, spelled: Callable[[int], str], count: int, start: int, properties: str = ""
) -> list[tuple[int | None, int | None]]:
    """What is said of the fractions of so many events."""
    starts = [start + 7919 * number for number in range(count)]
    events = (f'{{"ph": "X", "name": "a", "ts": {spelled(ns)}, "dur": 5.25}}' for ns in starts)
    file = tmp_path / "trace.json"
    file.write_text(f'{{"schemaVersion": 1, {properties}"traceEvents": [{", ".join(events)}]}}')
    notes = load(file).metadata.notes
    return [(note.count, note.ns) for note in notes if note.code == "unpadded_fractions"]


def test_fractions_without_their_leading_zeros_are_told_but_not_changed(tmp_path: Path) -> None:
    # Of every thousand 9 are written as .1 to .9 and 90 as .10 to .99, which read like the 90 that
    # end on a zero.
    assert doubts(tmp_path, unpadded, 2000, MARCH_2024) == [(2 * (9 + 90 + 90), 891)]
    assert both(tmp_path / "trace.json").start_ns[0] == MARCH_2024


@pytest.mark.parametrize(
    ("spelled", "count", "start", "properties"),
    [
        pytest.param(padded, 2000, MARCH_2024, "", id="padded"),
        pytest.param(whole, 2000, MARCH_2024, "", id="no fractions"),
        pytest.param(coarse, 2000, MARCH_2024, "", id="a coarse clock"),
        pytest.param(unpadded, 900, MARCH_2024, "", id="too few to tell"),
        pytest.param(unpadded, 2000, MARCH_2024 - 10**16, "", id="before the fault"),
        pytest.param(
            unpadded, 2000, MARCH_2024, '"baseTimeNanoseconds": 0, ', id="with the key of May 2024"
        ),
    ],
)
def test_nothing_is_said_of_fractions_that_may_be_right(
    tmp_path: Path, spelled: Callable[[int], str], count: int, start: int, properties: str
) -> None:
    assert doubts(tmp_path, spelled, count, start, properties) == []


def test_no_real_recording_has_doubtful_fractions(shared: Path) -> None:
    trace = load(shared / "public" / "hta_ns_absolute.json.gz")
    assert "unpadded_fractions" not in {note.code for note in trace.metadata.notes}


def test_neighbours_beyond_the_precision_of_a_double_nest_as_recorded(tmp_path: Path) -> None:
    # speedscope #487, perfetto #426: the second one begins 49 ns after the first one has ended.
    file = tmp_path / "trace.json"
    common = '"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1'
    file.write_text(
        f'[{{{common}, "name": "first", "ts": 1732107142997066.682, "dur": 476375.838}},'
        f'{{{common}, "name": "second", "ts": 1732107143473442.569, "dur": 690000.296}}]'
    )
    trace = load(file)
    assert trace.host[s.START_NS].tolist() == [0, 476_375_887]
    assert trace.host[s.DURATION_NS].tolist() == [476_375_838, 690_000_296]
    assert tree(trace).parent.tolist() == [-1, -1]
