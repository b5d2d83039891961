"""What recorders break (format notes, 6): the right value, the count, and the place."""

import gzip
import json
from pathlib import Path

import pytest
from reading import both, counts, integers, plain, texts

from traceview.kineto.columns import Events

BEFORE = '{"ph": "X", "name": "before", "pid": 1, "tid": 1, "ts": 1, "dur": 2}'
AFTER = '{"ph": "X", "name": "after", "pid": 1, "tid": 1, "ts": 9, "dur": 2}'


def around(tmp_path: Path, damaged: str | bytes) -> Events:
    """What is read of three entries of which the middle one is damaged; the others always stay."""
    raw = damaged.encode() if isinstance(damaged, str) else damaged
    file = tmp_path / "trace.json"
    start = f'{{"traceEvents": [{BEFORE}, '.encode()
    file.write_bytes(start + raw + f", {AFTER}]}}".encode())
    events = both(file)
    names = plain(events.name)
    assert names[0] == "before"
    assert names[-1] == "after"
    if events.repaired or events.dropped:
        assert any(f"byte {len(start):,}" in note.text for note in events.notes)
    return events


NAMES = {
    # pytorch #98432, kineto #336: backslashes of Windows
    r"torch\cuda\__init__.py(219): _lazy_init": (
        r"torch\cuda\__init__.py(219): _lazy_init",
        "bad_escape",
    ),
    # In a name with one bad escape no backslash was meant as one.
    r"C:\new\torch\queue.py": (r"C:\new\torch\queue.py", "bad_escape"),
    r"half \ud800 pair": ("half � pair", "lone_surrogate"),
    # pytorch #130622: source text as a name
    "<string>(1): a\nb": ("<string>(1): a\nb", "control_character"),
    # pytorch #146900
    'co_filename {"device": "cpu"} x': ('co_filename {"device": "cpu"} x', "unescaped_quote"),
    'say "hi", he said': ('say "hi", he said', "unescaped_quote"),
}


@pytest.mark.parametrize("written", NAMES)
def test_broken_names(tmp_path: Path, written: str) -> None:
    name, kind = NAMES[written]
    damaged = f'{{"ph": "X", "name": "{written}", "pid": 1, "tid": 1, "ts": 5, "dur": 1}}'
    events = around(tmp_path, damaged)
    assert plain(events.name) == ["before", name, "after"]
    assert counts(events) == {kind: 1}
    assert events.repaired == 1
    assert events.start_ns.tolist() == [1000, 5000, 9000]


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    events = around(tmp_path, b'{"ph": "X", "name": "\xf0\x8f..", "ts": 5, "dur": 1}')
    assert plain(events.name)[1] == "��.."
    assert counts(events) == {"invalid_utf8": 1}


def test_escapes_that_are_valid_are_left_alone(tmp_path: Path) -> None:
    events = around(tmp_path, r'{"ph": "X", "name": "a\tb\\c\u00e9\ud83d\ude00\/"}')
    assert plain(events.name)[1] == "a\tb\\cé😀/"
    assert events.notes == ()


def test_a_missing_quote(tmp_path: Path) -> None:
    # pytorch #33961
    events = around(tmp_path, '{"ph":"X","name":"add","ts":5,"dur":1, tid": 7, "pid":"CPU"}')
    assert plain(events.thread)[1] == "7"
    assert plain(events.process)[1] == "CPU"
    assert counts(events) == {"missing_quote": 1}


@pytest.mark.parametrize("word", ["N/A", "nan", "inf", "-inf", "NaN", "Infinity", "None"])
def test_bare_words_are_missing_values(tmp_path: Path, word: str) -> None:
    events = around(
        tmp_path,
        f'{{"ph":"X","name":"Memcpy","ts":5,"args":{{"memory bandwidth (GB/s)": {word}, '
        f'"warps per SM": {word}, "stream": 7}}}}',
    )
    assert integers(events, "stream") == {1: 7}
    assert texts(events, "warps per SM") == {}
    assert counts(events) == {"bare_word": 1}


def test_commas_too_many_within_an_entry(tmp_path: Path) -> None:
    events = around(tmp_path, '{"ph":"X","name":"a","args":{"grid":[1,2,3,],},}')
    assert texts(events, "grid") == {1: "[1,2,3]"}
    assert counts(events) == {"stray_comma": 1}


def test_a_list_that_was_wrapped_into_a_string(tmp_path: Path) -> None:
    # PR pytorch #141602
    events = around(tmp_path, '{"ph":"X","args":{"Process Group Ranks": "["[0, 1]"]", "Seq": 3}}')
    assert texts(events, "Process Group Ranks") == {1: '["[0, 1]"]'}
    assert integers(events, "Seq") == {1: 3}


def test_numbers_of_other_types(tmp_path: Path) -> None:
    events = around(
        tmp_path,
        '{"ph":"X","pid":7.0,"tid":"9","ts":"5.250","dur":1e0,"args":{"stream":"7",'
        '"correlation":12.0,"bytes":18446744073709551616,"Addr":18446744073709551615,'
        '"Comms Id":10159970886766084423,"device":"0x0"}}',
    )
    assert plain(events.process)[1] == "7"
    assert plain(events.thread)[1] == "9"
    assert events.start_ns[1] == 5250
    assert events.duration_ns[1] == 1000
    assert integers(events, "stream") == {1: 7}
    assert integers(events, "correlation") == {1: 12}
    assert integers(events, "bytes") == {}
    assert integers(events, "device") == {}
    assert integers(events, "Addr") == {1: 2**64 - 1}
    assert texts(events, "Comms Id") == {1: "10159970886766084423"}
    assert counts(events) == {"float_for_integer": 2, "integer_too_large": 1}


@pytest.mark.parametrize("number", ["007", "+7", "7.", "0x7"])
def test_numbers_that_json_does_not_have(tmp_path: Path, number: str) -> None:
    events = around(tmp_path, f'{{"ph":"X","args":{{"stream":{number}}}}}')
    assert integers(events, "stream") == {1: 7}
    assert counts(events)["malformed_number"] == 1


@pytest.mark.parametrize("time", ["1e300", '"soon"', "1e19", '""', "[1]"])
def test_impossible_times_are_missing(tmp_path: Path, time: str) -> None:
    events = around(tmp_path, f'{{"ph":"X","name":"a","ts":{time},"dur":1}}')
    assert events.start_known.tolist() == [True, False, True]
    assert counts(events) == {"impossible_time": 1}


def test_null_is_a_missing_value(tmp_path: Path) -> None:
    events = around(
        tmp_path,
        '{"ph":"X","name":null,"cat":null,"pid":null,"ts":null,"dur":null,"args":null,"id":null}',
    )
    assert plain(events.name)[1] is None
    assert not events.start_known[1]
    assert events.notes == ()


@pytest.mark.parametrize("entry", ["{}", '{"args":{"Python parent id":null}}'])
def test_entries_without_anything_keep_their_place(tmp_path: Path, entry: str) -> None:
    assert len(around(tmp_path, entry)) == 3


@pytest.mark.parametrize("entry", ["7", '"text"', "null", "true"])
def test_entries_that_are_no_objects_are_dropped(tmp_path: Path, entry: str) -> None:
    events = around(tmp_path, entry)
    assert len(events) == 2
    assert events.dropped == 1
    assert counts(events) == {"no_event": 1}


def test_an_entry_beyond_repair_costs_only_itself(tmp_path: Path) -> None:
    events = around(tmp_path, '{"ph": "X", "name" 5 : }')
    assert plain(events.name) == ["before", "after"]
    assert events.dropped == 1
    assert counts(events) == {"unreadable": 1}


def test_the_last_of_equal_keys_counts(tmp_path: Path) -> None:
    events = around(tmp_path, '{"name":"one","name":"two","args":{"stream":1,"stream":2}}')
    assert plain(events.name)[1] == "two"
    assert integers(events, "stream") == {1: 2}


# The array and what is around it.


def document(tmp_path: Path, text: str) -> Events:
    file = tmp_path / "trace.json"
    file.write_text(text)
    return both(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[{BEFORE},{AFTER}]", {}),
        (f"[{BEFORE},{AFTER}", {"unclosed": 1}),
        (f"[{BEFORE},{AFTER},", {"unclosed": 1}),
        (f"[{BEFORE},{AFTER},]", {"stray_comma": 1}),
        (f"[,{BEFORE},,{AFTER}]", {"stray_comma": 2}),
        (f"[{BEFORE}\n{AFTER}]", {"missing_comma": 1}),
        (f"[[{BEFORE},{AFTER}]]", {"wrapped_list": 1}),
        (f'{{"traceEvents":[{BEFORE},{AFTER}', {"unclosed": 1}),
        (f'{{"traceEvents":[{BEFORE},{AFTER}}}', {"unclosed": 1}),
        (f'{{"traceEvents":[{BEFORE},{AFTER},"traceName":"x"}}', {"unclosed": 1}),
        # catapult #3006
        (f'{{"traceEvents":{{"traceEvents":[{BEFORE},{AFTER}]}}}}', {}),
        (f'{{"a":1,"traceEvents":[{BEFORE},{AFTER}],"b":{{"c":[1]}}}}', {}),
    ],
)
def test_both_entries_are_read(tmp_path: Path, text: str, expected: dict[str, int]) -> None:
    events = document(tmp_path, text)
    assert plain(events.name) == ["before", "after"]
    assert counts(events) == expected


def test_properties_on_both_sides_of_the_events(tmp_path: Path) -> None:
    text = f'{{"schemaVersion": 1, "traceEvents": [{BEFORE}], "baseTimeNanoseconds": 7}}'
    assert document(tmp_path, text).properties == {"schemaVersion": 1, "baseTimeNanoseconds": 7}


def test_properties_whose_quotes_were_broken_do_not_cost_the_events(tmp_path: Path) -> None:
    # Format notes, 1.4: every backslash becomes a slash.
    text = f'{{"note": "say /"hi/"", "rank": 3, "traceEvents": [{BEFORE}]}}'
    events = document(tmp_path, text)
    assert plain(events.name) == ["before"]
    assert events.properties == {"note": 'say /"hi/"', "rank": 3}
    assert counts(events) == {"metadata": 1}


def test_no_events_at_all(tmp_path: Path) -> None:
    assert len(document(tmp_path, '{"schemaVersion": 1, "traceEvents": []}')) == 0


@pytest.mark.parametrize("percent", range(1, 100))
def test_a_recording_cut_at_every_percent_keeps_what_is_before_the_cut(
    tmp_path: Path, percent: int, whole: tuple[bytes, list[int]]
) -> None:
    text, ends = whole
    file = tmp_path / "trace.json"
    cut = len(text) * percent // 100
    file.write_bytes(text[:cut])
    events = both(file)
    assert len(events) == sum(end <= cut for end in ends)


@pytest.fixture(scope="module")
def whole(shared: Path) -> tuple[bytes, list[int]]:
    """A real recording, and where each of its entries ends."""
    text = gzip.decompress((shared / "h200" / "attn_flash_fwd.pt.trace.json.gz").read_bytes())
    decoder, ends = json.JSONDecoder(), []
    characters = text.decode("ascii")
    place = characters.index("[", characters.index('"traceEvents"'))
    while characters[place] != "]":
        place = characters.index("{", place)
        _, place = decoder.raw_decode(characters, place)
        ends.append(place)
        place += len(characters[place:]) - len(characters[place:].lstrip())
    return text, ends
