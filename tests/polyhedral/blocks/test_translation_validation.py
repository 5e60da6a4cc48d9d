"""Where a written kernel's numbers differ from the schedule's: what is rounding and what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from triton_lab.polyhedral.blocks.translation_validation import _difference

TYPES = (np.float32, np.float64)


@pytest.mark.parametrize("dtype", TYPES)
def test_what_is_rounding_is_no_difference(dtype: Any) -> None:
    eps = np.finfo(dtype).eps
    # A sum of terms of size 8 that cancel may be off by 256 eps of that.
    largest = dtype(256 * 8 * eps)
    expected = np.array([8, 0, 0, 0, 0], dtype=dtype)
    found = np.array([8, largest, -largest, 0, 0], dtype=dtype)
    assert _difference(found, expected) is None
    found[3] = np.nextafter(largest, dtype(1))
    assert _difference(found, expected) == (3,)


@pytest.mark.parametrize("dtype", TYPES)
def test_each_number_may_be_off_by_a_share_of_itself(dtype: Any) -> None:
    share = 4096 * np.finfo(dtype).eps * (1 + 1 / 16)
    expected = np.array([1, -1, 1, -1], dtype=dtype)
    assert _difference((expected * (1 + share * 0.999)).astype(dtype), expected) is None
    assert _difference((expected * (1 - share * 0.999)).astype(dtype), expected) is None
    assert _difference(np.array([1, -1, 1 + share * 1.001, -1], dtype=dtype), expected) == (2,)
    assert _difference(np.array([1, -1, 1, -1 - share * 1.001], dtype=dtype), expected) == (3,)


@pytest.mark.parametrize(
    ("found", "expected", "place"),
    [
        ([1.0, np.nan], [1.0, np.nan], None),
        ([1.0, np.nan], [1.0, 2.0], (1,)),
        ([1.0, 2.0], [np.nan, 2.0], (0,)),
        ([np.inf, -np.inf], [np.inf, -np.inf], None),
        ([np.inf, np.inf], [np.inf, -np.inf], (1,)),
        ([np.nan], [np.nan], None),
        ([], [], None),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.5, 4.5]], (1, 0)),
    ],
)
def test_what_is_not_finite_is_compared_as_it_is(found: Any, expected: Any, place: tuple[int, ...] | None) -> None:
    assert _difference(np.array(found), np.array(expected)) == place


def test_integers_are_equal_or_not() -> None:
    assert _difference(np.array([1, 2, 3]), np.array([1, 2, 3])) is None
    assert _difference(np.array([1, 2, 4]), np.array([1, 2, 3])) == (2,)
    assert _difference(np.array([True, False]), np.array([True, True])) == (1,)


def test_of_a_single_number_the_place_is_empty() -> None:
    assert _difference(np.array(1.0), np.array(1.0)) is None
    assert _difference(np.array(1.0), np.array(2.0)) == ()
    assert _difference(np.array(1), np.array(2)) == ()
