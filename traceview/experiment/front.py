"""The front matter of a Markdown file: plain YAML, with the line of everything in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from traceview.experiment.record import Problem

FENCE = "---"
_LARGEST = 4 * 2**20
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
"""The marks of git at both ends of a conflict; that between them also underlines a heading."""

Place = tuple[str | int, ...]
"""Where something is in the front matter: keys and positions from the outside in."""


class Front(NamedTuple):
    """The front matter: its data, and the line of each place in the file."""

    data: Mapping[str, Any]
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """The line of a place, or of the innermost thing around it that is there."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


class Damage(Exception):  # noqa: N818 -- not an error of ours: it becomes a Problem
    """The front matter cannot be read from this line on."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(line, text)


def read(text: str) -> Front:
    """The front matter of a file. Raises Damage where it has none that can be read."""
    conflict = _CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        raise Damage(line, "a merge conflict: keep both records, each in a file of its own")
    if len(text) > _LARGEST:
        raise Damage(1, f"{len(text):,} characters are more than a record has")
    front, _ = split(text)
    node = nodes(front)
    lines = dict(_places(node, ()))
    try:
        data = yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise Damage(_line(error.problem_mark), f"is no plain data: {error.problem}") from error
    except (ValueError, AttributeError, LookupError) as error:  # of a tag that does not fit
        raise Damage(1, f"is no plain data: {error}") from error
    return Front(data, lines)


def split(text: str) -> tuple[str, str]:
    """Front matter and body."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == FENCE:
            return "".join(lines[1:number]), "".join(lines[number + 1 :])
    raise Damage(1, f"the front matter has no end: a line {FENCE} of its own")


class _Loader(yaml.SafeLoader):
    """Plain data only: times stay texts, and nothing refers to anything else."""

    yaml_implicit_resolvers = {  # noqa: RUF012 -- a table of the class, as yaml has it
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node; an alias would let a small file become a large one."""
        if self.check_event(yaml.AliasEvent):
            raise Damage(_line(self.get_mark()), "a record has no aliases (*name)")
        return super().compose_node(parent, index)


def nodes(front: str) -> yaml.MappingNode:
    """The front matter as a tree of nodes, which know their lines."""
    try:
        node = _Loader(front).get_single_node()
    except yaml.MarkedYAMLError as error:
        at_end = error.problem is not None and "stream end" in error.problem
        mark = error.context_mark if at_end else error.problem_mark
        raise Damage(_line(mark), f"is no YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise Damage(1, f"is no YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise Damage(1, "is nested too deeply to be a record") from error
    if not isinstance(node, yaml.MappingNode):
        raise Damage(2, "the front matter is no list of `key: value`")
    return node


def _line(mark: yaml.Mark | None) -> int:
    """The line of the file: the front matter begins in its second."""
    return 1 if mark is None else mark.line + 2


def _places(node: yaml.Node, place: Place) -> Iterator[tuple[Place, int]]:
    """The line of each value by its place."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = _line(key.start_mark)
            if not isinstance(key, yaml.ScalarNode):
                raise Damage(line, "a key has to be a word")
            if key.value in seen:
                raise Damage(line, f"`{key.value}` occurs twice")
            seen.add(key.value)
            yield (*place, key.value), line
            yield from _places(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield (*place, number), _line(item.start_mark)
            yield from _places(item, (*place, number))
