"""The native decoder, the Python one and a plain reading with json and Decimal are one."""

import gzip
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SHARED
from reading import assert_equal, both, integers, native_decoder, plain, texts

from traceview.errors import FileError
from traceview.kineto import decode
from traceview.kineto.columns import ALIASES, INTEGER_ARGUMENTS, TEXT_ARGUMENTS, Events
from traceview.kineto.decode import PythonDecoder
from traceview.kineto.read import read
from traceview.kineto.values import UNSIGNED

RECORDINGS = sorted(
    str(path.relative_to(SHARED))
    for pattern in ("h200*/*.json.gz", "public/*.json.gz", "public/chrome/*.json")
    for path in SHARED.glob(pattern)
    if "big_stack" not in path.name
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_decoders_agree_on_real_recordings(shared: Path, name: str) -> None:
    both(shared / name)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if (SHARED / name).stat().st_size > 1 << 18
        else name
        for name in RECORDINGS
        if "partial" not in name
    ],
)  # fmt: skip
def test_decoders_agree_with_plain_json_on_real_recordings(
    shared: Path, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(_unpacked(shared / name))
    assert_as_plain_json(both(file), json.loads(file.read_bytes(), parse_float=Decimal))


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def assert_as_plain_json(events: Events, document: Any) -> None:
    """Every value that `events` holds is what json and Decimal make of the text."""
    entries = document if isinstance(document, list) else document["traceEvents"]
    assert len(events) == len(entries)
    for field, column in (("ph", events.phase), ("name", events.name), ("cat", events.category)):
        assert plain(column) == [entry.get(field) for entry in entries]
    for field, column in (("pid", events.process), ("tid", events.thread)):
        assert plain(column) == [
            None if entry.get(field) is None else str(entry[field]) for entry in entries
        ]
    starts = [_ns(entry.get("ts")) for entry in entries]
    assert events.start_known.tolist() == [value is not None for value in starts]
    assert events.start_ns.tolist() == [value or 0 for value in starts]
    assert events.duration_ns.tolist() == [_ns(entry.get("dur")) or 0 for entry in entries]
    arguments = [_arguments(entry) for entry in entries]
    for name in INTEGER_ARGUMENTS:
        assert integers(events, name) == _expected_integers(name, arguments), name
    for name in TEXT_ARGUMENTS:
        found = texts(events, name)
        expected = {
            row: args[name] for row, args in enumerate(arguments) if args.get(name) is not None
        }
        assert found.keys() == expected.keys(), name
        for row, value in expected.items():
            content = found[row] or ""
            same = content if isinstance(value, str) else json.loads(content, parse_float=Decimal)
            assert same == value, name


def _expected_integers(name: str, arguments: list[dict[str, Any]]) -> dict[int, int]:
    allowed = range(2**64) if name in UNSIGNED else range(-(2**63), 2**63)
    result = {}
    for row, args in enumerate(arguments):
        value = args.get(name)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii():
            value = int(value)
        if isinstance(value, Decimal) and value == value.to_integral_value():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value in allowed:
            result[row] = value
    return result


def _arguments(entry: dict[str, Any]) -> dict[str, Any]:
    """The arguments by their present names; these come before the older ones."""
    args = entry.get("args")
    if not isinstance(args, dict):
        return {}
    result = dict(args)
    for alias, name in ALIASES.items():
        if args.get(alias) is not None and result.get(name) is None:
            result[name] = args[alias]
    return result


def _ns(value: Any) -> int | None:
    if value is None:
        return None
    try:
        result = int((Decimal(value) * 1000).to_integral_value())
    except ArithmeticError:
        return None
    return result if -(2**63) <= result < 2**63 else None


NAMES = st.text(st.characters(codec="utf-8"), max_size=8)
TIMES = (
    st.integers(-(10**12), 2 * 10**15)
    | st.decimals(0, 10**13, places=3).map(lambda d: f"{d:f}")
    | st.decimals(-1000, 10**6, places=5).map(lambda d: f"{d:f}")
)
NUMBERS = st.integers(-(2**70), 2**70) | st.integers(-3, 100)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.booleans() | NUMBERS | NAMES | FLOATS
NESTED = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)
KEYS = st.sampled_from([*INTEGER_ARGUMENTS, *TEXT_ARGUMENTS, *ALIASES, "Ev Idx", "cbid"]) | NAMES


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    time = TIMES.map(lambda t: f"NUMBER({t})" if isinstance(t, str) else t)
    fields: dict[str, st.SearchStrategy[Any]] = {
        "ph": st.sampled_from(["X", "M", "i", "s", "f", "C", "b", "e", "B", "E"]),
        "cat": NAMES | st.sampled_from(["kernel", "cpu_op", "ac2g", "fwdbwd"]),
        "name": NAMES,
        "pid": st.integers(-5, 2**40) | NAMES | st.none(),
        "tid": st.integers(-5, 2**40) | NAMES,
        "ts": time | TIMES.map(str) | st.none(),
        "dur": time | st.none(),
        "id": NUMBERS | NAMES,
        "id2": st.just({"local": "0x1"}),
        "args": st.dictionaries(KEYS, NESTED, max_size=6) | st.none(),
        "bp": st.just("e"),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    return {key: draw(fields[key]) for key in chosen}


def _written(document: Any, *, ascii_only: bool, indent: int | None) -> bytes:
    """JSON in which NUMBER(1.50) stands as the number 1.50, which no float would keep."""
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    return re.sub(r'"NUMBER\((.*?)\)"', r"\1", text).encode()


@given(
    st.lists(entries(), max_size=6),
    st.booleans(),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
    st.sampled_from([100, 500, 1 << 20]),
)
def test_decoders_agree_with_plain_json_on_generated_traces(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[dict[str, Any]],
    ascii_only: bool,
    indent: int | None,
    bare: bool,
    piece: int,
) -> None:
    file = tmp_path_factory.mktemp("generated") / "trace.json"
    document = found if bare else {"schemaVersion": 1, "traceEvents": found, "traceName": "x"}
    file.write_bytes(_written(document, ascii_only=ascii_only, indent=indent))
    with mock.patch.object(decode, "_LARGEST_PIECE", piece):
        events = both(file)
    assert_as_plain_json(events, json.loads(file.read_bytes(), parse_float=Decimal))


@pytest.mark.parametrize("name", ["a},{", "a}, { ", '"},{"ph":"X', "a},\n{"])
def test_what_looks_like_the_end_of_an_entry_may_stand_in_a_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / "trace.json"
    entries = [{"ph": "X", "name": name, "ts": 1, "args": {"l": [{"a": 1}, {"b": 2}]}}] * 3
    file.write_text(json.dumps(entries))
    assert plain(both(file).name) == [name] * 3


@given(st.data())
def test_decoders_agree_on_damaged_text(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    found = data.draw(st.lists(entries(), min_size=1, max_size=4))
    text = bytearray(_written({"traceEvents": found}, ascii_only=False, indent=None))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        byte = data.draw(st.sampled_from([*b'"\\,:{}[]0-.eE \n\x00\xff\xc3tn']))
        if data.draw(st.booleans()):
            text[place] = byte
        elif data.draw(st.booleans()):
            text.insert(place, byte)
        else:
            del text[place : place + data.draw(st.integers(1, 5))]
    file = tmp_path_factory.mktemp("damaged") / "trace.json"
    file.write_bytes(bytes(text))
    outcomes = [_outcome(file, decoder) for decoder in (native_decoder(), PythonDecoder())]
    if isinstance(outcomes[0], str) or isinstance(outcomes[1], str):
        assert outcomes[0] == outcomes[1]
    else:
        assert_equal(outcomes[0], outcomes[1])


def _outcome(file: Path, decoder: Any) -> Events | str:
    try:
        return read(file, decoder=decoder)
    except FileError as error:
        return str(error)
