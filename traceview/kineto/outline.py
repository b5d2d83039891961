"""The top level of a trace: its properties, and the way to its events."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from traceview.kineto.faults import Repairs
from traceview.kineto.mend import mended
from traceview.kineto.window import Window

EVENTS = "traceEvents"
_VALUE, _ANYTHING = b"value", b"anything"
"""What was read last, where it is no punctuation: a value, or text that is no JSON."""
_UNREADABLE: Final = (msgspec.DecodeError, ValueError, RecursionError)
_NEXT_KEY = re.compile(rb',\s*"[^"\\\n]{1,200}"\s*:|"traceEvents"\s*:\s*[\[{]')
_KEY = re.compile(rb'"[^"\\\n]{1,200}"\s*:')
_LONGEST_KEY: Final = 1 << 8


class Outline:
    """Reads the properties of a trace on both sides of its events.

    `shape` is what the text starts with: "array" of events, "object", or "" for anything else.
    """

    def __init__(self, window: Window, repairs: Repairs) -> None:
        self.properties: dict[str, Any] = {}
        self.found_events = False
        self._window = window
        self._repairs = repairs
        self._depth = 0
        self._last = _ANYTHING
        start = window.skip_space()
        self.shape = {b"[": "array", b"{": "object"}.get(start, "")

    def advance(self) -> bool:
        """Go to the first entry of the next array of events; False when there is none."""
        if self.shape == "array":
            first, self.found_events = not self.found_events, True
            self._window.position += first
            return first or self._goes_on()
        if self.found_events:
            self._last = _ANYTHING if "unclosed" in self._repairs.offsets else _VALUE
        while self.shape:
            mark = self._window.skip_space()
            if mark == b"":
                self._end()
                return False
            if mark in b"{},]":
                if mark == b"{" and self.found_events:
                    self._repairs.add("stray_bracket", self._window.offset)
                    return True
                self._pass(mark)
                if self._depth == 0:
                    return False
            elif self._property():
                return True
        return False

    def _end(self) -> None:
        """The text ended before the last brace; what follows the events may be lost."""
        if "cut_end" not in self._repairs.offsets:
            self._repairs.add("unclosed_object", self._window.offset)

    def _goes_on(self) -> bool:
        """More entries follow a bracket that closed their array too early."""
        window = self._window
        if window.skip_space() != b"," or window.behind(b",") != b"{":
            return False
        self._repairs.add("stray_bracket", window.offset)
        window.position += 1
        return True

    def _pass(self, mark: bytes) -> None:
        """Go past a mark between properties, of which one comma belongs there."""
        comma_before = self._last == b"," or (self._last, mark) == (b"{", b",")
        if mark == b"]":
            self._repairs.add("stray_bracket", self._window.offset)
        elif mark in b",}" and comma_before:
            self._repairs.add("stray_comma", self._window.offset)
        self._last = _VALUE if mark in b"}]" else mark
        self._depth += {b"{": 1, b"}": -1}.get(mark, 0)
        self._window.position += 1

    def _property(self) -> bool:
        """Read one key and its value; True when the value is the array of events."""
        window = self._window
        if self._last == _VALUE:
            self._repairs.add("missing_comma", window.offset)
        self._last = _ANYTHING
        key = self._key()
        if key is None:
            return self._recover()
        mark = window.skip_space()
        if key == EVENTS and mark == b"[":
            if self.found_events:
                self._repairs.add("events_twice", window.offset)
            self.found_events = True
            window.position += 1
            return True
        if key == EVENTS and mark == b"{":
            return False  # another trace is wrapped in: its keys are read as if they were ours
        offset = window.offset
        value = window.value()
        if value is None or not self._separated(value):
            value = self._damaged_value()
        else:
            self._last = _VALUE
        window.position += len(value)
        self._keep(key, value, offset)
        return False

    def _separated(self, value: bytes) -> bool:
        """What follows may follow a value; a quote that was not escaped ends one too early."""
        window = self._window
        mark = window.behind(value)
        if mark != b'"':
            return mark in {b"", b",", b"}"}
        window.look_ahead(len(value) + _LONGEST_KEY)
        return _KEY.match(window.data[window.position + len(value) :].lstrip()) is not None

    def _key(self) -> str | None:
        window = self._window
        raw = window.value() if window.skip_space() == b'"' else None
        if raw is None:
            return None
        window.position += len(raw)
        if window.skip_space() != b":":
            return None
        window.position += 1
        return raw[1:-1].decode("utf-8", "replace")

    def _keep(self, key: str, value: bytes, offset: int) -> None:
        if key in self.properties:
            self._repairs.add("property_twice", offset)
        try:
            self.properties[key] = msgspec.json.decode(value)
        except _UNREADABLE:
            repair = mended(value)
            try:
                self.properties[key] = json.loads(repair.text if repair else b"")
            except _UNREADABLE:
                self._repairs.add("metadata_lost", offset)
            else:
                self._repairs.add("metadata", offset)

    def _damaged_value(self) -> bytes:
        """Text up to what looks like the next key (values are not escaped, format notes 1.4)."""
        window = self._window
        while True:
            match = _NEXT_KEY.search(window.data, window.position)
            if match is not None:
                return window.data[window.position : match.start()]
            if window.final or not window.more():
                return window.data[window.position :].rstrip().removesuffix(b"}")

    def _recover(self) -> bool:
        """Skip what is no key, up to the next thing that looks like one."""
        window = self._window
        offset = window.offset
        window.position += 1
        skipped = self._damaged_value()
        window.position += len(skipped)
        self._repairs.add("metadata_lost", offset)
        return False
