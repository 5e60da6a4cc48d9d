"""The tolerance that follows from dtype and length of a sum, against sums in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.testing import NotClose, assert_close

NUMBERS = st.floats(-1e3, 1e3, width=32)


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_sums_in_any_order_are_close_and_the_bound_is_that_of_higham(numbers: list[float], random) -> None:
    terms = np.array(numbers, np.float32)
    shuffled = terms.copy()
    random.shuffle(shuffled)
    one, other = (np.add.accumulate(each, dtype=np.float32)[-1:] for each in (terms, shuffled))
    exact = np.array([float(sum(map(Fraction, map(float, terms))))], np.float64)
    size = np.abs(terms.astype(np.float64)).sum()
    assert_close(one, other, terms=len(terms), magnitude=size)
    assert_close(one, exact, terms=len(terms), magnitude=size)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_one_ulp_is_close_and_two_are_not(dtype: torch.dtype) -> None:
    expected = torch.tensor([1.0, -3.0, 1e-3], dtype=dtype)
    up = torch.nextafter(expected, torch.full_like(expected, 1e4))
    assert_close(up, expected)
    with pytest.raises(NotClose, match=r"3 of 3 elements.*2 ulp"):
        assert_close(torch.nextafter(up, torch.full_like(expected, 1e4)), expected)
    assert_close(torch.nextafter(up, torch.full_like(expected, 1e4)), expected, ulps=2)


def test_narrow_floats_are_summed_in_float32_unless_told() -> None:
    a, b = torch.tensor([1.0], dtype=torch.float16), torch.tensor([1.01], dtype=torch.float16)
    with pytest.raises(NotClose):
        assert_close(a, b, terms=100)
    assert_close(a, b, terms=100, accumulate=torch.float16)


def test_special_values_integers_and_shapes() -> None:
    strange = torch.tensor([float("nan"), float("inf"), -0.0])
    assert_close(strange, torch.tensor([float("nan"), float("inf"), 0.0]))
    assert_close((torch.ones(2), torch.tensor([2**62])), (torch.ones(2), torch.tensor([2**62])))
    for got, expected in [
        (torch.tensor([float("inf")]), torch.tensor([1.0])),
        (torch.tensor([float("nan")]), torch.tensor([1.0])),
        (torch.tensor([2**62]), torch.tensor([2**62 + 1])),
        (torch.ones(2), torch.ones(3)),
        (torch.ones(2), torch.ones(2, dtype=torch.int32)),
        ((torch.ones(2),), (torch.ones(2), torch.ones(2))),
    ]:
        with pytest.raises(NotClose):
            assert_close(got, expected, terms=1000)


def test_the_message_names_the_first_elements_and_what_was_allowed(wording: Wording) -> None:
    with pytest.raises(NotClose) as raised:
        assert_close(torch.arange(5.0), torch.arange(5.0) + 1, name="out")
    said = str(raised.value).splitlines()
    wording(said[0], name="out", differ="5 of 5 elements")
    wording(said[1], element="out[0]", got="0.0", expected="1.0", within="1.19e-07")
    assert said[-1] == "  and 2 more"


def test_a_sum_that_has_no_digit_left_is_refused() -> None:
    with pytest.raises(ValueError, match="no correct digit"):
        assert_close(torch.ones(1), torch.ones(1), terms=10**8)
    with pytest.raises(ValueError, match="at least one"):
        assert_close(torch.ones(1), torch.ones(1), terms=0)


def test_a_wider_reference_is_taken_in_the_units_of_the_result() -> None:
    third = np.array([1 / 3])
    lab.testing.assert_close(third.astype(ml_dtypes.bfloat16), third)
    with pytest.raises(NotClose):
        lab.testing.assert_close(third.astype(ml_dtypes.bfloat16).astype(np.float32), third)
