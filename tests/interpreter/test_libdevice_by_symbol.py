"""Functions of CUDA's library that Triton's ``libdevice`` leaves out, reached by their symbols."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.interpreter.support import kernel_from, same, tensor
from tests.interpreter.test_floats import patterns
from tests.interpreter.test_math import distance
from triton_lab.interpreter.libdevice import FUNCTIONS

F32, F64, I32, I64 = (np.dtype(t) for t in (np.float32, np.float64, np.int32, np.int64))
NAMES = {F32: "fp32", F64: "fp64", I32: "int32", I64: "int64"}
TINY = np.float32(1e-40)


def kernel_of(symbol: str, dtype: np.dtype, count: int) -> Any:
    """A kernel that stores what the library's function makes of ``count`` blocks of ``dtype``.

    Its text names the symbol: Triton's cache tells kernels apart by that, and not by the functions of Python in them.
    """
    names = "abc"[:count]
    loads = ", ".join(f"tl.load({name} + k)" for name in names)
    return kernel_from(f"""
from triton.language import core

@core.extern
def function({", ".join(names)}, _semantic=None):
    kind = core.dtype("{NAMES[dtype]}")
    table = {{(kind,) * {count}: ("{symbol}", kind)}}
    return core.extern_elementwise("", "", [{", ".join(names)}], table, is_pure=True, _semantic=_semantic)

@triton.jit
def kernel{symbol}({", ".join(names)}, out, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    tl.store(out + k, function({loads}))
""")


def call(symbol: str, *arrays: np.ndarray) -> np.ndarray:
    """``symbol`` on arrays whose length is a power of two."""
    out = tensor(np.zeros_like(arrays[0]))
    kernel_of(symbol, arrays[0].dtype, len(arrays))[(1,)](*map(tensor, arrays), out, BLOCK=len(arrays[0]))
    return out.numpy()


@pytest.mark.parametrize(
    ("symbol", "dtype", "function"),
    [
        ("__nv_min", I32, np.minimum),
        ("__nv_max", I32, np.maximum),
        ("__nv_llmin", I64, np.minimum),
        ("__nv_llmax", I64, np.maximum),
        ("__nv_umin", I32, np.minimum),
        ("__nv_umax", I32, np.maximum),
        ("__nv_ullmin", I64, np.minimum),
        ("__nv_ullmax", I64, np.maximum),
    ],
)
def test_extremes_of_integers(symbol: str, dtype: np.dtype, function: Callable[..., np.ndarray]) -> None:
    a, b = patterns(dtype, 256), patterns(dtype, 256)[::-1].copy()
    bits = np.dtype(f"u{dtype.itemsize}") if symbol.startswith(("__nv_u", "__nv_ull")) else dtype
    same(call(symbol, a, b), function(a.view(bits), b.view(bits)).view(dtype))


@pytest.mark.parametrize(("name", "function"), [("fmin", min), ("fmax", max)])
@pytest.mark.parametrize("dtype", [F32, F64])
def test_extremes_of_floats_order_zeros_and_pass_over_nan(
    name: str, function: Callable[..., float], dtype: np.dtype
) -> None:
    symbol = f"__nv_{name}{'f' if dtype == F32 else ''}"
    numbers = np.array([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan, 7.0], dtype)
    a, b = (x.reshape(-1).copy() for x in np.meshgrid(numbers, numbers))

    def expected(x: float, y: float) -> float:
        if np.isnan(x) or np.isnan(y):
            return y if np.isnan(x) else x
        return function([x, y], key=lambda v: (v, not np.signbit(v)))

    same(call(symbol, a, b), np.array([expected(x, y) for x, y in zip(a, b, strict=True)], dtype))


@pytest.mark.parametrize(("name", "flushes"), [("fmax", True), ("fmin", True), ("fmaf_ieee_rn", False)])
def test_subnormal_float32_is_zero_where_the_gpus_instruction_says_ftz(name: str, flushes: bool) -> None:
    symbol = f"__nv_{name}" if "ieee" in name else f"__nv_{name}f"
    count = 3 if "ieee" in name else 2
    kernel = kernel_of(symbol, F32, count)
    arguments = {each: "*fp32" for each in kernel.arg_names if each != "BLOCK"}
    source = ASTSource(kernel, {**arguments, "BLOCK": "constexpr"}, {(len(arguments),): 128})
    assembly = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"enable_fp_fusion": True}).asm["ptx"]
    (instruction,) = re.findall(rf"\b{name[1:4] if count == 2 else 'fma'}\.\S*", assembly)
    assert (".ftz" in instruction) == flushes
    x = np.array([TINY, -TINY, TINY, 1.0], np.float32)
    y = np.array([TINY, -TINY, -1.0, -TINY], np.float32)
    ones, zeros = np.ones_like(x), np.zeros_like(x)
    result = call(symbol, x, ones, zeros) if count == 3 else call(symbol, x, y)
    assert (np.abs(result[np.abs(result) < 1e-38]).max() == 0) == flushes


def test_an_absolute_value_takes_subnormal_float32_for_zero_as_an_h100_does() -> None:
    x = np.array([TINY, -TINY, -0.0, np.nan], np.float32)
    same(call("__nv_fabsf", x), np.array([0.0, 0.0, 0.0, np.nan], np.float32))
    same(call("__nv_fabs", x.astype(F64)), np.abs(x.astype(F64)))


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
def test_a_fused_product_and_sum_is_rounded_once_and_keeps_subnormals(mode: str) -> None:
    generator = np.random.default_rng(0)
    a, b, c = generator.standard_normal((3, 256)).astype(np.float32)
    a[::4] *= np.float32(1e-30)
    b[::4] *= np.float32(1e-12)
    c[::4] = TINY
    result = call(f"__nv_fmaf_ieee_{mode}", a, b, c)
    for x, y, z, got in zip(a, b, c, result, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        below, above = np.nextafter(got, np.float32(-np.inf)), np.nextafter(got, np.float32(np.inf))
        value = Fraction(float(got))
        if mode == "rn":
            assert 2 * exact <= value + Fraction(float(above)) and 2 * exact >= value + Fraction(float(below))
        if mode == "rd" or (mode == "rz" and exact > 0):
            assert value <= exact < Fraction(float(above))
        if mode == "ru" or (mode == "rz" and exact < 0):
            assert Fraction(float(below)) < exact <= value


def test_the_fast_hyperbolic_tangent_is_as_good_as_the_other() -> None:
    x = np.linspace(-4, 4, 256, dtype=np.float32)
    assert distance(call("__nv_fast_tanhf", x), np.tanh(x.astype(np.longdouble))) <= 4


def low(x: int, bits: int, signed: bool) -> int:
    """The low ``bits`` of a number."""
    x %= 1 << bits
    return x - (1 << bits) if signed and x >> (bits - 1) else x


OF_UNSIGNED = {
    "__nv_uhadd": lambda x, y: (x + y) >> 1,
    "__nv_urhadd": lambda x, y: (x + y + 1) >> 1,
    "__nv_umul24": lambda x, y: low(x, 24, False) * low(y, 24, False),
    "__nv_umulhi": lambda x, y: (x * y) >> 32,
}
OF_SIGNED = {
    "__nv_hadd": lambda x, y: (x + y) >> 1,
    "__nv_rhadd": lambda x, y: (x + y + 1) >> 1,
    "__nv_mul24": lambda x, y: low(x, 24, True) * low(y, 24, True),
    "__nv_mulhi": lambda x, y: (x * y) >> 32,
}
ENDS = [0, 1, 2, 3, -1, -2, 2**31 - 1, -(2**31), 2**23, 2**23 - 1, -(2**23), 2**24 + 5, 12345, -54321, 2**30, 0x7FFF]


@pytest.mark.parametrize("name", [*OF_SIGNED, *OF_UNSIGNED])
def test_integers_at_their_ends_are_those_of_python(name: str) -> None:
    pairs = [(x, y) for x in ENDS for y in ENDS]
    expected = [
        low(OF_UNSIGNED[name](x % 2**32, y % 2**32) if name in OF_UNSIGNED else OF_SIGNED[name](x, y), 32, True)
        for x, y in pairs
    ]
    a, b = (np.array(each, I32) for each in zip(*pairs, strict=True))
    found = FUNCTIONS[name](a, b)
    assert found.dtype == I32 and found.tolist() == expected


@pytest.mark.parametrize("name", ["__nv_umul64hi", "__nv_mul64hi"])
def test_upper_halves_of_64_bits_are_those_of_python(name: str) -> None:
    ends = [*ENDS, 2**63 - 1, -(2**63), 2**32, -(2**32) - 1, 2**62 + 2**31 + 7]
    pairs = [(x, y) for x in ends for y in ends]
    signed = name == "__nv_mul64hi"
    expected = [low((x * y if signed else (x % 2**64) * (y % 2**64)) >> 64, 64, True) for x, y in pairs]
    a, b = (np.array(each, I64) for each in zip(*pairs, strict=True))
    assert FUNCTIONS[name](a, b).tolist() == expected


@pytest.mark.parametrize("name", ["__nv_sad", "__nv_usad"])
def test_absolute_differences_of_the_ends_are_those_of_python(name: str) -> None:
    triples = [(x, y, z) for x in ENDS for y in ENDS for z in (0, 7, -1, 2**31 - 1)]
    read = (lambda x: x % 2**32) if name == "__nv_usad" else int
    a, b, c = (np.array(each, I32) for each in zip(*triples, strict=True))
    found = FUNCTIONS[name](a, b, c)
    assert found.tolist() == [low(abs(read(x) - read(y)) + z, 32, True) for x, y, z in triples]


def test_the_upper_reciprocal_keeps_the_upper_half() -> None:
    x = np.array([3.0, -7.0, 1e300, 0.1])
    bits = (1.0 / x).view(np.uint64).tolist()
    assert FUNCTIONS["__nv_rcp64h"](x).view(np.uint64).tolist() == [each >> 32 << 32 for each in bits]
