"""Conversions have the interpreter's bits: all patterns of 8 and 16 bits, boundaries and random ones of the others."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from tests.interpreter.support import all_bits
from tests.interpreter.test_casts import around_boundaries
from tests.native.compiled import compiled
from triton_lab.interpreter import exact_arithmetic, number_conversion
from triton_lab.native.math import number_conversions

E4M3, E5M2, BF16 = (np.dtype(t) for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16))
F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))
ELEMENTS = {E4M3: "f8E4M3FN", E5M2: "f8E5M2", BF16: "bf16", F16: "f16", F32: "f32", F64: "f64"}
INTEGERS = [np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
NARROW = [E4M3, E5M2, BF16, F16]


def name_of(dtype):
    return dtype.name


def padded(x):
    """A length that vectors divide."""
    return np.concatenate([x, np.zeros(-x.size % 16, x.dtype)])


def patterns(dtype):
    """All of a narrow format; of the others, values around the boundaries of each narrower one, ends, random bits."""
    if dtype.itemsize <= 2:
        return all_bits(dtype)
    rng = np.random.default_rng(7)
    some = rng.integers(0, 256, (1 << 15, dtype.itemsize), np.uint8).view(dtype)[:, 0]
    near = [around_boundaries(dtype, target) for target in (*NARROW, F32) if target.itemsize < min(dtype.itemsize, 4)]
    single = rng.integers(0, 256, (1 << 13, 4), np.uint8).view(F32)[:, 0].astype(F64)
    if dtype == F64:
        near += [(single[:-1] + single[1:]) / 2, single, np.nextafter(single, 0), np.nextafter(single, np.inf)]
        near += [whole_boundaries().astype(F64)]
    middles = (np.arange(1, 100) / 4).astype(dtype)
    with np.errstate(all="ignore"):
        return padded(np.concatenate([some, *near, middles, -middles, whole_boundaries().astype(dtype)]))


def whole_boundaries():
    """Floats around the ends of the integers."""
    ends = np.array([s * 2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1)])
    ends = np.concatenate([ends, ends - 1, ends + 1, ends - 0.5, ends + 0.5])
    return np.concatenate(
        [ends, np.nextafter(ends, 0), np.nextafter(ends, ends * 2), [0.0, -0.0, np.nan, np.inf, -np.inf]]
    )


def same_bits(found, expected):
    """Equal but for the bits of NaN that no rule gives."""
    nan = np.isnan(expected.astype(F64)) if expected.dtype.kind not in "iub" else np.zeros(expected.shape, bool)
    bits = f"u{expected.dtype.itemsize}"
    differs = (found.view(bits) != expected.view(bits)) & ~(nan & np.isnan(found.astype(F64)))
    assert not differs.any(), (found[differs][:5], expected[differs][:5])


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


PAIRS = [(s, t) for s, t in itertools.product(ELEMENTS, ELEMENTS) if s != t]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=name_of)
@pytest.mark.parametrize("towards_zero", [False, True])
def test_floats_become_other_floats(source, target, towards_zero):
    def build(code, x):
        return number_conversions.float_to_float(code, x, ELEMENTS[source], ELEMENTS[target], towards_zero)

    x = patterns(source)
    found, expected = compiled(build, [source], target)(x), number_conversion.float_to_float(x, target, towards_zero)
    same_bits(found, expected)
    one_nan = target in NARROW and target.itemsize < source.itemsize
    if one_nan:
        bits = f"u{target.itemsize}"
        assert (found.view(bits) == expected.view(bits)).all()


@pytest.mark.parametrize("element", NARROW, ids=name_of)
def test_narrow_floats_become_wide_and_come_back(element):
    name = ELEMENTS[element]
    x = all_bits(element)
    wide = compiled(lambda code, x: number_conversions.widen(code, x, name), [element], F32)(x)
    same_bits(wide, x.astype(F32))
    same_bits(compiled(lambda code, x: number_conversions.narrow(code, x, name), [F32], element)(wide), x)
    some = patterns(F32)
    same_bits(
        compiled(lambda code, x: number_conversions.narrow(code, x, name), [F32], element)(some), some.astype(element)
    )


@pytest.mark.parametrize("source", ELEMENTS, ids=name_of)
@pytest.mark.parametrize("target", [*INTEGERS, np.dtype(bool)], ids=name_of)
def test_floats_become_integers(source, target):
    kind = "i1" if target.kind == "b" else f"i{8 * target.itemsize}"

    def build(code, x):
        return number_conversions.float_to_integer(code, x, ELEMENTS[source], kind, target.kind == "i")

    x = patterns(source)
    same_bits(compiled(build, [source], target)(x), number_conversion.float_to_integer(x, target))


def whole_patterns(dtype):
    """Integers: all, or around every rounding boundary of the narrow floats, and random ones of every size."""
    if dtype.itemsize <= 2:
        return padded(np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype))
    rng = np.random.default_rng(3)
    bits = 8 * dtype.itemsize
    some = rng.integers(0, 256, (1 << 14, dtype.itemsize), np.uint8).view(dtype)[:, 0]
    some = some >> rng.integers(0, bits - 1, some.size).astype(dtype)
    # One bit set, some digits after it, and a one far below: what a second rounding gets wrong.
    top = np.array([1 << k for k in range(bits - 1)], np.uint64)[:, None]
    digits = np.array([(256 + k) / 256 for k in range(0, 256, 3)] + [1 + 1 / 2048, 1 + 3 / 2048, 1 + 2.0**-24])
    near = (top * digits).astype(np.uint64).ravel()
    near = np.concatenate([near, near + 1, near - 1])
    return padded(np.concatenate([some, near.astype(dtype), (-near.astype(np.int64)).astype(dtype)]))


@pytest.mark.parametrize("source", INTEGERS, ids=name_of)
@pytest.mark.parametrize("target", ELEMENTS, ids=name_of)
def test_integers_become_floats(source, target):
    def build(code, x):
        return number_conversions.integer_to_float(code, x, ELEMENTS[target], source.kind == "i")

    x = whole_patterns(source)
    same_bits(compiled(build, [source], target)(x), number_conversion.integer_to_float(x, target))


def test_fp8_with_a_bias_of_fifteen():
    x = all_bits(np.dtype(np.int8))
    same_bits(compiled(number_conversions.e4m3b15_to_half, [np.int8], F16)(x), number_conversion.e4m3b15_to_half(x))
    half = all_bits(F16)
    same_bits(
        compiled(number_conversions.half_to_e4m3b15, [F16], np.int8)(half), number_conversion.half_to_e4m3b15(half)
    )


@pytest.mark.parametrize("dtype", [F16, BF16], ids=name_of)
def test_a_fused_product_of_narrow_floats_is_rounded_once(dtype):
    name = ELEMENTS[dtype]
    rng = np.random.default_rng(5)
    a, b, c = (rng.permutation(all_bits(dtype)) for _ in range(3))
    # Sums that all but cancel, and products near the middle of two numbers with a small third.
    c[::4] = -(a[::4].astype(F64) * b[::4].astype(F64)).astype(dtype)
    c[1::4] = (rng.standard_normal(c[1::4].size) * 1e-6).astype(dtype)
    found = compiled(lambda code, *x: number_conversions.narrow_fma(code, *x, name), [dtype] * 3, dtype)(a, b, c)
    same_bits(found, number_conversion.float_to_float(exact_arithmetic.multiply_add(a, b, c), dtype))
