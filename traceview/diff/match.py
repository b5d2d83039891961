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
    left, right = _walk(sorted(set(before)), sorted(set(after)), matches)
    matches += [Match(path, Change.ONLY_BEFORE, (path,), ()) for path in left]
    matches += [Match(path, Change.ONLY_AFTER, (), (path,)) for path in right]
    return matches


class _Visit:
    """A node that both sides have: what is below it, and what of that is left over so far."""

    def __init__(self, before: Sequence[Path], after: Sequence[Path], depth: int) -> None:
        self.depth = depth
        self.below = _pairs(before, after, depth)
        self.left: list[Path] = []
        self.right: list[Path] = []

    def replacement(self) -> Match | None:
        """What is left over on both sides, which then is left over no more."""
        if not self.left or not self.right:
            return None
        parent = self.left[0][: self.depth]
        sure = _CONFIDENCE[parent[-1].level] if parent else _ANYWHERE
        found = Match(parent, Change.REPLACED, tuple(self.left), tuple(self.right), sure)
        self.left, self.right = [], []
        return found


def _walk(
    before: Sequence[Path], after: Sequence[Path], matches: list[Match]
) -> tuple[list[Path], list[Path]]:
    """Match what is below equal names; what is left over on one side.

    Regions may be nested deeper than Python calls may.
    """
    visits = [_Visit(before, after, 0)]
    while True:
        visit = visits[-1]
        for node, ours, theirs in visit.below:
            if not ours or not theirs:
                visit.left += ours
                visit.right += theirs
            elif node.level is Level.KERNEL:
                matches.append(Match(ours[0], Change.BOTH, tuple(ours), tuple(theirs)))
            else:
                visits.append(_Visit(ours, theirs, visit.depth + 1))
                break
        else:
            if (replaced := visit.replacement()) is not None:
                matches.append(replaced)
            visits.pop()
            if not visits:
                return visit.left, visit.right
            visits[-1].left += visit.left
            visits[-1].right += visit.right


def _pairs(
    before: Sequence[Path], after: Sequence[Path], depth: int
) -> Iterator[tuple[Node, list[Path], list[Path]]]:
    """The paths of both sides by their node at `depth`."""
    left, right = _children(before, depth), _children(after, depth)
    for node in {**left, **right}:
        yield node, left.get(node, []), right.get(node, [])


def _children(paths: Sequence[Path], depth: int) -> dict[Node, list[Path]]:
    """The paths by their node at `depth`."""
    groups: dict[Node, list[Path]] = {}
    for path in paths:
        groups.setdefault(path[depth], []).append(path)
    return groups
