"""Text from a trace, made fit to be shown.

Names come from files that anybody may have written. What a reader could not see, or what would
move the cursor or turn the writing direction, is shown as an escape instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from os.path import commonprefix

from rich.cells import cell_len, chop_cells

ELLIPSIS = "..."


def visible(text: str) -> str:
    r"""`text` with everything that has no shape of its own escaped: `\x1b`, `\n`, `\u202e`."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def shortened(text: str, width: int) -> str:
    """`text` in at most `width` terminal cells, its middle left out where it is too long.

    Both ends of a kernel name tell something, but its begin, with the function, tells more.
    """
    if cell_len(text) <= width:
        return text
    room = width - len(ELLIPSIS)
    if room < len(ELLIPSIS):
        return _begin(text, width)
    end = _begin(text[::-1], room // 3)[::-1]
    return _begin(text, room - cell_len(end)) + ELLIPSIS + end


def told_apart(texts: Sequence[str], width: int) -> list[str]:
    """All of `texts` shortened, and different ones still different where that can be done.

    Kernels of one template often differ only in the middle; those show where they part instead of
    their end.
    """
    shorts = [shortened(text, width) for text in texts]
    rivals = defaultdict(set)
    for text, short in zip(texts, shorts, strict=True):
        rivals[short].add(text)
    return [
        short if len(rivals[short]) == 1 else _parting(text, _shared(rivals[short]), width)
        for text, short in zip(texts, shorts, strict=True)
    ]


def _shared(texts: Iterable[str]) -> int:
    """How many characters all of `texts` begin with."""
    return len(commonprefix(list(texts)))  # noqa: RUF071 -- by characters is what is meant


def _parting(text: str, position: int, width: int) -> str:
    """The begin of `text`, then what it has at `position`, from the begin of that word."""
    begin = _begin(text, width // 3)
    room = width - cell_len(begin) - 2 * len(ELLIPSIS)
    word = re.split(r"\W", text[:position])[-1]
    start = position - min(len(word), room // 2)
    if start <= len(begin):
        return _begin(text, width - len(ELLIPSIS)) + ELLIPSIS
    part = _begin(text[start:], room)
    return begin + ELLIPSIS + part + (ELLIPSIS if start + len(part) < len(text) else "")


def _begin(text: str, width: int) -> str:
    """As much of the begin of `text` as `width` cells hold."""
    return chop_cells(text, width)[0] if width > 0 else ""
