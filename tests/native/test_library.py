"""CUDA's library: floats within one unit in the last place of exact, all else with the interpreter's bits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tests.native.compiled import compiled
from tests.native.exhaustive import ulps
from tests.native.test_math import ENDS, numbers
from triton_lab.interpreter.libdevice import FUNCTIONS as LIBRARY
from triton_lab.interpreter.ops.extern_elementwise import FUNCTIONS as INTERPRETED
from triton_lab.native.math.libdevice_symbols import SYMBOLS, library

F32, F64, I32, I64 = (np.dtype(t) for t in ("f4", "f8", "i4", "i8"))


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def call(symbol, *arrays, out):
    kind = {"f4": "float", "f8": "double", "i4": "i32", "i8": "i64"}[np.dtype(out).str[1:]]
    run = compiled(lambda code, *x: library(code, symbol, x, kind), [a.dtype for a in arrays], out)
    return run(*arrays)


def test_every_function_of_the_interpreters_library_is_native():
    assert set(LIBRARY) == SYMBOLS


EXACT = {
    **{name: getattr(np, f"arc{name[1:]}") for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")},
    **{name: getattr(np, name) for name in ("cosh", "sinh", "tan", "tanh", "expm1", "log10", "log1p", "cbrt")},
    "exp10": lambda x: np.power(np.longdouble(10), x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
}
PAIRS = {"atan2": np.arctan2, "hypot": np.hypot, "pow": np.power, "rhypot": lambda x, y: 1 / np.hypot(x, y)}


def close(found, exact, x):
    errors = ulps(found, exact)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 1, (x[worst], found[worst], exact[worst])


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_a_function_is_within_one_unit_in_the_last_place(name, dtype):
    x = numbers(dtype)
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    found = call(symbol, x, out=dtype)
    close(found, EXACT[name](x.astype(np.longdouble)), x)
    expected = INTERPRETED[symbol](x)
    zero = expected == 0
    assert (np.signbit(found[zero]) == np.signbit(expected[zero])).all()


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", PAIRS)
def test_a_function_of_two_is_within_one_unit_in_the_last_place(name, dtype):
    ends = np.array([*ENDS, 3.0, -3.0, -2.0, 1e300], dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(ends, ends))
    a, b = numbers(dtype), np.random.default_rng(1).permutation(numbers(dtype, seed=1))
    x, y = np.concatenate([x, a]), np.concatenate([y, b])
    x, y = x[: x.size // 16 * 16], y[: x.size // 16 * 16]
    found = call(f"__nv_{name}{'f' if dtype == F32 else ''}", x, y, out=dtype)
    if name == "rhypot":  # the interpreter's float64 is itself rounded
        expected = INTERPRETED[f"__nv_{name}{'f' if dtype == F32 else ''}"](x, y).astype(np.longdouble)
        assert np.nanmax(np.where(np.isinf(expected), 0, np.abs(found - expected) / np.abs(expected))) < 3e-7
        return
    expected = PAIRS[name](x.astype(np.longdouble), y.astype(np.longdouble))
    close(found, expected, np.stack([x, y], 1))
    signs = INTERPRETED[f"__nv_{name}{'f' if dtype == F32 else ''}"](x, y)
    known = ~np.isnan(signs)
    assert (np.signbit(found) == np.signbit(signs))[known].all()


def root_of(z):
    """``x`` with ``erfc(x) = z``, for ``z`` from zero to one, by Newton's steps on the logarithm."""
    if z > 0.5:
        return mpmath.erfinv(1 - z)
    x, goal = mpmath.sqrt(-mpmath.log(z)), mpmath.log(z)
    step = mpmath.mpf(1)
    while abs(step) > mpmath.mpf(10) ** -30:
        complement = mpmath.erfc(x)
        step = (mpmath.log(complement) - goal) * complement * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(x * x)
        x += step
    return x


def complement_root(z):
    return -root_of(2 - z) if z > 1 else root_of(z)


def scaled_complement(x):
    near = mpmath.exp(x * x) * mpmath.erfc(x) if x < 1000 else 1 / (x * mpmath.sqrt(mpmath.pi))
    return near if x < 1000 else near * (1 - 1 / (2 * x * x) + 3 / (4 * x**4))


RANDOM = np.random.default_rng(7)
SMALL = 10.0 ** RANDOM.uniform(-300, -1, 80)
TAILS = 10.0 ** RANDOM.uniform(-323, -300, 32)


def span(low, high):
    return RANDOM.uniform(low, high, 160)


# By mpmath with 40 digits, at these places.
SPECIAL = {
    "erfc": (mpmath.erfc, [span(-6, 6), span(20, 28), SMALL]),
    "erfcx": (scaled_complement, [span(-27, 5), span(0, 100), 10.0 ** span(2, 308), SMALL]),
    "erfinv": (mpmath.erfinv, [span(-1, 1), SMALL, 1 - 10.0 ** span(-16, -1)]),
    "erfcinv": (complement_root, [span(0.001, 2), SMALL, TAILS]),
    "normcdf": (lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2, [span(-3, 3), span(-39, 9), SMALL]),
    "normcdfinv": (lambda p: -mpmath.sqrt(2) * complement_root(2 * p), [span(0.001, 1), SMALL, TAILS]),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), [span(-10, 10), span(-714, 714), SMALL]),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), [span(-10, 10), span(-714, 714), SMALL]),
}


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", SPECIAL)
def test_a_special_function_is_within_one_unit_in_the_last_place(name, dtype):
    function, places = SPECIAL[name]
    x = np.concatenate(places).astype(dtype)
    x = x[x != 0]
    x = x[: x.size // 16 * 16]
    found = call(f"__nv_{name}{'f' if dtype == F32 else ''}", x, out=dtype)
    with mpmath.workdps(40):
        exact = [function(mpmath.mpf(float(each))) for each in x]
        nearest = np.array([float(each) for each in exact]).astype(dtype)
        unit = np.spacing(np.abs(np.where(np.isinf(nearest), dtype.type(1), nearest))).astype(F64)
        gaps = [
            0.0 if f == n else float(abs(mpmath.mpf(float(f)) - e) / u)
            for f, n, e, u in zip(found, nearest, exact, unit, strict=True)
        ]
    worst = int(np.argmax(gaps))
    assert gaps[worst] <= 1, (x[worst], found[worst], exact[worst], gaps[worst])
    assert np.isfinite(nearest).sum() > 100


# The C library's: the interpreter calls the same ones.
CALLED = ["j0", "j1", "y0", "y1", "lgamma", "tgamma"]


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", CALLED)
def test_a_function_of_the_c_library_has_the_interpreters_bits(name, dtype):
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    x = numbers(dtype)
    assert_same(call(symbol, x, out=dtype), INTERPRETED[symbol](x), x)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_an_order_have_the_interpreters_bits(name, dtype):
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    x = numbers(dtype, count=256)
    n = np.random.default_rng(3).integers(-2, 40, x.size).astype(I32)
    found = call(symbol, n, x, out=dtype)
    assert_same(found, INTERPRETED[symbol](n, x), n, x)
    assert np.isnan(found[n < 0]).all() and not np.isnan(found[(n >= 0) & (x > 0)]).any()


@pytest.mark.parametrize("lanes", [0, 1, 4])
def test_a_function_of_the_c_library_is_called_for_every_lane(lanes):
    x = numbers(F64, count=64)
    run = compiled(lambda code, one: library(code, "__nv_lgamma", [one], "double"), [F64], F64, lanes=max(lanes, 1))
    assert_same(run(x), INTERPRETED["__nv_lgamma"](x), x)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", SPECIAL)
def test_the_ends_of_a_special_function_are_the_interpreters(name, dtype):
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    x = np.array([*ENDS, 1.5, -28.0, 27.0, np.finfo(dtype).max, np.finfo(dtype).min], dtype)
    x = np.concatenate([x, np.ones(-x.size % 16, dtype)])
    found, expected = call(symbol, x, out=dtype), INTERPRETED[symbol](x)
    assert (np.isnan(found) == np.isnan(expected)).all(), x[np.isnan(found) != np.isnan(expected)]
    special = np.isinf(expected) | (expected == 0)
    assert_same(found[special], expected[special], x[special])


# Of the same operations in the same order, the interpreter's bits.
SAME = {
    1: [
        "ceil",
        "floor",
        "fabs",
        "logb",
        "nearbyint",
        "rint",
        "round",
        "sqrt",
        "trunc",
        "sinpi",
        "cospi",
        "ilogb",
        "llrint",
        "llround",
    ],
    2: ["copysign", "fdim", "fmod", "nextafter", "remainder"],
}


@pytest.mark.parametrize("name", SAME[1])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_parts_and_whole_numbers(name, dtype):
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    if dtype == F64 and name in ("sinpi", "cospi"):
        return
    x = numbers(dtype)
    expected = INTERPRETED[symbol](x)
    found = call(symbol, x, out=expected.dtype)
    if name in ("sinpi", "cospi"):
        close(found, expected.astype(np.longdouble), x)
    else:
        assert_same(found, expected, x)


def assert_same(found, expected, *x):
    nan = np.isnan(expected) if expected.dtype.kind == "f" else np.zeros(expected.shape, bool)
    bits = f"u{expected.dtype.itemsize}"
    differs = (found.view(bits) != expected.view(bits)) & ~(nan & np.isnan(found))
    assert not differs.any(), ([v[differs][:3] for v in x], found[differs][:3], expected[differs][:3])


@pytest.mark.parametrize("name", SAME[2])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_functions_of_two_with_the_interpreters_bits(name, dtype):
    ends = np.array(ENDS, dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(ends, ends))
    x, y = (
        np.concatenate([x, numbers(dtype)]),
        np.concatenate([y, np.random.default_rng(1).permutation(numbers(dtype))]),
    )
    x, y = x[: x.size // 16 * 16], y[: x.size // 16 * 16]
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    assert_same(call(symbol, x, y, out=dtype), INTERPRETED[symbol](x, y), x, y)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_a_remainder_that_there_is_not_is_one_nan_and_a_zero_has_the_sign_of_the_dividend(name, dtype):
    bits = f"u{dtype.itemsize}"
    x, y = (grid.ravel() for grid in np.meshgrid(*[np.array([np.nan, -np.nan, *ENDS], dtype)] * 2))
    x, y = x[: x.size // 16 * 16], y[: x.size // 16 * 16]
    none = np.isnan(x) | np.isnan(y) | np.isinf(x) | (y == 0)
    for found in (call(f"__nv_{name}", x, y, out=dtype), INTERPRETED[f"__nv_{name}"](x, y)):
        assert (np.isnan(found) == none).all()
        assert (found[none].view(bits) == np.array(np.nan, dtype).view(bits)).all()
        assert (np.signbit(found) == np.signbit(x))[found == 0].all()


@pytest.mark.parametrize("name", ["ldexp", "scalbn", "powi"])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_powers_of_two(name, dtype):
    x = numbers(dtype)
    n = np.random.default_rng(0).integers(-2200, 2200, x.size).astype(I32)
    n[::3] %= 9
    n[:2] = [2**31 - 1, -(2**31)]
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    found, expected = call(symbol, x, n, out=dtype), INTERPRETED[symbol](x, n)
    if name == "powi":
        close(found, np.power(x.astype(np.longdouble), n.astype(np.longdouble)), x)
    else:
        assert_same(found, expected, x, n)


ROUNDED = sorted(s for s in SYMBOLS if s.endswith(("_rn", "_rz", "_rd", "_ru")))


@pytest.mark.parametrize("symbol", ROUNDED)
def test_arithmetic_and_conversions_with_a_direction(symbol):
    name = symbol[5:]
    source = {"f": F32, "d": F64}.get(name[0], F32)
    if "2" in name:
        kind = name.split("2")[0]
        source = {"float": F32, "double": F64, "int": I32, "uint": I32, "ll": I64, "ull": I64}[kind]
    if name.startswith("fma_"):
        source = F64
    count = 3 if "fma" in name else 2 if name[1:4] in ("add", "sub", "mul", "div") else 1
    if source.kind == "i":
        operands = [
            np.random.default_rng(k).integers(0, 256, (4096, source.itemsize), np.uint8).view(source)[:, 0]
            for k in range(count)
        ]
    else:
        operands = [np.random.default_rng(k).permutation(numbers(source, seed=k)) for k in range(count)]
    expected = INTERPRETED[symbol](*operands)
    if name.startswith("fma_"):  # the interpreter's may be off where it is subnormal
        keep = (np.abs(expected) > 1e-290) & np.isfinite(expected)
        operands = [x[keep][: keep.sum() // 16 * 16] for x in operands]
        expected = expected[keep][: keep.sum() // 16 * 16]
    assert_same(call(symbol, *operands, out=expected.dtype), expected, *operands)


BITS = {
    1: [
        "abs",
        "llabs",
        "brev",
        "brevll",
        "clz",
        "clzll",
        "ffs",
        "ffsll",
        "popc",
        "popcll",
        "int_as_float",
        "uint_as_float",
        "longlong_as_double",
    ],
    2: [
        "hadd",
        "uhadd",
        "rhadd",
        "urhadd",
        "mul24",
        "umul24",
        "mulhi",
        "mul64hi",
        "umulhi",
        "umul64hi",
        "max",
        "min",
        "llmax",
        "llmin",
        "umax",
        "umin",
        "ullmax",
        "ullmin",
        "hiloint2double",
    ],
    3: ["byte_perm", "sad", "usad"],
}


@pytest.mark.parametrize(("count", "name"), [(count, name) for count, names in BITS.items() for name in names])
def test_functions_of_integers(count, name):
    dtype = I64 if "ll" in name or "longlong" in name or "64" in name else I32
    rng = np.random.default_rng(0)
    many = [rng.integers(0, 256, (4096, dtype.itemsize), np.uint8).view(dtype)[:, 0] for _ in range(count)]
    info = np.iinfo(dtype)
    for k, x in enumerate(many):
        x[k * 8 : k * 8 + 6] = [0, 1, -1, info.min, info.max, 2]
    expected = INTERPRETED[f"__nv_{name}"](*many)
    assert_same(call(f"__nv_{name}", *many, out=expected.dtype), expected, *many)


FLOAT_BITS = ["float_as_int", "float_as_uint", "double_as_longlong", "double2hiint", "double2loint"]
TRUTHS = ["isfinited", "finitef", "isinfd", "isinff", "isnand", "isnanf", "signbitd", "signbitf"]


@pytest.mark.parametrize("name", FLOAT_BITS + TRUTHS)
def test_bits_of_floats_and_what_they_are(name):
    dtype = F64 if name.endswith("d") or name.startswith("double") else F32
    x = numbers(dtype)
    expected = np.asarray(INTERPRETED[f"__nv_{name}"](x))
    expected = expected.astype(I32) if expected.dtype == bool else expected
    assert_same(call(f"__nv_{name}", x, out=expected.dtype), expected, x)


@pytest.mark.parametrize("name", ["fmax", "fmin", "fmaxf", "fminf", "fast_fdividef"])
def test_extremes_and_a_quotient(name):
    dtype = F32 if name.endswith("f") else F64
    x, y = numbers(dtype), np.random.default_rng(2).permutation(numbers(dtype, seed=5))
    assert_same(call(f"__nv_{name}", x, y, out=dtype), INTERPRETED[f"__nv_{name}"](x, y), x, y)


def test_saturation():
    x = numbers(F32)
    found = call("__nv_saturatef", x, out=F32)
    assert (found == INTERPRETED["__nv_saturatef"](x)).all()


def test_fma_of_float32_rounds_once():
    x, y, z = (np.random.default_rng(k).permutation(numbers(F32, seed=k)) for k in range(3))
    assert_same(call("__nv_fmaf", x, y, z, out=F32), INTERPRETED["__nv_fmaf"](x, y, z), x, y, z)
