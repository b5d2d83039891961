r"""Paths of Windows whose backslashes a reader of JSON takes for escapes (format notes, 6).

`torch\nn\functional.py` is well-formed JSON where nobody escaped it, and decodes to a name with a
line end and a form feed. No path holds either, so that what was written can be told.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import numpy as np

from traceview.kineto.columns import Texts
from traceview.kineto.entries import Columns
from traceview.trace import Note

_SWALLOWED = re.compile(r"[\b\t\n\f\r]")
_PART = re.compile(r"[^;\"<>]+")
"""What may hold a path: stacks join frames by `;`, and no path holds one of the others."""
_PATH_END = re.compile(r"\.py\(\d+\): ")
_LETTERS: Final = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r"}
_STACKS: Final = "Call stack"


def restored(columns: Columns) -> tuple[Columns, tuple[Note, ...]]:
    """`columns` with the paths of Python frames as they were, and a note on how many."""
    names, count = _restored(columns.name)
    texts = columns.texts
    stacks = texts.get(_STACKS)
    if stacks is not None:
        content, more = _restored(stacks.texts)
        count += more
        texts = texts | {_STACKS: replace(stacks, texts=content)}
    if not count:
        return columns, ()
    words = "paths in which backslashes had become line ends, tabs or the like, read as backslashes"
    return replace(columns, name=names, texts=texts), (Note("path_escapes", words, count),)


def _restored(column: Texts) -> tuple[Texts, int]:
    """The column with whole paths, and how many entries had a broken one."""
    values = [_whole(value) for value in column.values]
    broken = [new != old for new, old in zip(values, column.values, strict=True)]
    if not any(broken):
        return column, 0
    count = int(np.array([*broken, False])[column.codes].sum())
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(value, len(code_of)) for value in values]
    return Texts(np.array([*codes, -1], dtype=np.int32)[column.codes], tuple(code_of)), count


def _whole(text: str) -> str:
    if not any(character in text for character in _LETTERS):  # as fast as memchr
        return text
    return _PART.sub(_with_paths, text)


def _with_paths(part: re.Match[str]) -> str:
    """The part, where what stands before the last end of a path is mended."""
    text = part.group()
    end = max((path.end() for path in _PATH_END.finditer(text)), default=0)
    return _SWALLOWED.sub(_letter, text[:end]) + text[end:]


def _letter(character: re.Match[str]) -> str:
    return _LETTERS[character.group()]
