"""Sorting by several keys, against NumPy's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.launch.membership_classes import counted, distinct, ordering

numbers = st.integers(-(1 << 62), 1 << 62) | st.integers(-3, 3)


@given(st.lists(st.tuples(numbers, st.integers(0, 2)), max_size=12))
def test_ordering_is_lexsort_with_the_first_key_first(rows: list[tuple[int, int]]) -> None:
    first, second = np.array(rows, np.int64).reshape(-1, 2).T
    assert ordering(first, second).tolist() == np.lexsort((second, first)).tolist()


@given(st.lists(st.integers(0, 9)))
def test_distinct_numbers_ascend(some: list[int]) -> None:
    assert distinct(np.array(some, np.int64)).tolist() == sorted(set(some))


@given(st.lists(st.integers(0, 5), max_size=8))
def test_counts_become_their_numbers_one_after_the_other(counts):
    assert counted(np.array(counts, np.int64)).tolist() == [k for count in counts for k in range(count)]
