"""Sets of bytes, against Python's sets of integers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.launch.byte_ranges import _FAR, _MANY, NOTHING, Ranges, true_ranges

pairs = st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 9)).map(lambda p: (p[0], p[0] + p[1])), max_size=8)


def ranges(given: list[tuple[int, int]]) -> Ranges:
    return Ranges.of([start for start, _ in given], [stop for _, stop in given])


def members(given: list[tuple[int, int]]) -> set[int]:
    return {number for start, stop in given for number in range(start, stop)}


def bytes_of(found: Ranges) -> set[int]:
    return members(list(zip(found.start.tolist(), found.stop.tolist(), strict=True)))


@given(pairs)
def test_ranges_are_sorted_and_neither_overlap_nor_touch(given: list[tuple[int, int]]) -> None:
    found = ranges(given)
    assert bytes_of(found) == members(given)
    assert (found.start < found.stop).all()
    assert (found.stop[:-1] < found.start[1:]).all()
    assert found.size == len(members(given))


@given(pairs, pairs)
def test_union_intersection_and_difference_are_those_of_sets(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    assert bytes_of(ranges(a) | ranges(b)) == members(a) | members(b)
    assert bytes_of(ranges(a) & ranges(b)) == members(a) & members(b)
    assert bytes_of(ranges(a) - ranges(b)) == members(a) - members(b)


@given(pairs, st.integers(-2, 50), st.integers(0, 9))
def test_questions_about_bytes(given: list[tuple[int, int]], start: int, size: int) -> None:
    found = ranges(given)
    asked = np.arange(-3, 55)
    assert asked[found.covers(asked)].tolist() == sorted(members(given))
    assert found.meets(start, start + size) == bool(members(given) & set(range(start, start + size)))


@given(st.lists(st.booleans(), max_size=20))
def test_true_ranges_are_where_flags_are_true(flags: list[bool]) -> None:
    assert bytes_of(true_ranges(np.array(flags, bool), 100)) == {100 + k for k, flag in enumerate(flags) if flag}


def test_nothing_has_no_bytes() -> None:
    assert NOTHING.size == 0
    assert not NOTHING.meets(0, 100)
    assert Ranges.joined([]) is NOTHING


@given(st.lists(st.integers(0, 90), max_size=40), st.lists(st.integers(0, 90), max_size=40))
def test_a_table_of_bytes_answers_as_a_search_does(some: list[int], others: list[int]) -> None:
    # Far more ranges than a table needs: the same small pattern again and again.
    shifts = 100 * np.arange(_MANY)

    def many(pattern: list[int]) -> Ranges:
        starts = (np.array(pattern, np.int64)[:, None] + shifts).reshape(-1)
        return Ranges.of(starts, starts + 1)

    a, b = many(some), many(others)
    few = [ranges([(k, k + 1) for k in pattern]) for pattern in (some, others)]
    for found, expected in ((a - b, few[0] - few[1]), (a & b, few[0] & few[1])):
        last = found.start >= shifts[-1]
        assert found.size == _MANY * expected.size
        assert (found.start[last] - shifts[-1]).tolist()[-len(expected) :] == expected.start.tolist()[-last.sum() :]
    asked = np.arange(-5, 105)
    assert a.covers(asked)[5:-5].tolist() == few[0].covers(asked)[5:-5].tolist()
    assert not a.covers(np.array([-1, 100 * _MANY + 5])).any()


@given(pairs, pairs, st.integers(-2, 50))
def test_what_is_near_how_many_begin_and_how_short_they_are(
    a: list[tuple[int, int]], b: list[tuple[int, int]], address: int
) -> None:
    one, other = ranges(a), ranges(b)
    spans = list(zip(one.start.tolist(), one.stop.tolist(), strict=True))
    hull = (min(members(b)), max(members(b))) if members(b) else (0, -1)
    near = one.near(other)
    assert list(zip(near.start.tolist(), near.stop.tolist(), strict=True)) == [
        (start, stop) for start, stop in spans if start <= hull[1] and stop > hull[0]
    ]
    assert int(one.number(np.array([address]))[0]) == sum(start <= address for start, _ in spans)
    assert one.shortest == min([stop - start for start, stop in spans], default=_FAR)
    gaps = [after[0] - before[1] for before, after in pairwise(spans)]
    assert one.narrowest_gap == min(gaps, default=_FAR)
    assert len(one) == len(spans)
