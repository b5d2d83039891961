"""Matching from the outside in: names first, replacements where both sides have a remainder."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from traceview.diff.match import Change, Level, Match, Node, Path, match


def path(text: str) -> Path:
    """`@attention/bmm/:gemm`: an annotation with @, a kernel with :, else an op."""
    levels = {"@": Level.ANNOTATION, ":": Level.KERNEL}
    return tuple(Node(levels.get(part[0], Level.OP), part.lstrip("@:")) for part in text.split("/"))


def changes(matches: list[Match]) -> set[tuple[Change, int, int]]:
    return {(m.change, len(m.before), len(m.after)) for m in matches}


def test_equal_paths_match_by_name() -> None:
    both = [path("@attention/bmm/:gemm"), path("softmax/:softmax")]
    found = match(both, reversed(both))
    assert changes(found) == {(Change.BOTH, 1, 1)}
    assert all(m.confidence == 1.0 for m in found)


def test_a_job_done_otherwise_is_replaced_within_its_region() -> None:
    before = [path("@attention/bmm/:gemm"), path("@attention/softmax/:softmax"), path("add/:add")]
    after = [path("@attention/flash/:flash_fwd"), path("add/:add")]
    found = {m.change: m for m in match(before, after)}
    replaced = found[Change.REPLACED]
    assert replaced.parent == path("@attention")
    assert set(replaced.before) == set(before[:2])
    assert replaced.after == (after[0],)
    assert found[Change.BOTH].parent == path("add/:add")


def test_another_kernel_for_the_same_op_is_replaced_within_the_op() -> None:
    (found,) = match([path("mm/:old_gemm")], [path("mm/:new_gemm")])
    assert (found.change, found.parent, found.confidence) == (Change.REPLACED, path("mm"), 0.8)


def test_a_remainder_looks_for_its_counterpart_further_out() -> None:
    before = [path("@step/forward/:a"), path("@step/backward/:b"), path("@step/backward/:both")]
    after = [path("@step/optimizer/:c"), path("@step/backward/:both")]
    replaced = [m for m in match(before, after) if m.change is Change.REPLACED]
    assert [m.parent for m in replaced] == [path("@step")]


def test_without_a_counterpart_work_is_gone_or_new() -> None:
    gone = match([path("mm/:gemm"), path("add/:add")], [path("add/:add")])
    assert changes(gone) == {(Change.BOTH, 1, 1), (Change.ONLY_BEFORE, 1, 0)}
    new = match([], [path("add/:add")])
    assert changes(new) == {(Change.ONLY_AFTER, 0, 1)}


NAMES = st.sampled_from("abc")
PATHS = st.sets(
    st.builds(
        lambda ops, kernel: path("/".join([*ops, f":{kernel}"])),
        st.lists(NAMES, max_size=3),
        NAMES,
    ),
    max_size=12,
)


@given(PATHS, PATHS)
def test_every_path_is_in_one_match_and_swapping_mirrors(
    before: set[Path], after: set[Path]
) -> None:
    found = match(before, after)
    assert sorted(p for m in found for p in m.before) == sorted(before)
    assert sorted(p for m in found for p in m.after) == sorted(after)
    swapped = {
        Change.ONLY_BEFORE: Change.ONLY_AFTER,
        Change.ONLY_AFTER: Change.ONLY_BEFORE,
    }
    mirrored = {
        (swapped.get(m.change, m.change), frozenset(m.after), frozenset(m.before)) for m in found
    }
    back = {(m.change, frozenset(m.before), frozenset(m.after)) for m in match(after, before)}
    assert mirrored == back


@given(PATHS)
def test_a_side_matches_itself_by_name_alone(paths: set[Path]) -> None:
    assert all(m.change is Change.BOTH for m in match(paths, paths))


def test_regions_may_be_nested_deeper_than_calls_of_python() -> None:
    deep = "/".join(["op"] * 5000)
    found = match([path(f"{deep}/:old"), path(f"{deep}/:same")], [path(f"{deep}/:same")])
    assert changes(found) == {(Change.BOTH, 1, 1), (Change.ONLY_BEFORE, 1, 0)}
