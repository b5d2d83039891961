"""Times are exact integers of ns, whatever their size and their spelling (format notes, 1.5)."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import both

from traceview.kineto import load
from traceview.kineto.read import read
from traceview.kineto.values import nanoseconds


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
