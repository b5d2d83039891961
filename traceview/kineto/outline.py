"""The top level of a trace: its properties, and the way to its events."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, Final

import msgspec

from traceview.kineto.mend import mended
from traceview.kineto.repair import Repairs
from traceview.kineto.window import Window

EVENTS = "traceEvents"
_UNREADABLE: Final = (msgspec.DecodeError, ValueError, RecursionError)
_NEXT_KEY = re.compile(rb',\s*"[^"\\\n]{1,200}"\s*:')


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
        start = window.skip_space()
        self.shape = {b"[": "array", b"{": "object"}.get(start, "")

    def advance(self) -> bool:
        """Go to the first entry of the next array of events; False when there is none."""
        window = self._window
        if self.shape == "array":
            first, self.found_events = not self.found_events, True
            window.position += first
            return first
        while self.shape:
            mark = window.skip_space()
            if mark == b"":
                return False
            if mark in b"{},]":
                window.position += 1
                self._depth += {b"{": 1, b"}": -1}.get(mark, 0)
                if self._depth == 0:
                    return False
            elif self._property():
                self.found_events = True
                return True
        return False

    def _property(self) -> bool:
        """Read one key and its value; True when the value is the array of events."""
        window = self._window
        key = self._key()
        if key is None:
            return self._recover()
        mark = window.skip_space()
        if key == EVENTS and mark == b"[":
            window.position += 1
            return True
        if key == EVENTS and mark == b"{":
            return False  # another trace is wrapped in: its keys are read as if they were ours
        offset = window.offset
        value = window.value()
        if value is None or not self._separated(value):
            value = self._damaged_value()
        window.position += len(value)
        self._keep(key, value, offset)
        return False

    def _separated(self, value: bytes) -> bool:
        """What follows may follow a value; a quote that was not escaped ends one too early."""
        window = self._window
        while True:
            behind = window.data[window.position + len(value) :].lstrip()
            if behind or window.final or not window.more():
                return behind[:1] in {b"", b",", b"}"}

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
        try:
            self.properties[key] = msgspec.json.decode(value)
        except _UNREADABLE:
            self._repairs.add("metadata", offset)
            repair = mended(value)
            if repair is not None:
                with suppress(*_UNREADABLE):
                    self.properties[key] = json.loads(repair.text)

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
        self._repairs.add("metadata", offset)
        return False
