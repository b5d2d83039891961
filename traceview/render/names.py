"""Text from a trace, made fit to be shown.

Names come from files that anybody may have written. What a reader could not see, or what would
move the cursor or turn the writing direction, is shown as an escape instead.
"""

from __future__ import annotations

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

    Both ends of a kernel name tell something: the function at its begin, the types at its end.
    """
    if cell_len(text) <= width:
        return text
    room = width - len(ELLIPSIS)
    if room < len(ELLIPSIS):
        return _begin(text, width)
    end = _begin(text[::-1], room // 2)[::-1]
    return _begin(text, room - cell_len(end)) + ELLIPSIS + end


def _begin(text: str, width: int) -> str:
    """As much of the begin of `text` as `width` cells hold."""
    return chop_cells(text, width)[0] if width > 0 else ""
