"""Conversions: every pattern of 8 and 16 bits, and the neighbourhood of every rounding boundary."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.support import all_bits, bf16, e4m3, e5m2, evaluate, same
from tests.interpreter.test_floats import patterns
from triton_lab.interpreter import number_conversion

F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))
TL = {
    F16: "tl.float16",
    bf16: "tl.bfloat16",
    F32: "tl.float32",
    F64: "tl.float64",
    e4m3: "tl.float8e4nv",
    e5m2: "tl.float8e5",
    **{
        np.dtype(name): f"tl.{name}"
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    },
}
FLOATS = [e4m3, e5m2, bf16, F16, F32, F64]
GREATEST = {e4m3: 448.0, e5m2: 57344.0, F16: 65504.0}
INTEGERS = [np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


def cast(x, target, mode=None):
    rounding = f', fp_downcast_rounding="{mode}"' if mode else ""
    return evaluate(f"a.to({TL[target]}{rounding})", x, out=target, block=4096)


def nearest(x, target):
    """The closest value of the format, found in a table of all of them; ties to the even pattern."""
    table = all_bits(target)[: 1 << (8 * target.itemsize - 1)]
    finite = table[np.isfinite(table.astype(F64))]
    values = finite.astype(F64)
    size = np.abs(x.astype(F64))
    step = values[-1] - values[-2]
    # Half a step beyond the last value, infinity begins; fp8 stays at its greatest value instead.
    over = size >= values[-1] + step / 2
    upper = np.clip(np.searchsorted(values, np.where(np.isnan(size), 0, size)), 1, len(values) - 1)
    lower = upper - 1
    to_upper, to_lower = values[upper] - size, size - values[lower]
    even = finite.view(f"u{target.itemsize}")[upper] % 2 == 0
    pick = np.where((to_upper < to_lower) | ((to_upper == to_lower) & even), upper, lower)
    result = values[pick]
    saturates = target.itemsize == 1
    result = np.where(over, values[-1] if saturates else np.inf, result)
    result = np.where(np.isnan(size), np.nan, np.copysign(result, x.astype(F64)))
    return result.astype(target)


def around_boundaries(source, target):
    """Every value of ``target`` and every midpoint between two, with both neighbours, in ``source``."""
    values = all_bits(target)[: 1 << (8 * target.itemsize - 1)].astype(F64)
    values = values[np.isfinite(values)]
    middles = (values[1:] + values[:-1]) / 2
    beyond = values[-1] + (values[-1] - values[-2]) * np.array([0.25, 0.5, 0.75, 1.0, 4.0])
    points = np.concatenate([values, middles, beyond]).astype(source)
    points = np.concatenate([points, np.nextafter(points, source.type(0)), np.nextafter(points, source.type(np.inf))])
    points = np.concatenate([points, [np.inf, np.nan]]).astype(source)
    return np.concatenate([points, -points])


@pytest.mark.parametrize(
    ("source", "target"),
    [(F16, F32), (bf16, F32), (F16, F64), (bf16, F64)] + [(s, t) for s in (e4m3, e5m2) for t in (F16, bf16, F32)],
)
def test_widening_is_exact(source, target):
    x = all_bits(source)
    if (source, target) == (e5m2, bf16):
        x = x[np.isfinite(x.astype(F64))]
    same(cast(x, target), x.astype(F64).astype(target))


def test_e5m2_has_no_infinity_and_no_nan_when_it_becomes_bfloat16():
    """Triton's conversion for sm_90 moves bits; products of what it makes an H100 gave (see test_dot)."""
    strange = np.array([0x7C, 0x7D, 0x7E, 0x7F], np.uint8)
    numbers = np.array([65536, 81920, 98304, 114688], bf16)
    same(cast(strange.view(e5m2), bf16), numbers)
    same(cast((strange | 0x80).view(e5m2), bf16), -numbers)


@pytest.mark.parametrize("source", [F16, bf16])
@pytest.mark.parametrize("target", [e4m3, e5m2])
def test_every_sixteen_bit_float_to_fp8(source, target):
    x = all_bits(source)
    same(cast(x, target), nearest(x, target))


@pytest.mark.parametrize("target", [e4m3, e5m2, F16, bf16])
def test_float32_rounds_to_nearest_even_at_every_boundary(target):
    x = around_boundaries(F32, target)
    same(cast(x, target), nearest(x, target))


@pytest.mark.parametrize("target", [F16, bf16])
def test_float64_rounds_once(target):
    x = around_boundaries(F64, target)
    same(cast(x, target), nearest(x, target))


def test_float16_and_bfloat16_to_each_other():
    x = all_bits(bf16)
    with np.errstate(over="ignore"):
        same(cast(x, F16), x.astype(F32).astype(F16))
        y = all_bits(F16)
        same(cast(y, bf16), y.astype(F32).astype(bf16))


@pytest.mark.parametrize("target", [e4m3, e5m2])
def test_fp8_saturates_and_its_nan_is_all_ones(target):
    x = np.array([1e9, -1e9, np.inf, -np.inf, np.nan, GREATEST[target] * 1.0001], np.float32)
    top = GREATEST[target]
    assert cast(x, target).astype(F32).tolist()[:4] == [top, -top, top, -top]
    assert cast(x, target).view(np.uint8)[4] == 0x7F
    assert cast(x, target).astype(F32)[5] == top


@pytest.mark.parametrize("target", [F16, bf16, e5m2])
def test_rounding_towards_zero_never_grows(target):
    x = around_boundaries(F32, target)
    result = cast(x, target, "rtz").astype(F64)
    finite = np.isfinite(x)
    assert (np.abs(result[finite]) <= np.abs(x[finite].astype(F64))).all()
    # And there is no value in between.
    table = all_bits(target)[: 1 << (8 * target.itemsize - 1)].astype(F64)
    table = table[np.isfinite(table)]
    expected = table[np.searchsorted(table, np.abs(x[finite].astype(F64)), side="right") - 1]
    assert (np.abs(result[finite]) == expected).all()
    assert np.isinf(result[np.isinf(x)]).all() and np.isnan(result[np.isnan(x)]).all()


@pytest.mark.parametrize("source", [F16, bf16, F32, F64])
@pytest.mark.parametrize("target", INTEGERS)
def test_float_to_integer_truncates_and_saturates(source, target):
    x = all_bits(source) if source.itemsize == 2 else np.concatenate([patterns(source), _near_limits(source)])
    # Eight bits are the lower half of sixteen.
    middle = target if target.itemsize > 1 else np.dtype(f"{target.kind}2")
    limits = np.iinfo(middle)
    top_bit = 1 << (8 * middle.itemsize - 1)
    nan = (-top_bit if middle.kind == "i" else top_bit) if source == F64 or middle.itemsize == 8 else 0
    whole = [nan if np.isnan(v) else _clamp(v, limits) for v in x.astype(F64).tolist()]
    same(cast(x, target), np.array(whole, middle).astype(target))


def _clamp(value, limits):
    if np.isinf(value):
        return limits.max if value > 0 else limits.min
    return min(max(int(value), limits.min), limits.max)


def _near_limits(source):
    values = [
        s * (2.0**k + d) for k in (7, 8, 15, 16, 31, 32, 53, 63, 64) for d in (-1, -0.5, 0, 0.5, 1) for s in (1, -1)
    ]
    return np.array(values).astype(source)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", [F16, bf16, F32, F64])
def test_integer_to_float_rounds_once(source, target):
    if source.itemsize <= 2:
        x = all_bits(source)
    else:
        rng = np.random.default_rng(0)
        sizes = rng.integers(0, 8 * source.itemsize, 4096)
        x = rng.integers(0, 1 << 63, 4096, dtype=np.uint64) >> (63 - sizes).astype(np.uint64)
        # Halfway cases, and just beside them.
        ties = [
            (1 << k) + (1 << (k - p)) + d
            for k in range(25, 62, 3)
            for p in (8, 11, 24, 53)
            if k > p
            for d in (-1, 0, 1)
        ]
        x = np.concatenate([x, np.array(ties, np.uint64), np.array([2**63 - 1, 2**64 - 1], np.uint64)]).astype(source)
    same(cast(x, target), np.array([_rounded(int(v), target) for v in x], F64).astype(target))


def _rounded(value, target):
    """``value`` rounded to the digits of ``target`` in whole numbers alone."""
    digits = {F16: 11, bf16: 8, F32: 24, F64: 53}[target]
    size = abs(value)
    drop = max(0, size.bit_length() - digits)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = (1 << drop) >> 1
    kept += rest > half or (drop > 0 and rest == half and kept % 2 == 1)
    result = float(kept << drop)
    if target == F16 and result > 65504.0:
        result = np.inf
    return -result if value < 0 else result


@pytest.mark.parametrize("source", INTEGERS)
def test_integers_extend_by_their_sign_and_wrap(source):
    x = np.array([0, 1, 2, 100, np.iinfo(source).max, np.iinfo(source).min, np.iinfo(source).max // 3], source)
    for target in INTEGERS:
        same(cast(x, target), x.astype(target))


def test_booleans_count_as_zero_and_one():
    x = np.array([False, True])
    for target in [np.dtype(np.int32), np.dtype(np.int8), F16, bf16, F32, F64]:
        same(cast(x, target), x.astype(target))
    y = np.array([0.0, -0.0, 0.5, np.nan, -3.0], np.float32)
    same(evaluate("a.to(tl.int1)", y, out=np.bool_), y != 0)


@pytest.mark.parametrize(("source", "target"), [(F32, np.dtype(np.int32)), (bf16, np.dtype(np.int16)), (F16, bf16)])
def test_bitcasts_keep_every_bit(source, target):
    x = patterns(source)
    result = evaluate(f"a.to({TL[target]}, bitcast=True)", x, out=target)
    assert (result.view(f"u{target.itemsize}") == x.view(f"u{source.itemsize}")).all()


def test_e4m3b15_has_a_bias_of_fifteen_and_no_nan():
    x = all_bits(np.uint8)
    result = evaluate("a.to(tl.float8e4b15, bitcast=True).to(tl.float32)", x, out=F32)
    magnitude = x & 0x7F
    exponent, fraction = (magnitude >> 3).astype(int), (magnitude & 7) / 8
    expected = np.where(exponent == 0, fraction * 2.0**-14, (1 + fraction) * 2.0 ** (exponent - 15))
    same(result, np.where(x >= 0x80, -expected, expected).astype(F32))


def test_e4m3b15_rounds_ties_away_and_saturates_below_two():
    x = all_bits(F16)
    result = evaluate("a.to(tl.float8e4b15).to(tl.uint8, bitcast=True)", x, out=np.uint8)
    assert (result >> 7 == (x.view(np.uint16) >> 15)).all()
    table = np.where(np.arange(127) < 8, np.arange(127) / 8 * 2.0**-14, 0)
    numbers = np.arange(127)
    table = np.where(numbers < 8, table, (1 + numbers % 8 / 8) * 2.0 ** (numbers // 8 - 15))
    size = np.abs(x.astype(F64))
    size = np.where(np.isnan(size), 9.0, size)
    upper = np.clip(np.searchsorted(table, size), 1, 126)
    expected = np.where(table[upper] - size <= size - table[upper - 1], upper, upper - 1)
    assert ((result & 0x7F) == expected).all()


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_arrays_of_every_float_become_arrays_of_every_other(source, target):
    """Whole numbers that all of them hold."""
    x = np.array([0, 1, -2, 3, 14, -0.5, 0.375], source)
    found = number_conversion.float_to_float(x, target)
    assert found.dtype == target and found.tolist() == x.astype(F64).tolist()
    cut = number_conversion.float_to_float(x, target, towards_zero=True)
    assert cut.dtype == target and cut.tolist() == x.astype(F64).tolist()
