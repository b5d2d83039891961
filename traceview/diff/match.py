"""Match the work of two sides from the outside in: by region, then op, then kernel.

Each piece of work has a path: its annotations, modules and ops from the outside in, then its kernel
by normalized name. The paths of a side form a tree; the two trees are walked together, and only
nodes of equal names under matched parents are matched. Never is anything matched by its position.

What is left over under a matched parent on both sides is *replaced*: one way to do a job stands for
another. What only one side has left over waits for a counterpart further out, and without one it is
gone or new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """What a node of a path is."""

    ANNOTATION = "annotation"
    MODULE = "module"
    OP = "op"
    KERNEL = "kernel"


class Node(NamedTuple):
    """One name in a path."""

    level: Level
    name: str


Path = tuple[Node, ...]


class Change(StrEnum):
    """What became of a piece of work."""

    BOTH = "both"
    REPLACED = "replaced"
    ONLY_BEFORE = "only_before"
    ONLY_AFTER = "only_after"


@dataclass(frozen=True, slots=True)
class Match:
    """Paths of both sides that belong together, under the innermost path that they share.

    `confidence` is 1 where names are equal. A replacement is the surer the closer the parent:
    0.9 within the same region, 0.8 within the same op, 0.5 where all that is known is that both
    sides have something left over.
    """

    parent: Path
    change: Change
    before: tuple[Path, ...]
    after: tuple[Path, ...]
    confidence: float = 1.0


_CONFIDENCE = {Level.ANNOTATION: 0.9, Level.MODULE: 0.9, Level.OP: 0.8}
_ANYWHERE = 0.5


def match(before: Iterable[Path], after: Iterable[Path]) -> list[Match]:
    """All paths of both sides, each in exactly one Match."""
    matches: list[Match] = []
    left, right = _walk(sorted(set(before)), sorted(set(after)), 0, matches)
    matches += [Match(path, Change.ONLY_BEFORE, (path,), ()) for path in left]
    matches += [Match(path, Change.ONLY_AFTER, (), (path,)) for path in right]
    return matches


def _walk(
    before: Sequence[Path], after: Sequence[Path], depth: int, matches: list[Match]
) -> tuple[list[Path], list[Path]]:
    """Match paths that agree in their first `depth` nodes; what is left over on one side."""
    left, right = dict(_children(before, depth)), dict(_children(after, depth))
    lonely_left: list[Path] = []
    lonely_right: list[Path] = []
    for node in {**left, **right}:
        ours, theirs = left.get(node, []), right.get(node, [])
        if not ours or not theirs:
            lonely_left += ours
            lonely_right += theirs
        elif node.level is Level.KERNEL:
            matches.append(Match(ours[0], Change.BOTH, tuple(ours), tuple(theirs)))
        else:
            more_left, more_right = _walk(ours, theirs, depth + 1, matches)
            lonely_left += more_left
            lonely_right += more_right
    if not lonely_left or not lonely_right:
        return lonely_left, lonely_right
    parent = lonely_left[0][:depth]
    sure = _CONFIDENCE[parent[-1].level] if parent else _ANYWHERE
    pair = tuple(lonely_left), tuple(lonely_right)
    matches.append(Match(parent, Change.REPLACED, *pair, sure))
    return [], []


def _children(paths: Sequence[Path], depth: int) -> Iterator[tuple[Node, list[Path]]]:
    """The paths by their node at `depth`."""
    groups: dict[Node, list[Path]] = {}
    for path in paths:
        groups.setdefault(path[depth], []).append(path)
    yield from groups.items()
