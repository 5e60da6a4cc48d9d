"""The rules of the language, measured: both targets on the same bits, compared bit for bit.

Each test is a question to the hardware. Where the two are known to differ, a test says by how much.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.interpreter.support import all_bits, bf16, e4m3, e5m2, evaluate, kernel_from, pairs, same, tensor
from tests.interpreter.test_casts import F16, F32, F64, INTEGERS, TL, around_boundaries
from tests.interpreter.test_floats import patterns

pytestmark = pytest.mark.gpu

FLOATS = [F16, bf16, F32, F64]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def both(expression, *arrays, out, **options):
    """The results of the CPU target and of the GPU."""
    with lab.target("cpu"):
        ours = evaluate(expression, *arrays, out=out, **options)
    with lab.target("gpu"):
        theirs = evaluate(expression, *arrays, out=out, device="cuda", **options)
    return ours, theirs


def agree(expression, *arrays, out, **options):
    same(*both(expression, *arrays, out=out, **options))


def samples(dtype):
    """All patterns of narrow formats; of wide ones many patterns, and what lies near boundaries."""
    if dtype.itemsize <= 2:
        return all_bits(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [info.min, info.min + 1, 0, 1, 2, 7, info.max - 1, info.max]
        powers = [v for k in range(8 * dtype.itemsize - 1) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1)]
        return np.concatenate([patterns(dtype, 1 << 16), np.array(edges + powers).astype(dtype)])
    limits = [s * (2.0**k + d) for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5, 1) for s in (1, -1)]
    near = [around_boundaries(dtype, target) for target in (F16, bf16, e4m3, e5m2)]
    return np.concatenate([patterns(dtype, 1 << 16), np.array(limits).astype(dtype), *near])


@pytest.mark.parametrize(("source", "target"), [(s, t) for s in FLOATS for t in INTEGERS])
def test_float_to_integer(source, target):
    agree(f"a.to({TL[target]})", samples(source), out=target)


@pytest.mark.parametrize(("source", "target"), [(s, t) for s in INTEGERS for t in FLOATS])
def test_integer_to_float(source, target):
    agree(f"a.to({TL[target]})", samples(source), out=target)


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(FLOATS, 2)))
def test_float_to_float(source, target):
    agree(f"a.to({TL[target]})", samples(source), out=target)


@pytest.mark.parametrize(("source", "target"), [(s, t) for s in (F16, bf16, F32) for t in (e4m3, e5m2)])
def test_float_to_fp8_bit_for_bit(source, target):
    # As bytes, so that NaN must be the same NaN.
    agree(f"a.to({TL[target]}).to(tl.uint8, bitcast=True)", samples(source), out=np.uint8)


@pytest.mark.parametrize(("source", "target"), [(s, t) for s in (e4m3, e5m2) for t in (F16, F32)])
def test_fp8_to_float(source, target):
    agree(f"a.to({TL[target]})", all_bits(source), out=target)


def test_e4m3_to_bfloat16():
    agree("a.to(tl.bfloat16)", all_bits(e4m3), out=bf16)


def test_finite_e5m2_to_bfloat16():
    # Triton's own conversion for NVIDIA makes large numbers of infinities and NaN; ours keeps them.
    x = all_bits(e5m2)
    agree("a.to(tl.bfloat16)", x[np.isfinite(x.astype(F32))], out=bf16)


@pytest.mark.parametrize("target", [F16, bf16, e5m2])
def test_rounding_towards_zero(target):
    agree(f'a.to({TL[target]}, fp_downcast_rounding="rtz")', samples(F32), out=target)


@pytest.mark.parametrize("target", [F16, bf16])
def test_the_bits_of_nan(target):
    x = patterns(np.dtype(np.uint32), 4096) | np.uint32(0x7F800001)
    agree(f"a.to({TL[target]}).to(tl.uint16, bitcast=True)", x.view(np.float32), out=np.uint16)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("symbol", ["+", "-", "*", "&", "|", "^"])
def test_integer_arithmetic(dtype, symbol):
    agree(f"a {symbol} b", patterns(dtype, seed=1), patterns(dtype, seed=2), out=dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("symbol", ["//", "%"])
def test_integer_division(dtype, symbol):
    a, b = patterns(dtype, seed=1), patterns(dtype, seed=2)
    b[::3] = (np.arange(len(b[::3])) % 9 + 1).astype(dtype)
    agree(f"a {symbol} b", a[b != 0], b[b != 0], out=dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("symbol", ["<<", ">>"])
def test_shifts_within_the_width(dtype, symbol):
    bits = 8 * dtype.itemsize
    a = patterns(dtype)
    agree(f"a {symbol} b", a, (np.arange(len(a)) % bits).astype(dtype), out=dtype)


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d.itemsize >= 4])
@pytest.mark.parametrize("symbol", ["<<", ">>"])
def test_shifts_beyond_the_width(dtype, symbol):
    bits = 8 * dtype.itemsize
    a = patterns(dtype, 64)
    agree(f"a {symbol} b", a, (bits + np.arange(64) % 40).astype(dtype), out=dtype)


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d.itemsize >= 4])
def test_umulhi(dtype):
    agree("tl.umulhi(a, b)", patterns(dtype, seed=1), patterns(dtype, seed=2), out=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("symbol", ["+", "-", "*"])
def test_float_arithmetic(dtype, symbol):
    agree(f"a {symbol} b", patterns(dtype, seed=1), patterns(dtype, seed=2), out=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_negation_and_magnitude(dtype):
    agree("-a", patterns(dtype), out=dtype)
    agree("tl.abs(a)", patterns(dtype), out=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("nan", ["NONE", "ALL"])
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_extremes(dtype, nan, name):
    numbers = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    a, b = pairs(np.array(numbers).astype(dtype))
    agree(f"tl.{name}(a, b, propagate_nan=tl.PropagateNan.{nan})", a, b, out=dtype)


@pytest.mark.parametrize("nan", ["NONE", "ALL"])
def test_clamp(nan):
    numbers = np.array([-np.inf, -3.0, 0.5, 9.0, np.inf, np.nan], np.float32)
    low, high = np.full(6, -1, np.float32), np.full(6, 2, np.float32)
    agree(f"tl.clamp(a, b, c, propagate_nan=tl.PropagateNan.{nan})", numbers, low, high, out=F32)


@pytest.mark.parametrize("text", ["tl.div_rn(a, b)", "tl.sqrt_rn(a)", "tl.floor(a)", "tl.ceil(a)", "tl.fma(a, b, a)"])
def test_what_is_exact_on_both(text):
    agree(text, np.abs(patterns(F32, seed=1)), patterns(F32, seed=2), out=F32)


# In units in the last place.
FAST = {
    "a / b": 2,
    "tl.exp(a)": 8,
    "tl.exp2(a)": 2,
    "tl.log(a)": 3,
    "tl.log2(a)": 3,
    "tl.sin(a)": 2,
    "tl.cos(a)": 2,
    "tl.sqrt(a)": 3,
    "tl.rsqrt(a)": 2,
    "tl.erf(a)": 3,
    "libdevice.tanh(a)": 3,
    "libdevice.pow(a, b)": 6,
}


@pytest.mark.parametrize("text", FAST)
def test_how_far_approximate_functions_stray(text):
    a, b = np.random.default_rng(0).uniform(0.1, 9, (2, 4096)).astype(np.float32)
    ours, theirs = both(text, a, b, out=F32)
    ulps = np.abs(ours.view(np.int32).astype(np.int64) - theirs.view(np.int32))
    assert ulps.max() <= FAST[text], f"{ulps.max()} units in the last place"


@pytest.mark.parametrize("symbol", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int8), np.dtype(np.uint32)])
def test_comparisons(dtype, symbol):
    a, b = patterns(dtype, seed=1), patterns(dtype, seed=2)
    b[::2] = a[::2]
    agree(f"a {symbol} b", a, b, out=np.bool_)


@pytest.mark.parametrize("name", ["popc", "clz", "ffs", "brev"])
@pytest.mark.parametrize("dtype", [np.dtype(np.int32), np.dtype(np.int64)])
def test_bits(name, dtype):
    out = dtype if name == "brev" else np.dtype(np.int32)
    x = np.concatenate([patterns(dtype), np.array([0, -1], dtype)])
    agree(f"libdevice.{name}(a)", x, out=out)


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
def test_directions_of_rounding(mode):
    a, b, c = (patterns(F32, seed=k) for k in range(3))
    for name in ("add", "sub", "mul", "div"):
        agree(f"libdevice.{name}_{mode}(a, b)", a, b, out=F32)
    agree(f"libdevice.fma_{mode}(a, b, c)", a, b, c, out=F32)
    for name, out in {"int": np.int32, "uint": np.int32, "ll": np.int64, "ull": np.int64}.items():
        agree(f"libdevice.float2{name}_{mode}(a)", samples(F32), out=out)
        agree(f"libdevice.double2{name}_{mode}(a)", samples(F64), out=out)
    agree(f"libdevice.ll2float_{mode}(a)", samples(np.dtype(np.int64)), out=F32)


def on_both(kernel, grid, *arrays, **constants):
    """The first array after a launch on each target."""
    results = []
    for target, device in (("cpu", "cpu"), ("gpu", "cuda")):
        tensors = [tensor(each).to(device) for each in arrays]
        with lab.target(target):
            kernel[grid](*tensors, **constants)
        results.append(tensors[0].cpu())
    return results


ATOMIC = [(name, d) for name in ("add", "max", "min", "and", "or", "xor") for d in INTEGERS if d.itemsize >= 4]
ATOMIC += [(name, d) for name in ("max", "min") for d in (F32, F64)]


@pytest.mark.parametrize(("name", "dtype"), ATOMIC)
def test_atomics_whose_order_does_not_matter(name, dtype):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(T, V, BLOCK: tl.constexpr):\n"
        "    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        f"    tl.atomic_{name}(T + k % 8, tl.load(V + k))\n"
    )
    start = patterns(dtype, 8) if dtype.kind in "iu" else np.random.default_rng(1).standard_normal(8).astype(dtype)
    values = patterns(dtype, 256) if dtype.kind in "iu" else np.random.default_rng(0).standard_normal(256).astype(dtype)
    ours, theirs = on_both(kernel, (4,), start, values, BLOCK=64)
    assert torch.equal(ours.view(torch.uint8), theirs.view(torch.uint8))


@pytest.mark.parametrize("dtype", [F16, bf16, F32, F64])
def test_sums_of_small_whole_numbers(dtype):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(T, V, BLOCK: tl.constexpr):\n"
        "    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.atomic_add(T + k % 8, tl.load(V + k))\n"
    )
    ours, theirs = on_both(kernel, (4,), np.zeros(8, dtype), (np.arange(256) % 5).astype(dtype), BLOCK=64)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("formats", ["e2m1 e4m3", "e4m3 e5m2", "e5m2 bf16", "e2m1 fp16", "e2m1 e2m1"])
def test_scaled_products(formats):
    left, right = formats.split()
    a, b = ({"e2m1": 32}.get(f, 64) for f in (left, right))
    cast = {"bf16": ".to(tl.bfloat16, bitcast=True)", "fp16": ".to(tl.float16, bitcast=True)"}
    scale = {"bf16": "None", "fp16": "None"}
    kernel = kernel_from(
        "@triton.jit\ndef kernel(OUT, A, B, SA, SB):\n"
        "    m, s = tl.arange(0, 64), tl.arange(0, 2)\n"
        f"    a = tl.load(A + m[:, None] * {a} + tl.arange(0, {a})[None, :]){cast.get(left, '')}\n"
        f"    b = tl.load(B + tl.arange(0, {b})[:, None] * 64 + m[None, :]){cast.get(right, '')}\n"
        "    sa = tl.load(SA + m[:, None] * 2 + s[None, :])\n"
        "    sb = tl.load(SB + m[:, None] * 2 + s[None, :])\n"
        f'    z = tl.dot_scaled(a, {scale.get(left, "sa")}, "{left}", b, {scale.get(right, "sb")}, "{right}")\n'
        "    tl.store(OUT + m[:, None] * 64 + m[None, :], z)\n"
    )
    rng = np.random.default_rng(0)

    def operand(format, shape):
        if format in ("bf16", "fp16"):
            return rng.standard_normal(shape).astype(bf16 if format == "bf16" else F16).view(np.uint16)
        # No infinities and no NaN among the bytes.
        return rng.integers(0, 256, shape, dtype=np.uint8) & np.uint8(0xBB if format != "e2m1" else 0xFF)

    scales = [rng.integers(120, 134, (64, 2), dtype=np.uint8) for _ in range(2)]
    arrays = operand(left, (64, a)), operand(right, (b, 64)), *scales
    ours, theirs = on_both(kernel, (1,), np.zeros((64, 64), np.float32), *arrays)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", [F16, bf16, e4m3, e5m2, np.dtype(np.int8)])
def test_products_of_whole_numbers(dtype):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(OUT, A, B):\n"
        "    m = tl.arange(0, 64)\n"
        "    where = m[:, None] * 64 + m[None, :]\n"
        "    tl.store(OUT + where, tl.dot(tl.load(A + where), tl.load(B + where)))\n"
    )
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (64, 64)).astype(dtype) for _ in range(2))
    out = np.zeros((64, 64), np.int32 if dtype.kind == "i" else np.float32)
    ours, theirs = on_both(kernel, (1,), out, a, b)
    assert torch.equal(ours, theirs)


def test_random_numbers():
    k = np.arange(1 << 14, dtype=np.int32)
    agree("tl.randint(42, a)", k, out=np.int32)
    agree("tl.rand(42, a)", k, out=F32)


REDUCED = ["tl.max(x, 1)", "tl.min(x, 1)", "tl.argmax(x, 1)", "tl.argmin(x, 1)", "tl.sum(x, 1)", "tl.xor_sum(x, 1)"]


@pytest.mark.parametrize("text", REDUCED)
def test_reductions_of_integers(text):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(OUT, X):\n"
        "    r, c = tl.arange(0, 32), tl.arange(0, 64)\n"
        "    x = tl.load(X + r[:, None] * 64 + c[None, :])\n"
        f"    tl.store(OUT + r, {text})\n"
    )
    x = np.random.default_rng(0).integers(-5, 5, (32, 64)).astype(np.int32)
    ours, theirs = on_both(kernel, (1,), np.zeros(32, np.int32), x)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("dtype", [F32, F16])
def test_extremes_of_blocks_with_nan(dtype):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(OUT, X):\n"
        "    r, c = tl.arange(0, 32), tl.arange(0, 64)\n"
        "    x = tl.load(X + r[:, None] * 64 + c[None, :])\n"
        "    tl.store(OUT + r, tl.max(x, 1))\n"
        "    tl.store(OUT + 32 + r, tl.min(x, 1))\n"
    )
    x = np.random.default_rng(0).standard_normal((32, 64)).astype(dtype)
    x[::3, ::5] = np.nan
    x[31] = np.nan
    ours, theirs = on_both(kernel, (1,), np.zeros(64, dtype), x)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)


def test_histograms_of_what_lies_within():
    kernel = kernel_from(
        "@triton.jit\ndef kernel(OUT, X):\n"
        "    k = tl.arange(0, 256)\n"
        "    x = tl.load(X + k)\n"
        "    tl.store(OUT + tl.arange(0, 16), tl.histogram(x, 16, mask=x % 3 != 0))\n"
    )
    x = np.random.default_rng(0).integers(0, 16, 256).astype(np.int32)
    ours, theirs = on_both(kernel, (1,), np.zeros(16, np.int32), x)
    assert torch.equal(ours, theirs)
