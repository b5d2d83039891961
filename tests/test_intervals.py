"""Exact arithmetic on intervals: by hand, and against a count of every single instant."""

from hypothesis import given
from hypothesis import strategies as st

from traceview import intervals

INTERVALS = st.lists(st.tuples(st.integers(-20, 60), st.integers(0, 25)), max_size=12)


def ends(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [start for start, _ in pairs], [start + length for start, length in pairs]


def instants(pairs: list[tuple[int, int]]) -> set[int]:
    return {moment for start, length in pairs for moment in range(start, start + length)}


def test_touching_intervals_become_one() -> None:
    spans = intervals.union([10, 0, 30, 5], [20, 10, 40, 8])
    assert spans.starts.tolist() == [0, 30]
    assert spans.ends.tolist() == [20, 40]
    assert spans.total == 30


def test_an_instant_is_shared_equally() -> None:
    # |----------|        0..10
    #      |-----|        5..10: these five are shared
    assert intervals.shares([0, 5], [10, 10]).tolist() == [8, 2]  # 7.5 and 2.5, made whole
    assert intervals.shares([0, 0, 0], [10, 10, 10]).tolist() == [4, 3, 3]
    assert intervals.shares([0, 20], [10, 20]).tolist() == [10, 0]


def test_parts_are_rounded_so_that_they_add_up() -> None:
    assert intervals.apportion([10, 10, 10], 4).tolist() == [3, 3, 2]
    assert intervals.apportion([7, 5], 2).tolist() == [4, 2]
    assert intervals.apportion([], 3).tolist() == []


def test_of_nested_intervals_the_inner_one_is_found() -> None:
    starts, finishes = [0, 10, 12], [100, 50, 20]
    at = [5, 10, 15, 20, 50, 100, -1]
    assert intervals.innermost(starts, finishes, at).tolist() == [0, 1, 2, 1, 0, -1, -1]


def test_times_since_1970_do_not_overflow() -> None:
    year = 1_700_000_000 * 10**9
    assert intervals.union([year, year + 5], [year + 10, year + 15]).total == 15
    assert intervals.shares([year, year], [year + 10**12, year + 10**12]).sum() == 10**12
    assert intervals.union_lengths([0, 1], [year, year], [year + 3, year + 4], 2).tolist() == [3, 4]


def test_labels_whose_axes_together_are_longer_than_an_integer_do_not_overflow() -> None:
    labels, starts = [*range(40), 39], [*range(40), 2**62]
    finishes = [time + 3 for time in starts]
    found = intervals.union_lengths(labels, starts, finishes, 41)
    assert found.tolist() == [3] * 39 + [6, 0]
    both = [-(2**62), 2**62]
    assert intervals.union_lengths([1, 1], both, [time + 1 for time in both], 2).tolist() == [0, 2]


@given(INTERVALS)
def test_union_covers_the_same_instants(pairs: list[tuple[int, int]]) -> None:
    spans = intervals.union(*ends(pairs))
    covered = {
        moment
        for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)
        for moment in range(start, end)
    }
    assert covered == instants(pairs)
    assert (spans.starts[1:] > spans.ends[:-1]).all()


@given(INTERVALS, INTERVALS)
def test_intersection_and_overlap_count_common_instants(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    first, second = intervals.union(*ends(one)), intervals.union(*ends(other))
    assert intervals.intersection(first, second).total == len(instants(one) & instants(other))
    for pair, length in zip(other, intervals.overlap(first, *ends(other)).tolist(), strict=True):
        assert length == len(instants(one) & instants([pair]))


@given(INTERVALS)
def test_shares_add_up_and_are_fair(pairs: list[tuple[int, int]]) -> None:
    got = intervals.shares(*ends(pairs))
    assert got.sum() == len(instants(pairs))
    for share, (start, length) in zip(got.tolist(), pairs, strict=True):
        fair = sum(
            1 / sum(a <= moment < a + n for a, n in pairs)
            for moment in range(start, start + length)
        )
        assert abs(share - fair) < 1 + 1e-3


@given(INTERVALS, st.integers(1, 3))
def test_union_lengths_are_the_unions_of_each_label(
    pairs: list[tuple[int, int]], count: int
) -> None:
    labels = [number % count for number in range(len(pairs))]
    expected = [len(instants(pairs[label::count])) for label in range(count)]
    assert intervals.union_lengths(labels, *ends(pairs), count).tolist() == expected


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=9), st.integers(1, 20))
def test_apportioned_parts_stay_within_one(parts: list[int], divisor: int) -> None:
    got = intervals.apportion(parts, divisor).tolist()
    assert sum(got) == (2 * sum(parts) + divisor) // (2 * divisor)
    assert all(
        abs(value * divisor - part) < divisor for value, part in zip(got, parts, strict=True)
    )


@given(INTERVALS, st.lists(st.integers(-25, 90), max_size=9))
def test_innermost_is_the_last_begun_that_covers(
    pairs: list[tuple[int, int]], times: list[int]
) -> None:
    found = intervals.innermost(*ends(pairs), times).tolist()
    for moment, index in zip(times, found, strict=True):
        covering = [(start, -length) for start, length in pairs if start <= moment < start + length]
        if covering:
            assert (pairs[index][0], -pairs[index][1]) == max(covering)
        else:
            assert index == -1


def test_nothing_in_nothing_out() -> None:
    assert intervals.union([], []).total == 0
    assert intervals.shares([], []).size == 0
    assert intervals.union_lengths([], [], [], 2).tolist() == [0, 0]
    assert intervals.innermost([], [], [3]).tolist() == [-1]
    assert intervals.overlap(intervals.union([], []), [1], [5]).tolist() == [0]
