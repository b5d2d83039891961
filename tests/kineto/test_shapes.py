"""What a trace may look like as a whole: its brackets, its encoding, and what is around it."""

import codecs
import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from reading import DECODERS, assert_equal, both, counts, plain

from traceview import schema as s
from traceview import show
from traceview.errors import EmptyTraceError, FileError, NotATraceError
from traceview.kineto import container, load
from traceview.kineto.read import read

A, B, C = (
    json.dumps({"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": time, "dur": 2})
    for name, time in (("a", 1), ("b", 9), ("c", 11.5))
)
META = '{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}'
OBJECT = f'{{"schemaVersion": 1, "traceEvents": [{A}, {B}, {C}]}}'
PRETTY = json.dumps(json.loads(OBJECT), indent=2)
CUT = OBJECT[: OBJECT.index(C) + 20]
TORN = f'{{"traceEvents": [{A}, {B}, {C}'
SPLIT = OBJECT.replace('"c"', '"@"').encode("utf-16").replace(b"@\0", b"\0\xd8")

SOUND: dict[str, str | bytes] = {
    "minified": json.dumps(json.loads(OBJECT), separators=(",", ":")),
    "pretty": PRETTY,
    "CRLF": PRETTY.replace("\n", "\r\n"),
    "CR": PRETTY.replace("\n", "\r"),
    "UTF-8 with a mark": codecs.BOM_UTF8 + OBJECT.encode(),
    "two marks": 2 * codecs.BOM_UTF8 + OBJECT.encode(),
    "UTF-16 with a mark": OBJECT.encode("utf-16"),
    "UTF-16, big end first, with a mark": codecs.BOM_UTF16_BE + OBJECT.encode("utf-16-be"),
    "UTF-16": OBJECT.encode("utf-16-le"),
    "UTF-16, big end first": OBJECT.encode("utf-16-be"),
    "UTF-32 with a mark": OBJECT.encode("utf-32"),
    "UTF-32": OBJECT.encode("utf-32-le"),
    "UTF-32, big end first": OBJECT.encode("utf-32-be"),
    "UTF-16 of Windows": f"\n{PRETTY}".replace("\n", "\r\n").encode("utf-16-le"),
    "a list": f"[{A}, {B}, {C}]",
    "white space around": f" \r\n\t{OBJECT} \r\n\t",
    "properties of other tools": OBJECT[:-1] + ', "stackFrames": {"1": {"name": "main"}}}',
    "wrapped in another": f'{{"traceEvents": {OBJECT}}}',
    "null, then the events": OBJECT.replace("{", '{"traceEvents": null, ', 1),
}
"""Three events, and nothing to say of the text (gz and other containers: test_containers)."""


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "trace.json"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


@pytest.mark.parametrize("shape", SOUND)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["as it is", "gzip"])
def test_a_sound_text_in_any_shape(
    tmp_path: Path, shape: str, pack: Callable[[bytes], bytes]
) -> None:
    text = SOUND[shape]
    events = both(written(tmp_path, pack(text.encode() if isinstance(text, str) else text)))
    assert plain(events.name) == ["a", "b", "c"]
    assert events.start_ns.tolist() == [1000, 9000, 11_500]
    assert "traceEvents" not in events.properties
    assert (events.notes, events.dropped, events.repaired) == ((), 0, 0)


DAMAGED: dict[str, tuple[str | bytes, str | list[str], dict[str, int | None]]] = {
    # JSON Lines, and objects that are only written one behind the other
    "JSON Lines": (f"{A}\n{B}\n{C}\n", "abc", {"json_lines": None}),
    "JSON Lines, CRLF": (f"{A}\r\n{B}\r\n{C}", "abc", {"json_lines": None}),
    "JSON Lines, name first": (
        "\n".join(f'{{"name": "{name}", "ph": "X", "ts": 1}}' for name in "abc"),
        "abc",
        {"json_lines": None},
    ),
    "JSON Lines, blank lines": (f"\n{A}\n\n{B}\n \n{C}\n\n", "abc", {"json_lines": None}),
    "JSON Lines, one of them": (f"{A}\n", "a", {"json_lines": None}),
    "JSON Lines, pretty": (
        "\n".join(json.dumps(json.loads(entry), indent=1) for entry in (A, B, C)),
        "abc",
        {"json_lines": None},
    ),
    "JSON Lines, with a comma each": (
        f"{A},\n{B},\n{C},\n",
        "abc",
        {"json_lines": None, "stray_comma": 1},
    ),
    "JSON Lines, the first one damaged": (
        f'{{"name": "say "a"", "ph": "X", "ts": 1}}\n{B}\n',
        ['say "a"', "b"],
        {"json_lines": None, "unescaped_quote": 1},
    ),
    "JSON Lines, the second one damaged": (
        f"{A}\n{B.replace('9', 'N/A')}\n{C}\n",
        "abc",
        {"json_lines": None, "bare_word": 1},
    ),
    "JSON Lines, cut": (f"{A}\n{B}\n{C[:-9]}", "ab", {"json_lines": None, "cut_end": 1}),
    "JSON Lines, UTF-16": (f"{A}\n{B}\n".encode("utf-16"), "ab", {"json_lines": None}),
    "objects without commas": (f"{A}{B}{C}", "abc", {"json_lines": None, "missing_comma": 2}),
    # Brackets of the list
    "a list within the list": (f"[{A}, [{B}], {C}]", "abc", {"wrapped_list": 1}),
    "lists within the list": (f"[[{A}], [[{B}]], [{C}]]", "abc", {"wrapped_list": 4}),
    "the list ends too early": (f"[{A}], {B}, {C}]", "abc", {"stray_bracket": 1}),
    "the list of an object ends too early": (
        f'{{"traceEvents": [{A}], {B}, {C}], "rank": 3}}',
        "abc",
        {"stray_bracket": 1},
    ),
    "a bracket more behind the list": (
        f'{{"traceEvents": [{A}, {B}, {C}]], "rank": 3}}',
        "abc",
        {"stray_bracket": 1},
    ),
    "a brace more behind an entry": (f"[{A}, {B}}}, {C}]", "abc", {"stray_bracket": 1}),
    "a brace more before an entry": (f"[{A}, }}{B}, {C}]", "abc", {"stray_bracket": 1}),
    "an entry without its first brace": (f"[{A}, {B[1:]}, {C}]", "abc", {"missing_brace": 1}),
    "the first entry without it": (f"[{A[1:]}, {B}, {C}]", "abc", {"missing_brace": 1}),
    "the last entry without it": (f"[{A}, {B}, {C[1:]}]", "abc", {"missing_brace": 1}),
    "the last brace is missing": (OBJECT[:-1], "abc", {"unclosed_object": 1}),
    "the list is not closed": (TORN, "abc", {"unclosed": 1, "unclosed_object": 1}),
    "an entry is cut": (CUT, "ab", {"cut_end": 1}),
    # More than one
    "traceEvents twice": (
        f'{{"traceEvents": [{A}], "rank": 3, "traceEvents": [{B}, {C}]}}',
        "abc",
        {"events_twice": 1},
    ),
    "another trace behind it": (OBJECT + OBJECT, "abc", {"trailing_text": None}),
    "another list behind it": (f"[{A}]\n[{B}]", "a", {"trailing_text": None}),
    "text behind it": (f"{OBJECT}\nDone.", "abc", {"trailing_text": None}),
    "a comma behind the list": (f"[{A}, {B}],", "ab", {"trailing_text": None}),
    # A file that was allocated before it was written
    "NULs behind it": (OBJECT.encode() + bytes(5000), "abc", {"padding": None}),
    "NULs behind an open list": (
        TORN.encode() + bytes(5000),
        "abc",
        {"padding": None, "unclosed": 1, "unclosed_object": 1},
    ),
    "NULs behind a comma": (
        f"[{A}, {B},".encode() + bytes(9),
        "ab",
        {"padding": None, "unclosed": 1},
    ),
    "NULs behind a cut entry": (CUT.encode() + bytes(50), "ab", {"padding": None, "cut_end": 1}),
    "NULs behind UTF-16": (OBJECT.encode("utf-16") + bytes(64), "abc", {"padding": None}),
    "NULs between entries": (
        f"[{A}, ".encode() + bytes(50) + f"{B}, {C}]".encode(),
        "abc",
        {"unreadable": 1},
    ),
    # Two writers of one plain file (apache/mxnet #16702)
    "an entry within an entry": (
        f"[{A}, {B[:30]}{C}, {B[30:]}, {A}]",
        "aca",
        {"unreadable": 2},
    ),
    # Encoding
    "UTF-16 with half a character": (SPLIT, ["a", "b", "���"], {"invalid_utf8": 1}),
}
"""What is damaged: the text, the names of the events that are read, and the notes."""


@pytest.mark.parametrize("damage", DAMAGED)
def test_what_is_whole_of_a_damaged_text_is_read_and_the_damage_told(
    tmp_path: Path, damage: str
) -> None:
    text, names, notes = DAMAGED[damage]
    events = both(written(tmp_path, text))
    assert plain(events.name) == list(names)
    assert counts(events) == notes
    assert events.dropped == sum(notes.get(kind) or 0 for kind in ("cut_end", "unreadable"))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("decoder", DECODERS)
def test_it_does_not_matter_where_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoder: str, size: int
) -> None:
    for text in (*SOUND.values(), *(text for text, _, _ in DAMAGED.values())):
        file = written(tmp_path, text)
        whole = read(file, decoder=DECODERS[decoder]())
        with monkeypatch.context() as patched:
            patched.setattr(
                container, "_blocks", lambda stream: iter(partial(stream.read, size), b"")
            )
            assert_equal(read(file, decoder=DECODERS[decoder]()), whole)


def test_what_is_behind_a_trace_is_told_with_place_and_size(tmp_path: Path) -> None:
    (note,) = both(written(tmp_path, OBJECT + OBJECT)).notes
    size = len(OBJECT)
    assert note.text.startswith(f"{size:,} bytes behind the end of the trace, at byte {size:,}, ")
    assert note.text.endswith("they begin like another trace")


REFUSED: dict[str, tuple[bytes, type[FileError], str]] = {
    "only NULs": (bytes(5000), EmptyTraceError, "nothing but NUL bytes"),
    "gzip of NULs": (gzip.compress(bytes(5000)), EmptyTraceError, "nothing but NUL bytes"),
    "traceEvents is null": (b'{"traceEvents": null}', NotATraceError, "traceEvents are null"),
    "traceEvents is a text": (b'{"traceEvents": "[]"}', NotATraceError, "traceEvents are a string"),
    "traceEvents is a number": (b'{"traceEvents": 7}', NotATraceError, "traceEvents are a number"),
    "events by rank": (
        f'{{"rank0": [{A}], "rank1": [{B}]}}'.encode(),
        NotATraceError,
        "the keys 'rank0', 'rank1'",
    ),
    "traceEvents by rank": (
        f'{{"traceEvents": {{"0": [{A}], "1": [{B}]}}}}'.encode(),
        NotATraceError,
        "the keys '0', '1'",
    ),
    "a list of traces": (f"[{OBJECT}, {OBJECT}]".encode(), NotATraceError, "a JSON list of traces"),
    "a list of other objects": (
        b'[{"level": "info", "message": "x"}, {"level": "debug"}]',
        NotATraceError,
        "objects that are no events",
    ),
    "lists without end": (b"[" * 100_000, NotATraceError, "a list of lists"),
    "what Python prints": (
        str(json.loads(OBJECT)).encode(),
        NotATraceError,
        "text in braces that is no JSON",
    ),
}


@pytest.mark.parametrize("shape", REFUSED)
def test_it_is_refused_in_one_sentence(tmp_path: Path, shape: str) -> None:
    content, kind, words = REFUSED[shape]
    with pytest.raises(kind, match=words) as error:
        both(written(tmp_path, content))
    assert "\n" not in str(error.value)


# Beside the events.

BESIDE: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "no comma before the events": ('"a": 1 EVENTS', {"a": 1}, {"missing_comma": 1}),
    "no comma behind a text": (
        '"a": "x"\n"b": 2, EVENTS',
        {"a": "x", "b": 2},
        {"missing_comma": 1},
    ),
    "no comma behind the events": ('EVENTS "a": 1', {"a": 1}, {"missing_comma": 1}),
    "commas too many": (',"a": 1,, EVENTS,', {"a": 1}, {"stray_comma": 3}),
    "bare words": (
        '"a": N/A, "b": nan, EVENTS, "c": -inf',
        {"a": None, "b": None, "c": None},
        {"metadata": 3},
    ),
    "a path of Windows": (
        r'"traceName": "C:\work\trace.json", EVENTS',
        {"traceName": r"C:\work\trace.json"},
        {"metadata": 1},
    ),
    "quotes, and then no comma": (
        '"note": "say "hi"" EVENTS, "a": 1',
        {"note": 'say "hi"', "a": 1},
        {"metadata": 1},
    ),
    "a control character": ('"a": "x\ty", EVENTS', {"a": "x\ty"}, {"metadata": 1}),
    "a text that does not end": ('"a": "x, EVENTS, "b": 1', {"b": 1}, {"metadata_lost": 1}),
    "a key without quotes": ('a: 1, EVENTS, "b": 1', {"b": 1}, {"metadata_lost": 1}),
    "a key twice": ('"a": 1, EVENTS, "a": 2', {"a": 2}, {"property_twice": 1}),
    # kineto: the list is a text (format notes, 1.4; pytorch #133308)
    "a list as a text": (
        """"distributedInfo": {"rank": 0, "pg_config": "[{'pg_name': '0'}]"}, EVENTS""",
        {"distributedInfo": {"rank": 0, "pg_config": "[{'pg_name': '0'}]"}},
        {},
    ),
    "lists within lists": (
        '"a": ' + "[" * 5000 + "]" * 5000 + ", EVENTS",
        {},
        {"metadata_lost": 1},
    ),
}


@pytest.mark.parametrize("damage", BESIDE)
def test_damage_beside_the_events_does_not_cost_them(tmp_path: Path, damage: str) -> None:
    text, properties, notes = BESIDE[damage]
    file = written(
        tmp_path, f"{{{text.replace('EVENTS', f'{chr(34)}traceEvents{chr(34)}: [{A}, {B}]')}}}"
    )
    events = both(file)
    assert plain(events.name) == ["a", "b"]
    assert events.properties == properties
    assert counts(events) == notes


@pytest.mark.parametrize("order", [(META, A, B), (A, META, B), (A, B, META)])
def test_names_of_processes_may_stand_anywhere(tmp_path: Path, order: tuple[str, ...]) -> None:
    trace = load(written(tmp_path, f"[{', '.join(order)}]"))
    assert len(trace.host) == 2
    assert dict(trace.metadata.process_names) == {"1": "python"}


@pytest.mark.parametrize("text", [f"[{META}]", f'{{"schemaVersion": 1, "traceEvents": [{META}]}}'])
def test_a_trace_of_names_only_is_an_empty_one(tmp_path: Path, text: str) -> None:
    trace = load(written(tmp_path, text))
    assert (len(trace.host), len(trace.device), len(trace.memory)) == (0, 0, 0)
    assert dict(trace.metadata.events) == {"M": 1}
    assert "1 events, all of them read." in show.doctor(trace)


@pytest.mark.parametrize(
    ("info", "rank"),
    [
        (None, None),
        ({}, None),
        ({"rank": 3}, 3),
        ({"rank": "3"}, 3),
        ({"rank": True}, None),
        ({"rank": "first"}, None),
        ("[{'rank': 0}]", None),
        ([], None),
    ],
)
def test_a_rank_is_known_where_it_is_stated(tmp_path: Path, info: object, rank: int | None) -> None:
    # HTA #107; pytorch #133308
    document = {"traceEvents": [json.loads(A)]} | ({"distributedInfo": info} if info else {})
    assert load(written(tmp_path, json.dumps(document))).metadata.rank == rank


def test_streams_that_only_their_thread_names(tmp_path: Path) -> None:
    # kineto #109: recorders before 2021-08
    kernel = {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "ts": 5, "dur": 2}
    entries = [kernel | {"tid": tid} for tid in ("stream 7", "stream 20 ", "3239786240", 8)]
    trace = load(written(tmp_path, json.dumps(entries)))
    assert sorted(trace.work[s.STREAM].tolist()) == [7, 8, 20, 3_239_786_240]


def test_entries_nested_beyond_reason_cost_only_themselves(tmp_path: Path) -> None:
    deep = f'{{"ph": "X", "name": "deep", "args": {{"Input Dims": {"[" * 5000}{"]" * 5000}}}}}'
    events = both(written(tmp_path, f"[{A}, {deep}, {B}]"))
    assert plain(events.name) == ["a", "b"]
    assert (events.dropped, counts(events)) == (1, {"unreadable": 1})
