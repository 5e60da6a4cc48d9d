"""Products of tiles: within the bound of their sums, of integers to the bit; also in planes, and beyond float32."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError

import triton_lab as lab
from tests.interpreter.support import tensor
from tests.interpreter.test_dot import operand, scaled
from tests.native.harness import both
from tests.native.launches import on_both


@triton.jit
def product(a, b, c, out, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    if B:
        z = tl.arange(0, B)[:, None, None]
        x = tl.load(a + z * M * K + (tl.arange(0, M) * K)[None, :, None] + tl.arange(0, K)[None, None, :])
        y = tl.load(b + z * K * N + (tl.arange(0, K) * N)[None, :, None] + tl.arange(0, N)[None, None, :])
        at = z * M * N + (tl.arange(0, M) * N)[None, :, None] + tl.arange(0, N)[None, None, :]
    else:
        x = tl.load(a + (tl.arange(0, M) * K)[:, None] + tl.arange(0, K)[None, :])
        y = tl.load(b + (tl.arange(0, K) * N)[:, None] + tl.arange(0, N)[None, :])
        at = (tl.arange(0, M) * N)[:, None] + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.dot(x, y, tl.load(c + at), out_dtype=out.dtype.element_ty))


def launched(a, b, c, planes):
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]

    def launch():
        out = torch.zeros_like(c)
        product[(1,)](a, b, c, out, planes, m, n, k)
        return out

    expected, found, _ = both(launch)
    return expected, found


SHAPES = [(16, 16, 32), (64, 32, 32), (16, 128, 64)]
TYPES = [
    (torch.float32, torch.float32),
    (torch.float16, torch.float32),
    (torch.float16, torch.float16),
    (torch.bfloat16, torch.float32),
    (torch.float64, torch.float64),
    (torch.int8, torch.int32),
]


@pytest.mark.parametrize("planes", [0, 4])
@pytest.mark.parametrize(("given", "summed"), TYPES, ids=str)
def test_products_are_within_the_bound_of_their_sums(given, summed, planes):
    for m, n, k in SHAPES if not planes else SHAPES[:1]:
        torch.manual_seed(0)
        shapes = [(planes,) * bool(planes) + shape for shape in ((m, k), (k, n), (m, n))]
        if given == torch.int8:
            a, b = (torch.randint(-128, 128, shape, dtype=given) for shape in shapes[:2])
            c = torch.randint(-(1 << 20), 1 << 20, shapes[2], dtype=summed)
        else:
            a, b = (torch.randn(shape, dtype=torch.float64).to(given) for shape in shapes[:2])
            c = torch.randn(shapes[2], dtype=torch.float64).to(summed)
        expected, found = launched(a, b, c, planes)
        if given == torch.int8:
            assert torch.equal(expected, found)
            continue
        exact = a.double() @ b.double() + c.double()
        sizes = a.double().abs() @ b.double().abs() + c.double().abs()
        unit = {torch.float64: 2.0**-53}.get(summed, 2.0**-24)
        kept = {torch.float16: 2.0**-11}.get(summed, 0.0)
        # In whatever order, a sum of k + 1 numbers is off by no more than k + 1 roundings of the sum of their sizes.
        bound = (k + 1) * unit * sizes + kept * exact.abs() + (unit if given == torch.float64 else 0)
        assert ((found.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("planes", [0, 2])
def test_products_of_bfloat16_that_cancel_are_no_infinities(planes):
    shape = (planes,) * bool(planes) + (16, 16)
    a, b = torch.full(shape, 1e30, dtype=torch.bfloat16), torch.full(shape, 1e30, dtype=torch.bfloat16)
    b[..., ::2, :] = -1e30
    b[..., 0, 3] = 1.0
    expected, found = launched(a, b, torch.ones(shape), planes)
    assert torch.equal(expected.isinf(), found.isinf())
    assert torch.equal(expected[~expected.isinf()], found[~expected.isinf()])
    assert (found[..., 0] == 1).all()


@pytest.mark.parametrize("formats", ["e4m3 e5m2", "e2m1 bf16", "fp16 e2m1"])
def test_scaled_formats_have_numpys_numbers(formats):
    """Scales of zero, NaN and everything between."""
    rng = np.random.default_rng(0)
    left, right = formats.split()
    (a, _), (b, _) = operand(left, (32, 64), 1, 1, rng), operand(right, (64, 16), 0, 0, rng)
    a, b = a.reshape(32, -1), b.reshape(-1, 16)
    scales = [rng.integers(120, 131, (size, 2), dtype=np.uint8) for size in (32, 16)]
    scales[0][:2, 0] = [0, 255]

    def launch():
        out = torch.zeros(32, 16)
        given = tensor(a), tensor(scales[0]), tensor(b), tensor(scales[1]), out
        scaled[(1,)](*given, 32, 16, a.shape[1], b.shape[0], 2, left, right, 32, 16, True)
        return out

    expected, found, _ = both(launch)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
    assert expected[1].isnan().all()
    assert not expected[2:].isnan().any()


@triton.jit
def scaled_planes(a_ptr, sa_ptr, b_ptr, sb_ptr, out_ptr, FA: tl.constexpr, FB: tl.constexpr, KA: tl.constexpr,
                  KB: tl.constexpr, M: tl.constexpr, N: tl.constexpr, S: tl.constexpr, B: tl.constexpr):  # fmt: skip
    plane = tl.arange(0, B)[:, None, None]
    m, n, s = tl.arange(0, M)[None, :, None], tl.arange(0, N), tl.arange(0, S)[None, None, :]
    a = tl.load(a_ptr + plane * M * KA + m * KA + tl.arange(0, KA)[None, None, :])
    b = tl.load(b_ptr + plane * KB * N + tl.arange(0, KB)[None, :, None] * N + n[None, None, :])
    sa = tl.load(sa_ptr + plane * M * S + m * S + s)
    sb = tl.load(sb_ptr + plane * N * S + n[None, :, None] * S + s)
    out = tl.dot_scaled(a, sa, FA, b, sb, FB)
    tl.store(out_ptr + plane * M * N + m * N + n[None, None, :], out)


@pytest.mark.parametrize("formats", ["e4m3 e5m2", "e2m1 e2m1"])
def test_scaled_planes_are_each_a_product_of_its_own(formats):
    rng = np.random.default_rng(0)
    left, right = formats.split()
    planes, m, n, k = 4, 32, 16, 64
    sides = [
        [operand(*given, rng)[0] for _ in range(planes)] for given in ((left, (m, k), 1, 1), (right, (k, n), 0, 0))
    ]
    a, b = (np.stack(each) for each in sides)
    scales = [rng.integers(120, 131, (planes, size, 2), dtype=np.uint8) for size in (m, n)]

    def launch():
        out = torch.zeros(planes, m, n)
        given = tensor(a), tensor(scales[0]), tensor(b), tensor(scales[1]), out
        scaled_planes[(1,)](*given, left, right, a.shape[2], b.shape[1], m, n, 2, planes)
        return out

    try:
        expected, found, _ = both(launch)
    except CompilationError as error:
        if "must be a tensor of shape [32, 2]" not in str(error):
            raise
        pytest.skip("this Triton takes scales of two axes alone")
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    for plane in range(planes):
        alone = torch.zeros(m, n)
        given = tensor(a[plane]), tensor(scales[0][plane]), tensor(b[plane]), tensor(scales[1][plane]), alone
        scaled[(1,)](*given, m, n, a.shape[2], b.shape[1], 2, left, right, m, n, True)
        torch.testing.assert_close(found[plane], alone, rtol=1e-5, atol=1e-5)


@triton.jit
def product_and_sum(x, w, c, product, total, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    found = tl.dot(tl.load(x + at), tl.load(w + at), input_precision="ieee")
    tl.store(total + at, found + tl.load(c + at))
    tl.store(product + at, found)


def test_a_product_that_is_added_to_something_may_be_needed_by_itself() -> None:
    x, w, c = (torch.randint(-9, 9, (16, 16)).float() for _ in range(3))
    product, total = torch.zeros(16, 16), torch.zeros(16, 16)
    error, ran = on_both(lambda: product_and_sum[(1,)](x, w, c, product, total, N=16), product, total)
    with lab.limits(engine="native"):
        product_and_sum[(1,)](x, w, c, product, total, N=16)
    assert not error and ran.engine == "native" and torch.equal(product, x @ w) and torch.equal(total, x @ w + c)
