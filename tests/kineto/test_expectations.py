"""The Python decoder expects what it saw before; what comes instead is read all the same."""

from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import both, integers, plain, sparse

from traceview.kineto import decode, fields
from traceview.kineto.columns import Events
from traceview.kineto.decode import PythonDecoder
from traceview.kineto.fields import NOTHING, Fields
from traceview.kineto.packing import NotPlainError, packed
from traceview.kineto.times import InexactError, of_floats, of_texts
from traceview.kineto.values import INT64, Raw, nanoseconds, row

USUAL = (
    '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 5241323623092.673,'
    ' "dur": 1.500, "args": {"External id": 4, "Addr": 5, "Input Dims": [[1, 2]], "Ev Idx": 0}}'
)
PLAIN_PIECES = 2000
"""So small that each file below is read in many pieces."""


def assert_read_as_rows(path: Path, entries: list[str]) -> Events:
    """Each entry of the file is what `values.row` makes of it, on both decoders."""
    path.write_text("[" + ",\n".join(entries) + "]")
    with mock.patch.object(decode, "_LARGEST_PIECE", PLAIN_PIECES):
        events = both(path)
    rows = [row(entry.encode()) for entry in entries]
    assert plain(events.phase) == [each.phase for each in rows]
    assert plain(events.name) == [each.name for each in rows]
    assert plain(events.category) == [each.category for each in rows]
    assert plain(events.process) == [each.process for each in rows]
    assert plain(events.thread) == [each.thread for each in rows]
    assert events.start_ns.tolist() == [each.start_ns or 0 for each in rows]
    assert events.start_known.tolist() == [each.start_ns is not None for each in rows]
    assert events.duration_ns.tolist() == [each.duration_ns or 0 for each in rows]
    assert events.duration_known.tolist() == [each.duration_ns is not None for each in rows]
    for name in {name for each in rows for name in each.integers} | set(events.integers):
        expected = {i: each.integers[name] for i, each in enumerate(rows) if name in each.integers}
        assert integers(events, name) == expected, name
    for name in {name for each in rows for name in each.texts} | set(events.texts):
        texts = {i: each.texts[name] for i, each in enumerate(rows) if name in each.texts}
        assert sparse(events.texts[name]) == texts, name
    return events


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [
        *[('"ph": "X"', f'"ph": {value}') for value in ('"b"', r'"\u0058"', "null", "7", '""')],
        *[
            ('"cat": "cpu_op"', f'"cat": {value}')
            for value in ('"new"', r'"cpu\u005fop"', r'"a\u0000"', "null", "7", '"é"', r'"\"}"')
        ],
        ('"cat": "cpu_op"', '"cat": "kernel", "cat": "cpu_op"'),
        ('"cat": "cpu_op"', '"cat": "cpu_op", "cat": "kernel"'),
        *[
            ('"pid": 7', f'"pid": {value}')
            for value in (
                *('"7"', "7.0", "7e0", "-0", "0", "-7", "true", "null", '"x"', "[7]"),
                *(str(2**63), str(2**64 - 1), str(2**70), str(-(2**63)), '"7", "pid": 7'),
            )
        ],
        *[
            ('"dur": 1.500', f'"dur": {value}')
            for value in (
                *("1", "1.5", "1.2345", "0.0005", "0.0015", "0.00051", "1e3", "1E-3", "-1.5"),
                *("-0.0", "4398046511103.999", "4398046511104.001", "8796093022208.001"),
                *("1e400", "1e17", "12345678901234567890", '"1.5"', '"x"'),
                *("null", "true", '1.2345, "dur": 2'),
            )
        ],
        ('"dur": 1.500, ', ""),
        *[
            ('"ts": 5241323623092.673', f'"ts": {value}')
            for value in (
                *("1", "1.5", "1.25", "1.2345", "0.5", "0", "-0", "-2.5", "5e3", "1e400", "null"),
                *("999999999999999.999", "9999999999999999", "9223372036854775.807"),
                *("9223372036854775.808", "5241323623092.6735", '"3"', '"3.5"', '"1.2.3"', '""'),
            )
        ],
        ('"ts": 5241323623092.673, ', ""),
        *[
            ('"External id": 4', f'"External id": {value}')
            for value in (
                *('"7"', '"-7"', '"٣"', '"x"', '"1e3"', '""', "7.0", "7.5", "-0", "null", "true"),
                *(str(2**63 - 1), str(2**63), str(-(2**63)), str(2**64), f'"{2**63}"', "[4]"),
            )
        ],
        ('"External id": 4', '"External id": 4, "External id": 5'),
        ('"External id": 4', '"external id": 5'),
        ('"External id": 4', '"external id": 5, "External id": null'),
        ('"External id": 4', '"external id": 5, "External id": 6'),
        ('"External id": 4', r'"Extern\u0061l id": 5'),
        *[
            ('"Addr": 5', f'"Addr": {value}')
            for value in ("0", "-1", str(2**63), str(2**64 - 1), str(2**64), '"9"', "null")
        ],
        *[
            ('"Input Dims": [[1, 2]]', f'"Input Dims": {value}')
            for value in ("null", "7", '""', '"a\\u0000b"', r'"\ud83d\ude00"', "[\n[1]]", "{}")
        ],
        ('"Input Dims": [[1, 2]]', '"Input Dims": [[1, 2]], "scope": "x", "new": {"a": [1]}'),
        *[('"pid"', f'"{key}": {{"local": 1}}, "pid"') for key in ("id", "id2")],
        ('"pid"', '"id": null, "id2": 3, "pid"'),
        ('"ph": "X", "cat": "cpu_op"', '"ph": "s", "cat": "ac2g", "id": 3'),
        ('"ph": "X", "cat": "cpu_op"', '"ph": "s", "cat": "cpu_op", "id": "a"'),
        ('"ph": "X", "cat": "cpu_op"', '"ph": "b", "cat": "ac2g", "id2": "b"'),
    ],
)  # fmt: skip
def test_what_was_not_expected_is_read_as_by_itself(
    tmp_path: Path, usual: str, unusual: str
) -> None:
    assert USUAL.count(usual) == 1
    entries = [USUAL] * 40
    entries[22] = entries[33] = entries[34] = USUAL.replace(usual, unusual)
    assert_read_as_rows(tmp_path / "trace.json", entries)


def test_entries_without_any_argument_or_category(tmp_path: Path) -> None:
    bare = '{"ph": "i", "ts": 1}'
    assert_read_as_rows(tmp_path / "trace.json", [bare] * 90 + [USUAL] * 20 + [bare, USUAL] * 20)


def test_more_values_than_are_expected(tmp_path: Path) -> None:
    entries = [USUAL.replace('"tid": 7', f'"tid": {i}') for i in range(2 * fields._MOST_VALUES)]
    assert_read_as_rows(tmp_path / "trace.json", [*entries, *entries])


def test_the_usual_is_decoded_once() -> None:
    decoder = Fields()
    text = f"[{USUAL}, {USUAL}]".encode()
    decoder.decoded(text)
    with mock.patch.object(decoder, "_plain", None):
        values, times = decoder.decoded(text)
    assert isinstance(values["dur"][0], float)
    assert times["dur"][0].tolist() == [1500, 1500]


def test_pieces_may_be_of_any_size(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text("[" + ",".join([USUAL] * 30) + "]")
    for size in (1, 100, 250, 1000, 10**6):
        with mock.patch.object(decode, "_LARGEST_PIECE", size):
            decoder = PythonDecoder()
        assert decoder.scan(file.read_bytes(), 1)[0] > 0
        assert decoder.rows == 29


def test_packed_takes_no_text_for_a_number() -> None:
    for value in ("7", None, 7.0, 2**63):
        with pytest.raises(NotPlainError):
            packed([1, value], 2, np.int64)
    assert packed([1, 2**64 - 1], 2, np.uint64).tolist() == [1, 2**64 - 1]


MICROSECONDS = st.tuples(
    st.sampled_from(["", "-"]), st.integers(0, 2**45), st.none() | st.from_regex(r"\A[0-9]{1,7}\Z")
).map(lambda parts: f"{parts[0]}{parts[1]}" + ("" if parts[2] is None else f".{parts[2]}"))


@given(st.lists(MICROSECONDS, min_size=1, max_size=4))
def test_floats_are_exact_or_refused(texts: list[str]) -> None:
    try:
        times, known = of_floats([float(text) for text in texts])
    except InexactError:
        assert any(abs(float(text)) >= 2**41 or len(text.partition(".")[2]) > 3 for text in texts)
    else:
        assert known.all()
        assert times.tolist() == [nanoseconds(text) for text in texts]


@given(st.lists(MICROSECONDS | st.just("")))
def test_texts_are_exact(texts: list[str]) -> None:
    times, known = of_texts([Raw(text.encode()) if text else NOTHING for text in texts])
    expected = [nanoseconds(text) if text else None for text in texts]
    assert known.tolist() == [time is not None for time in expected]
    assert times.tolist() == [time or 0 for time in expected]
    assert all(time in INT64 for time in times.tolist())
