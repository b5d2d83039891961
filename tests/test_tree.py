"""The op tree: literal stacks, and any stack against the obvious way to build one."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from plain_reader import from_document

from traceview import intervals
from traceview.kineto.assemble import assemble
from traceview.trace import Trace
from traceview.tree import Tree, tree


def event(name: str, start: int, end: int, category: str = "cpu_op", thread: int = 1) -> Any:
    """A host event from `start` to `end`, us."""
    return {"ph": "X", "name": name, "cat": category, "pid": 1, "tid": thread, "ts": start,
            "dur": end - start}  # fmt: skip


def read(*events: Any) -> Trace:
    return assemble(from_document({"traceEvents": list(events)}))


def parents(trace: Trace) -> dict[str, str | None]:
    """The name of each node's parent, by the node's name."""
    found = tree(trace)
    names = [str(trace.host["name"].iloc[row]) for row in found.position]
    return {
        name: names[above] if above >= 0 else None
        for name, above in zip(names, found.parent.tolist(), strict=True)
    }


def us(found: Tree, trace: Trace, name: str) -> tuple[int, int]:
    """Start and end of a node, us from the first event."""
    (node,) = np.flatnonzero((trace.host["name"] == name).to_numpy()[found.position])
    return int(found.start[node]) // 1000, int(found.end[node]) // 1000


def test_ops_nest_by_time_on_their_own_thread() -> None:
    trace = read(
        event("linear", 0, 10),
        event("t", 1, 2),
        event("addmm", 3, 9),
        event("other", 4, 5, thread=2),
    )
    assert parents(trace) == {"linear": None, "t": "linear", "addmm": "linear", "other": None}
    assert tree(trace).self_ns.tolist() == [3000, 1000, 6000, 1000]
    assert tree(trace).depth.tolist() == [0, 1, 1, 0]


def test_of_equal_ranges_the_one_that_began_first_is_the_outer_one() -> None:
    first, second = (event(name, 0, 5) | {"args": {"External id": number}}
                     for name, number in (("z", 7), ("a", 8)))  # fmt: skip
    for events in ((first, second), (second, first)):
        assert parents(read(*events)) == {"z": None, "a": "z"}


def test_what_outlives_its_parent_ends_with_it_and_is_counted() -> None:
    trace = read(event("a", 0, 10), event("b", 5, 15), event("c", 12, 13))
    found = tree(trace)
    assert parents(trace) == {"a": None, "b": "a", "c": None}
    assert us(found, trace, "b") == (5, 10)
    assert int(found.cut.sum()) == 1


def test_a_region_outlives_the_frame_that_opens_it() -> None:
    trace = read(
        event("main", 0, 100, "python_function"),
        event("__enter__", 10, 13, "python_function"),
        event("region", 12, 50, "user_annotation"),
        event("mm", 20, 30),
        event("__exit__", 48, 52, "python_function"),
        event("later", 60, 61),
    )
    found = tree(trace)
    assert parents(trace) == {
        "main": None, "__enter__": "main", "region": "main", "mm": "region", "__exit__": "region",
        "later": "main",
    }  # fmt: skip
    assert us(found, trace, "__enter__") == (10, 12)
    assert us(found, trace, "region") == (12, 50)
    assert us(found, trace, "__exit__") == (48, 50)


def test_steps_of_old_recorders_are_regions() -> None:
    trace = read(event("enter", 0, 3, "Operator"), event("ProfilerStep#1", 2, 9, "Operator"))
    assert parents(trace) == {"enter": None, "ProfilerStep#1": None}
    assert tree(trace).is_region.tolist() == [False, True]


def test_recursion_counts_once() -> None:
    trace = read(event("mm", 0, 10), event("mm", 1, 9), event("t", 2, 3), event("mm", 11, 12))
    assert tree(trace).outermost.tolist() == [True, False, True, True]


def test_paths_go_from_the_outermost_to_the_innermost() -> None:
    trace = read(
        event("step", 0, 20, "user_annotation"), event("linear", 1, 9), event("addmm", 2, 3),
        event("linear", 10, 19), event("addmm", 11, 12),
    )  # fmt: skip
    found = tree(trace)
    paths = found.paths(found.is_op, found.name)
    texts = paths.joined(trace.host["name"].cat.categories, "/")
    assert sorted(texts) == ["linear", "linear/addmm"]
    assert [texts[code] if code >= 0 else "" for code in paths.of] == [
        "", "linear", "linear/addmm", "linear", "linear/addmm",
    ]  # fmt: skip


def test_a_time_has_an_innermost_node() -> None:
    trace = read(event("a", 0, 10), event("b", 2, 4), event("c", 0, 3, thread=2))
    found = tree(trace)
    one, two = found.thread[[0, 2]]
    at = found.at(np.array([one, one, one, one, two, two]), np.array([0, 2, 4, 10, 2, 3]) * 1000)
    assert at.tolist() == [0, 1, 0, -1, 2, -1]


def test_a_trace_without_host_events_has_an_empty_tree() -> None:
    found = tree(read())
    assert found.position.size == 0
    assert found.self_ns.size == found.outermost.size == 0
    assert found.paths(found.is_op, found.name).joined([], "/") == []


def naive(ranges: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Parents and ends, by a stack."""
    parent: list[int] = []
    ends: list[int] = []
    stack: list[int] = []
    for number, (start, end) in enumerate(ranges):
        while stack and ends[stack[-1]] <= start:
            stack.pop()
        parent.append(stack[-1] if stack else -1)
        ends.append(min(end, ends[stack[-1]]) if stack else end)
        stack.append(number)
    return parent, ends


RANGES = st.lists(
    st.builds(
        lambda start, length: (start, start + length), st.integers(0, 40), st.integers(0, 20)
    ),
    max_size=60,
).map(lambda ranges: sorted(ranges, key=lambda pair: (pair[0], -pair[1])))


@given(RANGES)
def test_nesting_is_what_a_stack_would_do(ranges: list[tuple[int, int]]) -> None:
    starts, ends = [a for a, _ in ranges], [b for _, b in ranges]
    parent, end = intervals.nest(starts, ends)
    assert (parent.tolist(), end.tolist()) == naive(ranges)


def test_a_long_staircase_is_what_a_stack_would_do() -> None:
    ranges = [(10 * step, 10 * step + 15) for step in range(500)]
    parent, end = intervals.nest([a for a, _ in ranges], [b for _, b in ranges])
    assert (parent.tolist(), end.tolist()) == naive(ranges)


EVENTS = st.lists(
    st.builds(
        lambda start, length, name, category, thread: event(
            name, start, start + length, category, thread
        ),
        st.integers(0, 60),
        st.integers(0, 30),
        st.sampled_from("abc"),
        st.sampled_from(["cpu_op", "user_annotation", "python_function"]),
        st.integers(1, 2),
    ),
    max_size=30,
)


@given(EVENTS)
def test_self_times_add_up_and_nothing_is_lost(events: list[Any]) -> None:
    trace = read(*events)
    found = tree(trace)
    length = found.end - found.start
    assert sorted(found.position.tolist()) == list(range(len(trace.host)))
    assert (found.self_ns >= 0).all()
    assert found.self_ns.sum() == length[found.parent < 0].sum()
    for number in np.unique(found.thread):
        mine = found.thread == number
        assert (
            found.self_ns[mine].sum() == intervals.union(found.start[mine], found.end[mine]).total
        )
    inner = np.flatnonzero(found.parent >= 0)
    above = found.parent[inner]
    assert (above < inner).all()
    assert (found.start[inner] >= found.start[above]).all()
    assert (found.end[inner] <= found.end[above]).all()
    assert (inner < found.stop[above]).all()


@given(EVENTS)
def test_regions_yield_to_regions_only(events: list[Any]) -> None:
    found = tree(read(*events))
    alone = tree(read(*(entry for entry in events if entry["cat"] == "user_annotation")))
    lengths = np.sort((found.end - found.start)[found.is_region])
    assert lengths.tolist() == np.sort(alone.end - alone.start).tolist()


@given(EVENTS)
def test_outermost_is_what_the_ancestors_say(events: list[Any]) -> None:
    found = tree(read(*events))
    for node, name in enumerate(found.name.tolist()):
        names, above = [], int(found.parent[node])
        while above >= 0:
            names.append(int(found.name[above]))
            above = int(found.parent[above])
        assert found.outermost[node] == (name not in names)
        assert found.depth[node] == len(names)
