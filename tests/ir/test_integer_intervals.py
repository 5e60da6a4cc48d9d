"""Bounds of integer arithmetic, against all numbers within the bounds of the operands."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.ir.integer_intervals import arithmetic

bounds = st.tuples(st.integers(-20, 20), st.integers(-20, 70)).map(lambda pair: (min(pair), max(pair)))
EXACTLY = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.shli": operator.lshift,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.divsi": lambda x, y: int(x / y),
    "arith.divui": operator.floordiv,
    "arith.remsi": lambda x, y: int(math.fmod(x, y)),
    "arith.remui": lambda x, y: (x % (1 << 32)) % y,
    "arith.andi": operator.and_,
    "arith.shrui": operator.rshift,
}


# Where nothing is said, and where no more than this: of single bits and remainders not every number is tried.
SILENT = {
    "arith.shli": lambda one, by: by[0] < 0 or by[1] >= 64,
    "arith.divsi": lambda one, by: by[0] <= 0,
    "arith.divui": lambda one, by: one[0] < 0 or by[0] <= 0,
    "arith.remsi": lambda one, by: by[0] <= 0,
    "arith.remui": lambda one, by: by[0] <= 0,
    "arith.andi": lambda one, other: one[0] < 0 and other[0] < 0,
    "arith.shrui": lambda one, by: one[0] < 0 or by[0] < 0,
}
WIDEST = {
    "arith.remsi": lambda one, by: (0 if one[0] >= 0 else 1 - by[1], by[1] - 1),
    "arith.remui": lambda one, by: (0, by[1] - 1),
    "arith.andi": lambda one, other: (0, min(high for low, high in (one, other) if low >= 0)),
    "arith.shrui": lambda one, by: (0, one[1]),
}


@pytest.mark.parametrize("name", EXACTLY)
@given(one=bounds, other=bounds)
@settings(deadline=None, max_examples=60)
def test_bounds_of_arithmetic_hold_for_all_numbers_within_those_of_the_operands(name, one, other) -> None:
    found = arithmetic(name, [one, other])
    assert (found is None) == SILENT.get(name, lambda one, by: False)(one, other)
    if found is None:
        return
    results = [EXACTLY[name](x, y) for x in range(one[0], one[1] + 1) for y in range(other[0], other[1] + 1)]
    assert found[0] <= min(results) and max(results) <= found[1]
    if name not in WIDEST:
        assert found == (min(results), max(results))
    elif "rem" in name and one[0] >= 0:
        assert found == (0, min(one[1], other[1] - 1))
    else:
        assert found == WIDEST[name](one, other)


@pytest.mark.parametrize(("least", "most"), [(0, 63), (0, 64), (-1, 3), (1, 2)])
def test_shifts_by_what_64_bits_have_not_are_not_followed(least: int, most: int) -> None:
    found = arithmetic("arith.shli", [(-3, 5), (least, most)])
    assert found == (None if least < 0 or most > 63 else (-3 << most, 5 << most))
