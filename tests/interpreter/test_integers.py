"""Integer arithmetic wraps, shifts and divides as machine integers do."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.support import all_bits, evaluate, pairs, same

SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]


def wrap(value: int, dtype: type) -> int:
    """``value`` as the machine integer keeps it."""
    bits = 8 * np.dtype(dtype).itemsize
    value %= 1 << bits
    return value - (1 << bits) if np.dtype(dtype).kind == "i" and value >> (bits - 1) else value


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "a + b": operator.add,
    "a - b": operator.sub,
    "a * b": operator.mul,
    "a & b": operator.and_,
    "a | b": operator.or_,
    "a ^ b": operator.xor,
    "tl.minimum(a, b)": min,
    "tl.maximum(a, b)": max,
}
DIVISION = {"a // b": truncated, "a % b": lambda a, b: a - truncated(a, b) * b}
COMPARISONS = {
    "a == b": operator.eq,
    "a != b": operator.ne,
    "a < b": operator.lt,
    "a <= b": operator.le,
    "a > b": operator.gt,
    "a >= b": operator.ge,
}


@pytest.mark.parametrize("expression", ARITHMETIC)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_all_pairs_of_bytes(expression, dtype):
    a, b = pairs(all_bits(dtype))
    expected = [wrap(ARITHMETIC[expression](int(x), int(y)), dtype) for x, y in zip(a, b, strict=True)]
    same(evaluate(expression, a, b, out=dtype, block=4096), np.array(expected, dtype))


@pytest.mark.parametrize("expression", DIVISION)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_division_truncates_and_the_remainder_has_the_sign_of_the_dividend(expression, dtype):
    a, b = pairs(all_bits(dtype))
    a, b = a[b != 0], b[b != 0]
    expected = [wrap(DIVISION[expression](int(x), int(y)), dtype) for x, y in zip(a, b, strict=True)]
    same(evaluate(expression, a, b, out=dtype, block=4096), np.array(expected, dtype))


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_wide_integers_wrap(dtype):
    limits = np.iinfo(dtype)
    values = [limits.min, limits.min + 1, 0, 1, 2, 3, 7, 100, limits.max - 1, limits.max, limits.max // 3]
    values += [-1, -2, -100] if limits.min < 0 else []
    a, b = pairs(np.array(values, dtype))
    for expression, function in (ARITHMETIC | COMPARISONS).items():
        out = np.bool_ if expression in COMPARISONS else dtype
        expected = [function(int(x), int(y)) for x, y in zip(a, b, strict=True)]
        if out is not np.bool_:
            expected = [wrap(value, dtype) for value in expected]
        same(evaluate(expression, a, b, out=out), np.array(expected, out))
    a, b = a[b != 0], b[b != 0]
    for expression, function in DIVISION.items():
        expected = [wrap(function(int(x), int(y)), dtype) for x, y in zip(a, b, strict=True)]
        same(evaluate(expression, a, b, out=dtype), np.array(expected, dtype))


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_right_shifts_keep_the_sign_of_signed_integers_alone(dtype):
    bits = 8 * np.dtype(dtype).itemsize
    values = np.array([wrap(v, dtype) for v in (0, 1, 5, 0x7F, 0x80, -1, -5, 1 << (bits - 1), (1 << bits) - 1)], dtype)
    a, b = (x.reshape(-1) for x in np.meshgrid(values, np.arange(bits).astype(dtype), indexing="ij"))
    left = [wrap(int(x) << int(y), dtype) for x, y in zip(a, b, strict=True)]
    right = [int(x) >> int(y) for x, y in zip(a, b, strict=True)]
    same(evaluate("a << b", a, b, out=dtype), np.array(left, dtype))
    same(evaluate("a >> b", a, b, out=dtype), np.array(right, dtype))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.uint32])
def test_shifts_beyond_the_width_leave_nothing_but_the_sign(dtype):
    bits = 8 * np.dtype(dtype).itemsize
    a = np.array([1, 5, wrap(-1, dtype), wrap(-5, dtype)] * 2, dtype)
    b = np.repeat(np.array([bits, bits + 3], dtype), 4)
    same(evaluate("a << b", a, b, out=dtype), np.zeros(8, dtype))
    same(evaluate("a >> b", a, b, out=dtype), np.where(a < 0, -1, 0).astype(dtype))


@pytest.mark.parametrize("dtype", SIGNED)
def test_negation_inversion_and_magnitude(dtype):
    limits = np.iinfo(dtype)
    a = np.array([limits.min, limits.min + 1, -1, 0, 1, 77, limits.max], dtype)
    same(evaluate("-a", a, out=dtype), np.array([wrap(-int(x), dtype) for x in a], dtype))
    same(evaluate("~a", a, out=dtype), ~a)
    same(evaluate("tl.abs(a)", a, out=dtype), np.array([wrap(abs(int(x)), dtype) for x in a], dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_umulhi_is_the_upper_half_of_the_unsigned_product(dtype, data):
    bits = 8 * np.dtype(dtype).itemsize
    words = st.lists(st.integers(0, (1 << bits) - 1), min_size=8, max_size=8)
    a, b = data.draw(words), data.draw(words)
    expected = [wrap((x * y) >> bits, dtype) for x, y in zip(a, b, strict=True)]
    left, right = (np.array([wrap(v, dtype) for v in values], dtype) for values in (a, b))
    same(evaluate("tl.umulhi(a, b)", left, right, out=dtype), np.array(expected, dtype))


def test_booleans_follow_the_logic_of_one_bit():
    a, b = pairs(np.array([False, True]))
    for expression, expected in {
        "a & b": a & b,
        "a | b": a | b,
        "a ^ b": a ^ b,
        "a == b": a == b,
        "a != b": a != b,
        "not a": ~a,
    }.items():
        same(evaluate(expression, a, b, out=np.bool_), expected)
    # Sums of booleans keep one bit.
    same(evaluate("a + b", a, b, out=np.bool_), a ^ b)
    same(evaluate("a.to(tl.int32) + b", a, b, out=np.int32), a.astype(np.int32) + b)


@pytest.mark.parametrize("expression", ["a // 3", "a % 3", "a // 4", "a % 4", "a // -3", "a % -3", "tl.cdiv(a, 7)"])
def test_constant_divisors(expression):
    a = np.array([-(2**31), -100, -7, -3, -1, 0, 1, 2, 3, 4, 7, 100, 2**31 - 1], np.int32)
    functions = {
        "//": lambda x, y: truncated(x, y),
        "%": lambda x, y: x - truncated(x, y) * y,
    }
    if "cdiv" in expression:
        expected = [truncated(wrap(int(x) + 6, np.int32), 7) for x in a]
    else:
        _, sign, divisor = expression.split()
        expected = [functions[sign](int(x), int(divisor)) for x in a]
    same(evaluate(expression, a, out=np.int32), np.array(expected, np.int32))


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_a_division_by_zero_gives_zero_and_leaves_its_neighbours_alone(dtype):
    """No error and no warning: a GPU has none, and lanes that are masked off often divide by zero."""
    a = np.array([7, 7, 0, 100, 1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    b = np.array([0, 2, 0, 7, 0, 0, 3], dtype)
    for expression, function in DIVISION.items():
        wanted = [function(int(x), int(y)) if y else 0 for x, y in zip(a, b, strict=True)]
        same(evaluate(expression, a, b, out=dtype), np.array(wanted, dtype))
