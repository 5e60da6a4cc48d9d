"""Elementary functions are within a unit in the last place of a wider computation, with the interpreter's ends."""

from __future__ import annotations

import numpy as np
import pytest

from tests.native.compiled import compiled
from tests.native.exhaustive import ulps
from triton_lab.interpreter import error_functions
from triton_lab.interpreter.ops.math_functions import UNARY
from triton_lab.native.math import FUNCTIONS

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
ENDS = [
    *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 8.0, 1e-45, -1e-45, 5e-324, 1e-310, -1e-310),
    *(1e-40, 88.72, 88.73, -87.4, -103.9, -104.0, 128.0, -149.0, -150.0, 709.7, 709.8, -745.1, -745.2, 1024.0, -1074.0),
    *(3e38, 1.7e308, np.pi, np.pi / 2, 1e10, 6381956970095103 * 2.0**797, 0.9, 1.25, 4.0, 100.0),
]


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def numbers(dtype, seed=0, count=1 << 12):
    """Ends; any bits; numbers of moderate size, near one, and small."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 256, (count, dtype.itemsize), np.uint8).view(dtype)[:, 0]
    tiny = rng.uniform(-1, 1, count) * 10.0 ** rng.uniform(-20, 0, count)
    many = [rng.uniform(-2, 2, count), rng.normal(0, 40, count), rng.normal(0, 400, count), tiny, 1 + tiny, tiny - 1]
    # What lies next to multiples of a quarter turn.
    turns = np.arange(1, 200) * (np.pi / 4)
    x = np.concatenate([np.array(ENDS), bits.astype(F64), *many, turns, turns * 1000]).astype(dtype)
    return np.concatenate([x, np.ones(-x.size % 16, dtype)])


EXACT = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "log", "log2", "sin", "cos")},
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_a_function_is_within_one_unit_in_the_last_place(name, dtype):
    x = numbers(dtype)
    found = compiled(lambda code, x: FUNCTIONS[name](code, x), [dtype], dtype)(x)
    errors = ulps(found, EXACT[name](x.astype(np.longdouble)))
    worst = int(np.argmax(errors))
    assert errors[worst] <= 1, (x[worst], found[worst])


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_the_error_function(dtype):
    x = numbers(dtype)
    found = compiled(lambda code, x: FUNCTIONS["erf"](code, x), [dtype], dtype)(x)
    expected = error_functions.erf(x.astype(F64))
    errors = ulps(found, expected.astype(np.longdouble))
    # The interpreter's own float64 is within one unit.
    assert errors.max() <= (1 if dtype == F32 else 2), (x[np.argmax(errors)], found[np.argmax(errors)])


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_ends_are_the_interpreters(name, dtype):
    x = np.array(ENDS, dtype)
    x = np.concatenate([x, np.ones(-x.size % 16, dtype)])
    found = compiled(lambda code, x: FUNCTIONS[name](code, x), [dtype], dtype)(x)
    expected = UNARY[f"math.{name}"](x)
    assert (np.isnan(found) == np.isnan(expected)).all()
    special = ~np.isfinite(expected) | (expected == 0)
    assert (found[special & ~np.isnan(found)] == expected[special & ~np.isnan(found)]).all()
    zero = expected == 0
    assert (np.signbit(found[zero]) == np.signbit(expected[zero])).all()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("lanes", [1, 4, 16, 32])
def test_any_number_of_lanes_gives_the_same_bits(name, lanes):
    x = numbers(F32, count=64)
    x = x[: x.size // 32 * 32]
    wide = compiled(lambda code, x: FUNCTIONS[name](code, x), [F32], F32)(x)
    scalar_or_other = compiled(lambda code, x: FUNCTIONS[name](code, x), [F32], F32, lanes=lanes)(x)
    assert (wide.view("u4") == scalar_or_other.view("u4")).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_processors_without_512_bits_give_the_same_bits(name):
    x = numbers(F32, count=256)
    wide = compiled(lambda code, x: FUNCTIONS[name](code, x), [F32], F32)(x)
    narrow = compiled(lambda code, x: FUNCTIONS[name](code, x), [F32], F32, lanes=8, features=WITHOUT_512)(x)
    assert (wide.view("u4") == narrow.view("u4")).all()


WITHOUT_512 = ",".join(
    f"-avx512{part}"
    for part in ("f", "bw", "cd", "dq", "vl", "ifma", "vbmi", "vbmi2", "vnni", "bitalg", "vpopcntdq", "bf16")
)
