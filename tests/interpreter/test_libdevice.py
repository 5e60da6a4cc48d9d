"""CUDA's math library, function by function."""

from __future__ import annotations

import functools
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
import triton

import triton_lab as lab
from tests.interpreter.support import evaluate, same
from tests.interpreter.test_floats import patterns
from tests.interpreter.test_math import distance
from triton_lab.interpreter.libdevice import FUNCTIONS

F32, F64, I32, I64 = (np.dtype(t) for t in (np.float32, np.float64, np.int32, np.int64))
U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)
rng = functools.partial(np.random.default_rng, 0)


def test_every_function_of_tritons_libdevice_is_known():
    source = Path(triton.__file__).parent / "language" / "extra" / "cuda" / "libdevice.py"
    symbols = set(re.findall(r'"(__nv_\w+)"', source.read_text()))
    assert len(symbols) > 300
    assert not symbols - set(FUNCTIONS)


TORCH = {
    "acos": torch.acos,
    "acosh": torch.acosh,
    "asin": torch.asin,
    "asinh": torch.asinh,
    "atan": torch.atan,
    "atanh": torch.atanh,
    "cos": torch.cos,
    "cosh": torch.cosh,
    "cyl_bessel_i0": torch.special.i0,
    "cyl_bessel_i1": torch.special.i1,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "erfcx": torch.special.erfcx,
    "erfinv": torch.erfinv,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "exp10": lambda x: 10**x,
    "expm1": torch.expm1,
    "j0": torch.special.bessel_j0,
    "j1": torch.special.bessel_j1,
    "lgamma": torch.lgamma,
    "log": torch.log,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "log2": torch.log2,
    "normcdf": torch.special.ndtr,
    "normcdfinv": torch.special.ndtri,
    "rsqrt": torch.rsqrt,
    "sin": torch.sin,
    "sinh": torch.sinh,
    "sinpi": lambda x: torch.sinc(x) * math.pi * x,
    "cospi": lambda x: torch.cos(math.pi * x),
    "sqrt": torch.sqrt,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "tgamma": lambda x: torch.exp(torch.lgamma(x)),
    "y0": torch.special.bessel_y0,
    "y1": torch.special.bessel_y1,
    "cbrt": lambda x: x ** (1 / 3),
    "rcbrt": lambda x: x ** (-1 / 3),
    "erfcinv": lambda x: torch.erfinv(1 - x),
}


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("dtype", [F32, F64])
def test_functions_of_one_argument(name, dtype):
    # All are defined between 0 and 1, but for acosh.
    x = rng().uniform(0.01, 0.99, 512).astype(dtype) + dtype.type(name == "acosh")
    expected = TORCH[name](torch.from_numpy(x.astype(np.float64))).numpy()
    np.testing.assert_allclose(
        evaluate(f"libdevice.{name}(a)", x, out=dtype), expected, rtol=2e-5 if dtype == F32 else 1e-11
    )


@pytest.mark.parametrize("dtype", [F32, F64])
def test_functions_of_several_arguments(dtype):
    x, y, z = (rng().uniform(0.1, 4, (3, 512)) + np.array([[0], [0.5], [1]])).astype(dtype)
    wide = [v.astype(np.float64) for v in (x, y, z)]
    for text, expected in {
        "atan2(a, b)": np.arctan2(*wide[:2]),
        "copysign(a, -b)": -wide[0],
        "fdim(a, b)": np.maximum(wide[0] - wide[1], 0),
        "fmod(a, b)": np.fmod(*wide[:2]),
        "hypot(a, b)": np.hypot(*wide[:2]),
        "nextafter(a, b)": np.nextafter(x, y),
        "norm3d(a, b, c)": np.sqrt(sum(v**2 for v in wide)),
        "pow(a, b)": wide[0] ** wide[1],
        "remainder(a, b)": np.array([math.remainder(p, q) for p, q in zip(*wide[:2], strict=True)]),
        "rhypot(a, b)": 1 / np.hypot(*wide[:2]),
        "rnorm3d(a, b, c)": 1 / np.sqrt(sum(v**2 for v in wide)),
        "fma(a, b, c)": wide[0] * wide[1] + wide[2],
    }.items():
        actual = evaluate(f"libdevice.{text}", x, y, z, out=dtype)
        np.testing.assert_allclose(actual, expected, rtol=1e-6 if dtype == F32 else 1e-14, err_msg=text)


@pytest.mark.parametrize("dtype", [F32, F64])
def test_whole_numbers_of_every_kind(dtype):
    x = np.array([-3.5, -2.5, -1.5, -0.5, -0.4, 0.0, 0.4, 0.5, 1.5, 2.5, 2.6, 1e9, np.inf, np.nan], dtype)
    same(evaluate("libdevice.rint(a)", x, out=dtype), np.rint(x))
    same(evaluate("libdevice.nearbyint(a)", x, out=dtype), np.rint(x))
    same(evaluate("libdevice.trunc(a)", x, out=dtype), np.trunc(x))
    same(
        evaluate("libdevice.round(a)", x, out=dtype),
        np.array([-4, -3, -2, -1, -0.0, 0, 0, 1, 2, 3, 3, 1e9, np.inf, np.nan], dtype),
    )
    finite = x[:-2]
    same(evaluate("libdevice.llround(a)", finite, out=I64), np.array([-4, -3, -2, -1, 0, 0, 0, 1, 2, 3, 3, 10**9]))
    same(evaluate("libdevice.llrint(a)", finite, out=I64), np.rint(finite).astype(np.int64))


@pytest.mark.parametrize("dtype", [F32, F64])
def test_floats_taken_apart(dtype):
    x = np.array([1.0, 0.75, -6.5, 1e-30, 3e30, 2.0**-130])
    x = x.astype(dtype)
    exponents = np.floor(np.log2(np.abs(x.astype(np.float64)))).astype(np.int32)
    same(evaluate("libdevice.ilogb(a)", x, out=I32), exponents)
    same(evaluate("libdevice.logb(a)", x, out=dtype), exponents.astype(dtype))
    same(evaluate("libdevice.ldexp(a, b)", x, np.full(6, 3, np.int32), out=dtype), x * dtype.type(8))
    same(evaluate("libdevice.scalbn(a, b)", x, np.full(6, -2, np.int32), out=dtype), x / dtype.type(4))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0], dtype)
    assert evaluate("libdevice.isnan(a)", special, out=I32).astype(bool).tolist() == [0, 0, 0, 0, 1, 0]
    assert evaluate("libdevice.isinf(a)", special, out=I32).astype(bool).tolist() == [0, 0, 1, 1, 0, 0]
    assert evaluate("libdevice.signbit(a)", special[[0, 1, 2, 3, 5]], out=I32).astype(bool).tolist() == [0, 1, 0, 1, 1]


@pytest.mark.parametrize("dtype", [F32, F64])
def test_bessel_functions_of_integer_order(dtype):
    x = np.linspace(0.5, 30, 256).astype(dtype)
    for order in (0, 1, 2, 5):
        n = np.full(256, order, np.int32)
        # J and Y of neighbouring orders: their Wronskian is known. torch's J0 and Y0 have seven digits.
        j, above = (evaluate(f"libdevice.jn(a + {k}, b)", n, x, out=dtype).astype(np.float64) for k in (0, 1))
        y, over = (evaluate(f"libdevice.yn(a + {k}, b)", n, x, out=dtype).astype(np.float64) for k in (0, 1))
        np.testing.assert_allclose(
            above * y - j * over, 2 / (np.pi * x.astype(np.float64)), rtol=1e-3 if dtype == F32 else 1e-5
        )


@pytest.mark.parametrize("dtype", [I32, I64])
def test_bits_of_integers(dtype):
    width = 8 * dtype.itemsize
    x = np.concatenate([patterns(U32 if width == 32 else U64, 512).view(dtype), [0, 1, -1, 1 << (width - 2)]]).astype(
        dtype
    )
    words = [int(v) % (1 << width) for v in x]
    same(evaluate("libdevice.popc(a)", x, out=I32), np.array([w.bit_count() for w in words], np.int32))
    same(evaluate("libdevice.clz(a)", x, out=I32), np.array([width - w.bit_length() for w in words], np.int32))
    same(evaluate("libdevice.ffs(a)", x, out=I32), np.array([(w & -w).bit_length() for w in words], np.int32))
    flipped = [int(f"{w:0{width}b}"[::-1], 2) for w in words]
    same(evaluate("libdevice.brev(a)", x, out=dtype), np.array(flipped, f"u{dtype.itemsize}").view(dtype))
    same(evaluate("libdevice.abs(a)", x, out=dtype), np.abs(x))


@pytest.mark.parametrize("dtype", [I32, U32, I64, U64])
def test_upper_half_of_a_product(dtype):
    a, b = patterns(dtype, 256, seed=1), patterns(dtype, 256, seed=2)
    width = 8 * dtype.itemsize
    expected = [(int(x) * int(y)) >> width for x, y in zip(a, b, strict=True)]
    same(evaluate("libdevice.mulhi(a, b)", a, b, out=dtype), np.array(expected, dtype))


def test_small_integer_functions():
    a, b, c = (patterns(I32, 256, seed=k) for k in range(3))
    wide = [v.astype(np.int64) for v in (a, b, c)]
    low = [(v << 40) >> 40 for v in wide]
    same(evaluate("libdevice.mul24(a, b)", a, b, out=I32), (low[0] * low[1]).astype(np.int32))
    same(evaluate("libdevice.hadd(a, b)", a, b, out=I32), ((wide[0] + wide[1]) >> 1).astype(np.int32))
    same(evaluate("libdevice.rhadd(a, b)", a, b, out=I32), ((wide[0] + wide[1] + 1) >> 1).astype(np.int32))
    u, v, w = (x.view(np.uint32) for x in (a, b, c))
    same(evaluate("libdevice.sad(a, b, c)", a, b, w, out=I32), (np.abs(wide[0] - wide[1]) + wide[2]).astype(np.int32))
    wide_u, wide_v = u.astype(np.int64), v.astype(np.int64)
    same(evaluate("libdevice.sad(a, b, c)", u, v, w, out=U32), (np.abs(wide_u - wide_v) + w).astype(np.uint32))
    same(
        evaluate("libdevice.hadd(a, b)", u, v, out=U32),
        ((u.astype(np.int64) + v.astype(np.int64)) >> 1).astype(np.uint32),
    )
    octets = [list(int(p).to_bytes(4, "little") + int(q).to_bytes(4, "little")) for p, q in zip(u, v, strict=True)]
    picked = [
        int.from_bytes(
            bytes(
                (255 if o[n & 7] & 128 else 0) if n & 8 else o[n & 7]
                for n in ((int(s) >> 4 * k) & 15 for k in range(4))
            ),
            "little",
        )
        for o, s in zip(octets, w, strict=True)
    ]
    same(evaluate("libdevice.byte_perm(a, b, c)", a, b, c, out=I32), np.array(picked, np.uint32).view(np.int32))


def test_bits_of_floats():
    x, y = patterns(F32), patterns(F64)
    same(evaluate("libdevice.float_as_int(a)", x, out=I32), x.view(np.int32))
    same(evaluate("libdevice.float_as_uint(a)", x, out=U32), x.view(np.uint32))
    same(evaluate("libdevice.int_as_float(a)", x.view(np.int32), out=F32), x)
    same(evaluate("libdevice.double_as_longlong(a)", y, out=I64), y.view(np.int64))
    same(evaluate("libdevice.longlong_as_double(a)", y.view(np.int64), out=F64), y)
    high, low = (y.view(np.int64) >> 32).astype(np.int32), y.view(np.int64).astype(np.int32)
    same(evaluate("libdevice.double2hiint(a)", y, out=I32), high)
    same(evaluate("libdevice.double2loint(a)", y, out=I32), low)
    same(evaluate("libdevice.hiloint2double(a, b)", high, low, out=F64), y)


def rounded(exact: Fraction, dtype, mode):
    """``exact`` in ``dtype``, by comparing neighbours as fractions."""
    near = dtype.type(float(exact))
    candidates = sorted(
        {float(near), float(np.nextafter(near, dtype.type(-np.inf))), float(np.nextafter(near, dtype.type(np.inf)))}
    )
    below = max(v for v in candidates if Fraction(v) <= exact)
    above = min(v for v in candidates if Fraction(v) >= exact)
    if mode == "rz":
        return below if exact > 0 else above
    if mode == "rn":
        gap = (exact - Fraction(below)) - (Fraction(above) - exact)
        even = below if dtype.type(below).view(f"u{dtype.itemsize}") % 2 == 0 else above
        return below if gap < 0 else above if gap > 0 else even
    return below if mode == "rd" else above


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
def test_arithmetic_in_every_direction(dtype, mode):
    a, b, c = (rng().standard_normal((3, 200)) * [[1], [3], [0.7]]).astype(dtype)
    a[:4], b[:4] = [1, 2, 3, 4], [1, 2, 4, 0.5]  # exact results stay
    fractions = [[Fraction(float(v)) for v in x] for x in (a, b, c)]
    for text, function in {
        f"add_{mode}(a, b)": lambda x, y, z: x + y,
        f"sub_{mode}(a, b)": lambda x, y, z: x - y,
        f"mul_{mode}(a, b)": lambda x, y, z: x * y,
        f"div_{mode}(a, b)": lambda x, y, z: x / y,
        f"rcp_{mode}(a)": lambda x, y, z: 1 / x,
        f"fma_{mode}(a, b, c)": lambda x, y, z: x * y + z,
    }.items():
        expected = [rounded(function(*row), dtype, mode) for row in zip(*fractions, strict=True)]
        same(evaluate(f"libdevice.{text}", a, b, c, out=dtype), np.array(expected, dtype))
    root = evaluate(f"libdevice.sqrt_{mode}(a)", np.abs(a), out=dtype)
    for value, result in zip(np.abs(a), root, strict=True):
        exact = Fraction(float(value))
        squared = Fraction(float(result)) ** 2
        if mode in ("rz", "rd"):
            assert squared <= exact < Fraction(float(np.nextafter(result, dtype.type(np.inf)))) ** 2
        elif mode == "ru":
            assert Fraction(float(np.nextafter(result, dtype.type(0)))) ** 2 < exact <= squared


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_one_operand_may_be_the_same_for_all_lanes(engine):
    x = rng().uniform(1, 4, 256).astype(F32)
    two, three = (np.full(256, number, F32) for number in (2, 3))
    n = two.astype(np.int32)
    with lab.limits(engine=engine):
        for name in ("add_ru(a, {})", "mul_rd({}, a)", "div_rz(a, {})", "fma_ru(a, {}, 3.0)"):
            alone = evaluate(f"libdevice.{name.format('2.0')}", x, out=F32)
            whole = evaluate(f"libdevice.{name.format('b').replace('3.0', 'c')}", x, two, three, out=F32)
            same(alone, whole)
        for name in ("jn", "yn"):
            whole = evaluate(f"libdevice.{name}(a, b)", n, two, out=F32)
            same(evaluate(f"libdevice.{name}(2, a)", two, out=F32), whole)
            same(evaluate(f"libdevice.{name}(a, 2.0)", n, out=F32), whole)


def rounded_far_out(exact: Fraction, sign: int, mode: str) -> float:
    """``exact`` in float64, also beyond its greatest and below its least number; ``sign`` is that of a zero."""
    greatest, least = np.finfo(F64).max, 5e-324
    if abs(exact) > Fraction(greatest):
        outward = {"rz": False, "rd": exact < 0, "ru": exact > 0}[mode]
        return math.copysign(math.inf if outward else greatest, sign)
    if abs(exact) < Fraction(least):
        outward = exact != 0 and {"rz": False, "rd": exact < 0, "ru": exact > 0}[mode]
        return math.copysign(least if outward else 0.0, sign)
    return rounded(exact, F64, mode)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("mode", ["rz", "rd", "ru"])
def test_arithmetic_in_every_direction_at_the_ends_of_the_range(mode, engine):
    numbers = [1.7e308, 2.0**1000 + 2.0**948, 3.0, 0.1, 1e-160, 1.1e-300, 5e-324, 2.5e-310]
    numbers += [-each for each in numbers]
    a, b = (each.ravel() for each in np.meshgrid(*[np.array(numbers)] * 2))
    with lab.limits(engine=engine):
        for name, function in {"mul": lambda x, y: x * y, "div": lambda x, y: x / y, "add": lambda x, y: x + y}.items():
            exact = [function(Fraction(x), Fraction(y)) for x, y in zip(a, b, strict=True)]
            kept = [k for k, each in enumerate(exact) if each]  # the zero of a sum has its own rule of signs
            expected = [rounded_far_out(exact[k], 1 if exact[k] > 0 else -1, mode) for k in kept]
            found = evaluate(f"libdevice.{name}_{mode}(a, b)", a, b, out=F64)[kept]
            same(found, np.array(expected))
        root = evaluate(f"libdevice.sqrt_{mode}(a)", np.abs(a), out=F64)
    for value, result in zip(np.abs(a), root, strict=True):
        low, high = (result, np.nextafter(result, 9)) if mode != "ru" else (np.nextafter(result, 0), result)
        inside = Fraction(low) ** 2 <= Fraction(value) < Fraction(high) ** 2 or Fraction(result) ** 2 == Fraction(value)
        assert result > 1e150 or inside, (value, result)


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
def test_conversions_in_every_direction(mode):
    whole = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}[mode]
    x = np.array([-2.5, -1.5, -0.3, 0.0, 0.3, 0.5, 1.5, 2.5, 1e6 + 0.5], np.float32)
    same(evaluate(f"libdevice.float2int_{mode}(a)", x, out=I32), whole(x).astype(np.int32))
    same(evaluate(f"libdevice.float2ll_{mode}(a)", x, out=I64), whole(x).astype(np.int64))
    same(evaluate(f"libdevice.float2uint_{mode}(a)", np.abs(x), out=U32), whole(np.abs(x)).astype(np.uint32))
    same(evaluate(f"libdevice.double2int_{mode}(a)", x.astype(F64), out=I32), whole(x).astype(np.int32))
    for source, name in ((I32, "int"), (U32, "uint"), (I64, "ll"), (U64, "ull")):
        n = patterns(source, 200)
        n[:3] = [0, 1, np.iinfo(source).max]
        expected = [rounded(Fraction(int(v)), F32, mode) if v else 0.0 for v in n]
        same(evaluate(f"libdevice.{name}2float_{mode}(a)", n, out=F32), np.array(expected, np.float32))
        if source.itemsize == 8:
            expected = [rounded(Fraction(int(v)), F64, mode) if v else 0.0 for v in n]
            same(evaluate(f"libdevice.{name}2double_{mode}(a)", n, out=F64), np.array(expected))
    y = rng().standard_normal(200)
    expected = [rounded(Fraction(v), F32, mode) for v in y]
    same(evaluate(f"libdevice.double2float_{mode}(a)", y, out=F32), np.array(expected, np.float32))


def test_fast_versions_are_as_good_as_the_others():
    x = rng().uniform(0.1, 3, 256).astype(np.float32)
    for name in ("cosf", "sinf", "tanf", "expf", "logf", "log2f", "log10f"):
        wide = getattr(np, name.removesuffix("f"))(x.astype(np.longdouble))
        assert distance(evaluate(f"libdevice.fast_{name}(a)", x, out=F32), wide) <= 4


def test_saturatef_clamps_to_zero_and_one():
    x = np.array([-1.0, 0.25, 2.0, np.nan], np.float32)
    same(evaluate("libdevice.saturatef(a)", x, out=F32), np.array([0, 0.25, 1, 0], np.float32))
