"""Float arithmetic rounds once, whatever the width."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.support import all_bits, bf16, evaluate, pairs, same

NARROW = [np.dtype(np.float16), bf16]
WIDE = [np.dtype(np.float32), np.dtype(np.float64)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-40, -1e-8, 65504.0, 1e38, np.inf, -np.inf, np.nan]


def patterns(dtype, count=4096, seed=0):
    """Random bit patterns: all exponents alike, subnormals, infinities and NaN among them."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 1 << (8 * dtype.itemsize), count, dtype=f"u{dtype.itemsize}").view(dtype)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_sixteen_bit_results_are_the_exact_ones_rounded(dtype, symbol):
    a, b = patterns(dtype, seed=1), patterns(dtype, seed=2)
    # Close numbers cancel, which random ones never do.
    b[::4] = (a[::4].view(np.uint16) + np.arange(1024, dtype=np.uint16) % 5).view(dtype)
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        # A sum or product of 16-bit floats rounds the same from float64 as from the exact value,
        # unless the sum spans over 53 bits; then float32 and float64 agree all the same.
        exact = {"+": x + y, "-": x - y, "*": x * y}[symbol]
        expected = exact.astype(np.float32).astype(dtype) if dtype == bf16 else exact.astype(dtype)
    same(evaluate(f"a {symbol} b", a, b, out=dtype), expected)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_wide_results_are_ieee(dtype, symbol):
    a, b = patterns(dtype, seed=3), patterns(dtype, seed=4)
    with np.errstate(all="ignore"):
        expected = {"+": a + b, "-": a - b, "*": a * b, "/": a / b}[symbol]
    same(evaluate(f"a {symbol} b", a, b, out=dtype), expected)


@pytest.mark.parametrize("dtype", NARROW + WIDE)
def test_remainder_is_exact_and_has_the_sign_of_the_dividend(dtype):
    a, b = patterns(dtype, seed=5), patterns(dtype, seed=6)
    with np.errstate(all="ignore"):
        wide = np.float32 if dtype.itemsize < 4 else dtype
        expected = np.fmod(a.astype(wide), b.astype(wide))
    same(evaluate("a % b", a, b, out=wide), expected)


@pytest.mark.parametrize("dtype", NARROW + WIDE)
def test_negation_and_magnitude_touch_the_sign_alone(dtype):
    a = patterns(dtype, seed=7)
    with np.errstate(all="ignore"):
        same(evaluate("-a", a, out=dtype), -a)
        same(evaluate("tl.abs(a)", a, out=dtype), np.abs(a))


@pytest.mark.parametrize("dtype", NARROW + WIDE)
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_nan_yields_to_numbers_unless_it_is_to_propagate(dtype, name):
    numbers = np.array(SPECIAL).astype(dtype)
    a, b = pairs(numbers[numbers != 0])
    x, y = a.astype(np.float64), b.astype(np.float64)
    yielding = {"minimum": np.fmin, "maximum": np.fmax}[name](x, y)
    keeping = {"minimum": np.minimum, "maximum": np.maximum}[name](x, y)
    same(evaluate(f"tl.{name}(a, b)", a, b, out=dtype), yielding.astype(dtype))
    text = f"tl.{name}(a, b, propagate_nan=tl.PropagateNan.ALL)"
    same(evaluate(text, a, b, out=dtype), keeping.astype(dtype))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("count", [1, 3, 17])
def test_a_signalling_nan_yields_to_a_number_wherever_in_an_array_it_is(name, count):
    """NumPy leaves the ends of arrays to C's library, which makes a quiet NaN of it."""
    signalling = np.full(count, 0x7F800001, np.uint32).view(np.float32)
    number = np.full(count, -2.0, np.float32)
    same(evaluate(f"tl.{name}(a, b)", signalling, number, out=np.float32, block=1), number)
    same(evaluate(f"tl.{name}(a, b)", number, signalling, out=np.float32, block=1), number)


@pytest.mark.parametrize("dtype", NARROW + WIDE)
@pytest.mark.parametrize("length", [1, 3, 64, 77])
def test_negative_zero_lies_below_zero_wherever_it_stands(dtype, length):
    a = np.tile(np.array([0.0, -0.0, -0.0, 0.0]), length).astype(dtype)
    b = np.tile(np.array([-0.0, 0.0, -0.0, 0.0]), length).astype(dtype)
    for nan in ("NONE", "ALL"):
        most = evaluate(f"tl.maximum(a, b, propagate_nan=tl.PropagateNan.{nan})", a, b, out=dtype)
        least = evaluate(f"tl.minimum(a, b, propagate_nan=tl.PropagateNan.{nan})", a, b, out=dtype)
        assert (np.signbit(most) == np.tile([False, False, True, False], length)).all()
        assert (np.signbit(least) == np.tile([True, True, True, False], length)).all()


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), *WIDE])
def test_clamp(dtype):
    a = np.array(SPECIAL).astype(dtype)
    low, high = np.full(len(a), -2, dtype), np.full(len(a), 3, dtype)
    expected = np.fmin(np.fmax(a, low), high)
    same(evaluate("tl.clamp(a, b, c)", a, low, high, out=dtype), expected)
    keeping = np.minimum(np.maximum(a, low), high)
    same(evaluate("tl.clamp(a, b, c, propagate_nan=tl.PropagateNan.ALL)", a, low, high, out=dtype), keeping)


@pytest.mark.parametrize("dtype", NARROW + WIDE)
def test_comparisons_with_nan_are_false_but_for_inequality(dtype):
    a, b = pairs(np.array(SPECIAL).astype(dtype))
    for symbol, function in {
        "==": np.equal,
        "!=": np.not_equal,
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
    }.items():
        expected = function(a.astype(np.float64), b.astype(np.float64))
        same(evaluate(f"a {symbol} b", a, b, out=np.bool_), expected)


@pytest.mark.parametrize("dtype", NARROW)
def test_where_moves_every_pattern_untouched(dtype):
    a = all_bits(dtype)
    b = a[::-1].copy()
    expected = np.where(a.view(np.uint16) % 3 == 0, a.view(np.uint16), b.view(np.uint16)).view(dtype)
    result = evaluate("tl.where(a.to(tl.uint16, bitcast=True) % 3 == 0, a, b)", a, b, out=dtype)
    assert (result.view(np.uint16) == expected.view(np.uint16)).all()


def test_a_python_scalar_takes_the_type_of_the_block():
    a = np.array([1.0, 2.0, 3.0], np.float16)
    same(
        evaluate("a * 0.1", a, out=np.float16), (a.astype(np.float32) * np.float32(np.float16(0.1))).astype(np.float16)
    )
    b = np.array([1, 2, 3], np.int32)
    same(evaluate("a * 0.5", b, out=np.float32), b.astype(np.float32) * np.float32(0.5))
