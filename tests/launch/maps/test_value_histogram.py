"""Bins against counting by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.launch.maps.value_histogram import BINS, histogram


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32)))
def test_every_value_is_in_one_place(values: list[float]) -> None:
    array = np.array(values, dtype=np.float64)
    found = histogram(array)
    assert found.finite == np.isfinite(array).sum() and found.nan == np.isnan(array).sum()
    assert found.finite + found.nan + found.plus_infinity + found.minus_infinity == len(values)


def test_few_whole_numbers_get_a_bin_each() -> None:
    eight = np.arange(-4, 4)
    assert histogram(eight.astype(np.float32)).counts.tolist() == histogram(eight).counts.tolist() == [1] * 8
    assert len(histogram(eight + 0.5).counts) == len(histogram(eight * 9.0).counts) == BINS
    found = histogram(np.array([3, 3, 5, 4, 3]))
    assert found.counts.tolist() == [3, 1, 1] and (found.low, found.high) == (3, 5)
    assert histogram(np.array([True, False, True])).counts.tolist() == [1, 2]


def test_even_bins_over_the_range() -> None:
    found = histogram(np.linspace(0, 1, 3200))
    assert len(found.counts) == BINS and found.counts.min() >= 99
    assert histogram(np.array([2.5, 2.5])).counts.tolist() == [2]
    assert histogram(np.zeros(0)).finite == 0
