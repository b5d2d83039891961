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
    if (events.repaired or events.dropped) and "path_escapes" not in counts(events):
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


Columns = dict[str, str | int | None]


def column(events: Events, name: str) -> str | int | None:
    """What the damaged entry, the second one, has as a field or as an argument."""
    fields = {"ph": events.phase, "name": events.name, "cat": events.category,
              "pid": events.process, "tid": events.thread}  # fmt: skip
    if name in fields:
        return plain(fields[name])[1]
    if name in {"ts", "dur"}:
        times, known = (
            (events.start_ns, events.start_known)
            if name == "ts"
            else (events.duration_ns, events.duration_known)
        )
        return int(times[1]) if known[1] else None
    return integers(events, name).get(1, texts(events, name).get(1))


def entry(fields: str) -> str:
    return f'{{"ph":"X","name":"m","pid":1,"tid":1,"ts":5,"dur":1{fields}}}'


ENTRIES: dict[str, tuple[str | bytes, Columns, dict[str, int]]] = {
    # Backslashes (kineto #336, pytorch #98432), wherever a text may stand
    "a bad escape in a category": (
        r'{"ph":"X","cat":"a\d","ts":5}', {"cat": r"a\d", "ts": 5000}, {"bad_escape": 1},
    ),
    "a bad escape in an argument": (
        entry(r',"args":{"Call stack":"C:\new\x.py","stream":7}'),
        {"Call stack": r"C:\new\x.py", "stream": 7}, {"bad_escape": 1},
    ),
    "a bad escape in a list": (
        entry(r',"args":{"Input type":["a\d"],"stream":7}'),
        {"Input type": r'["a\\d"]', "stream": 7}, {"bad_escape": 1},
    ),
    "a bad escape in a key": (
        entry(r',"args":{"a\d":1,"stream":7}'), {"stream": 7}, {"bad_escape": 1},
    ),
    "a backslash at the end": (
        r'{"ph":"X","name":"C:\new\","ts":5,"dur":1}',
        {"name": "C:\\new\\", "ts": 5000}, {"bad_escape": 1},
    ),
    "an escape of too few digits": (
        r'{"ph":"X","name":"C:\u12","ts":5}', {"name": r"C:\u12"}, {"bad_escape": 1},
    ),
    # The same where each escape is a valid one and decodes to something else
    "a path that decodes without error": (
        r'{"ph":"X","name":"torch\nn\functional.py(12): relu","ts":5}',
        {"name": r"torch\nn\functional.py(12): relu"}, {"path_escapes": 1},
    ),
    "a stack that decodes without error": (
        entry(r',"args":{"Call stack":"C:\torch\nn.py(1): a;C:\run.py(2): b"}'),
        {"Call stack": r"C:\torch\nn.py(1): a;C:\run.py(2): b"}, {"path_escapes": 1},
    ),
    "a line end that is meant": (
        r'{"ph":"X","name":"<string>(1): a\nb","ts":5}', {"name": "<string>(1): a\nb"}, {},
    ),
    # Quotes (pytorch #146900; string arguments are still not escaped, format notes, 6)
    "a quote in a category": (
        '{"ph":"X","cat":"c "x" d","ts":5}', {"cat": 'c "x" d', "ts": 5000},
        {"unescaped_quote": 1},
    ),
    "a quote in an argument": (
        entry(',"args":{"Call stack":"f({"device": "cpu"})","stream":7}'),
        {"Call stack": 'f({"device": "cpu"})', "stream": 7}, {"unescaped_quote": 1},
    ),
    "a quote in a list": (
        entry(',"args":{"Input type":["a "b" c","d"],"stream":7}'),
        {"Input type": r'["a \"b\" c","d"]', "stream": 7}, {"unescaped_quote": 1},
    ),
    "a quote at the start": (
        '{"ph":"X","name":""hi" there","ts":5}', {"name": '"hi" there'}, {"unescaped_quote": 1},
    ),
    "a quote at the end": (
        '{"ph":"X","name":"say "hi"","ts":5}', {"name": 'say "hi"'}, {"unescaped_quote": 1},
    ),
    "a text that does not end": (
        '{"ph":"X","name":"m,"ts":5,"dur":1}', {"name": "m", "ts": 5000, "dur": 1000},
        {"missing_quote": 1},
    ),
    "a process that does not end": (
        '{"ph":"X","name":"m","pid":"CPU functions,"tid":2,"ts":5}',
        {"pid": "CPU functions", "tid": "2", "ts": 5000}, {"missing_quote": 1},
    ),
    "three faults at once": (
        r'{"ph":"X","name":"a "q" C:\x","ts":5,"dur":N/A}',
        {"name": r'a "q" C:\x', "ts": 5000, "dur": None},
        {"unescaped_quote": 1, "bad_escape": 1, "bare_word": 1},
    ),
    # Characters (pytorch #130622, #139062)
    "a control character in an argument": (
        entry(',"args":{"Call stack":"a\nb\tc","stream":7}'),
        {"Call stack": "a\nb\tc", "stream": 7}, {"control_character": 1},
    ),
    "a NUL in a name": (
        '{"ph":"X","name":"a\0b","ts":5}', {"name": "a\0b"}, {"control_character": 1},
    ),
    "Latin-1 in an argument": (
        entry(',"args":{"Call stack":"é","stream":7}').encode("latin-1"),
        {"Call stack": "�", "stream": 7}, {"invalid_utf8": 1},
    ),
    "Latin-1 in a thread": (
        '{"ph":"X","name":"m","tid":"é","ts":5}'.encode("latin-1"), {"tid": "�", "ts": 5000},
        {"invalid_utf8": 1},
    ),
    "half a character": (
        b'{"ph":"X","name":"\xc3","ts":5}', {"name": "�", "ts": 5000}, {"invalid_utf8": 1},
    ),
    # Commas
    "no comma between fields": (
        '{"ph":"X" "name":"m","ts":5 "dur":1}',
        {"ph": "X", "name": "m", "ts": 5000, "dur": 1000}, {"missing_comma": 1},
    ),
    "no comma between arguments": (
        entry(',"args":{"stream":7 "bytes":3}'), {"stream": 7, "bytes": 3}, {"missing_comma": 1},
    ),
    "commas too many between fields": (
        '{,"ph":"X","name":"m",,"ts":5,,"dur":1,}',
        {"ph": "X", "name": "m", "ts": 5000, "dur": 1000}, {"stray_comma": 1},
    ),
    # Bare words (kineto d5530424), also where a time should be
    "no number as a time": (
        '{"ph":"X","name":"m","ts":nan,"dur":inf}', {"ts": None, "dur": None}, {"bare_word": 1},
    ),
    "no number in a list": (
        entry(',"args":{"grid":[inf,1,1],"bytes":N/A,"stream":7}'),
        {"grid": "[null,1,1]", "bytes": None, "stream": 7}, {"bare_word": 1},
    ),
    "words as texts": (
        entry(',"args":{"occupancy":"inf","bytes":"N/A","stream":7}'),
        {"occupancy": "inf", "bytes": None, "stream": 7}, {},
    ),
    # Other types (kineto #109; Ascend; HTA #324)
    "a process beyond 64 bits": (
        '{"ph":"X","pid":18446744073709551616,"tid":"3239786240","ts":5}',
        {"pid": "18446744073709551616", "tid": "3239786240"}, {},
    ),
    "an id beyond 64 bits": (
        entry(',"args":{"Comms Id":18446744073709551000,"stream":7}'),
        {"Comms Id": "18446744073709551000", "stream": 7}, {},
    ),
    "a process that is a list": ('{"ph":"X","pid":[1],"ts":5}', {"pid": "[1]", "ts": 5000}, {}),
    "arguments that are a text": (entry(',"args":"none"'), {"ts": 5000, "dur": 1000}, {}),
    # Keys twice (catapult #4343): the last one counts, as everywhere
    "a time twice": ('{"ph":"X","ts":4,"ts":5,"dur":9,"dur":1}', {"ts": 5000, "dur": 1000}, {}),
    "arguments twice": (
        entry(',"args":{"stream":1},"args":{"bytes":2}'), {"stream": None, "bytes": 2}, {},
    ),
    "an argument by both of its names": (
        entry(',"args":{"external id":4,"External id":3}'), {"External id": 3}, {},
    ),
    # pytorch #33961, as it was reported
    "a quote missing before tid": (
        '{"ph":"f", tid": 0}', {"ph": "f", "tid": "0"}, {"missing_quote": 1},
    ),
}  # fmt: skip
"""Damaged entries by what is broken: the text, what is read of it, and the notes."""


@pytest.mark.parametrize("damage", ENTRIES)
def test_a_damaged_entry_has_the_right_values(tmp_path: Path, damage: str) -> None:
    text, expected, notes = ENTRIES[damage]
    events = around(tmp_path, text)
    assert {name: column(events, name) for name in expected} == expected
    assert counts(events) == notes
    assert events.repaired == bool(notes)


@pytest.mark.parametrize("damage", ENTRIES)
def test_damage_in_two_entries_is_counted_twice(tmp_path: Path, damage: str) -> None:
    text, _, notes = ENTRIES[damage]
    raw = text.encode() if isinstance(text, str) else text
    file = tmp_path / "trace.json"
    file.write_bytes(b"[" + raw + b", " + BEFORE.encode() + b", " + raw + b"]")
    events = both(file)
    assert len(events) == 3
    assert plain(events.name)[1] == "before"
    assert counts(events) == dict.fromkeys(notes, 2)


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
        f'"grid": {word}, "stream": 7}}}}',
    )
    assert integers(events, "stream") == {1: 7}
    assert texts(events, "grid") == {}
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
        (f'{{"traceEvents":[{BEFORE},{AFTER}', {"unclosed": 1, "unclosed_object": 1}),
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


@pytest.mark.parametrize("before", ['{"ph":"X","name":"a"', '{"ph":"X","name":"a"}', '{"a":[""'])
def test_blanks_without_end_take_no_time(tmp_path: Path, before: str) -> None:
    file = tmp_path / "trace.json"
    file.write_text(f"[{BEFORE}, {before}{' ' * 300_000}x, {AFTER}]", encoding="utf-8")
    names = plain(both(file).name)
    assert (names[0], names[-1]) == ("before", "after")


def test_a_name_of_many_lines_takes_no_time(tmp_path: Path) -> None:
    name = "for (;;) {\n" * 50_000
    events = around(tmp_path, json.dumps({"ph": "X", "name": name, "ts": 5}))
    assert plain(events.name)[1] == name
    assert counts(events) == {}


def test_brackets_in_the_name_of_a_lost_entry_do_not_end_the_trace(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    lost = '{"ph": "X", "name": "' + "}] " * 20 + '", "pid: 1, "ts": 1}'
    others = [f'{{"ph": "X", "name": "{name}", "ts": 2}}' for name in "abc"]
    file.write_text(f'{{"traceEvents": [{", ".join([others[0], lost, *others[1:]])}], "a": 1}}')
    events = both(file)
    assert plain(events.name)[:1] + plain(events.name)[-2:] == ["a", "b", "c"]
    assert events.properties == {"a": 1}
    assert "trailing_text" not in counts(events)
