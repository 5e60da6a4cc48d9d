"""How many programs run together is nobody's business: bits do not depend on it."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.support import bit_equal, kernel_from
from triton_lab.examples import all_examples


def normal(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


# Float atomics in the order of programs come out alike; a lock's holder may be another.
@pytest.mark.parametrize("example", all_examples(), ids=lambda example: example.name)
def test_every_example(example):
    bit_equal(lambda: example.run(**example.inputs("small", 0, "cpu")))


STATEMENTS = {
    "sum of rows": "tl.store(OUT + p * N + i, tl.sum(x, 1))",
    "sum of columns": "tl.store(OUT + p * N + i, tl.sum(x, 0))",
    "sum of a transpose": "tl.store(OUT + p * N + i, tl.sum(tl.trans(x), 1))",
    "sum of all": "tl.store(OUT + p * N + i, tl.sum(x))",
    "running sum": "tl.store(OUT + p * N + i, tl.sum(tl.cumsum(x, 0), 1))",
    "product": "tl.store(OUT + p * N + i, tl.sum(tl.dot(x, tl.trans(x)), 0))",
    "product with a shared block": "tl.store(OUT + p * N + i, tl.sum(tl.dot(x, y), 1))",
    "softmax": "tl.store(OUT + p * N + i, tl.max(tl.softmax(x), 1))",
    "of a shared block": "tl.store(OUT + p * N + i, tl.sum(y, 0) + tl.sum(y, 1) * p)",
    "a loop of its own length": """s = tl.sum(x, 1).to(tl.float32)
    for k in range(p % 5):
        s += tl.sum(x * k, 0)
    tl.store(OUT + p * N + i, s)""",
    "a branch": """s = tl.sum(x, 0)
    if p % 3 == 0:
        s = tl.sum(x + y, 1)
    tl.store(OUT + p * N + i, s)""",
}


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_sums_and_products_of_blocks(statement, dtype):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, OUT, N: tl.constexpr):\n"
        "    p, i = tl.program_id(0), tl.arange(0, N)\n"
        "    y = tl.load(X + i[:, None] * N + i[None, :])\n"
        "    x = tl.load(X + p * N * N + i[:, None] * N + i[None, :])\n"
        f"    {STATEMENTS[statement]}\n"
    )
    x = normal(20, 32, 32, dtype=dtype)

    def run():
        out = torch.zeros(20, 32)
        kernel[(20,)](x, out, 32)
        return out

    bit_equal(run)


@settings(max_examples=15, deadline=None)
@given(
    rows=st.sampled_from([1, 2, 8, 64]),
    columns=st.sampled_from([1, 2, 16, 128]),
    axis=st.sampled_from([0, 1]),
    row_stride=st.sampled_from([1, 130, 0]),
)
def test_sums_over_any_shape_and_stride(rows, columns, axis, row_stride):
    kernel = kernel_from(
        "@triton.jit\n"
        "def kernel(X, OUT, stride, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, K: tl.constexpr):\n"
        "    p, r, c = tl.program_id(0), tl.arange(0, R), tl.arange(0, C)\n"
        "    x = tl.load(X + p + r[:, None] * stride + c[None, :])\n"
        "    tl.store(OUT + p * K + tl.arange(0, K), tl.sum(x * 1.1, AXIS))\n"
    )
    x = normal(64 * 130 + 200)
    kept = columns if axis == 0 else rows

    def run():
        out = torch.zeros(15, kept)
        kernel[(15,)](x, out, row_stride, rows, columns, axis, kept)
        return out

    bit_equal(run)


@pytest.mark.usefixtures("on_numpy")
def test_the_helper_sees_a_difference():
    @triton.jit
    def racy(x, out):
        p = tl.program_id(0)
        tl.store(out + p, tl.load(x))
        tl.store(x, p)

    def run():
        out = torch.zeros(8, dtype=torch.int32)
        racy[(8,)](torch.full((1,), -1, dtype=torch.int32), out)
        return out

    with pytest.raises(AssertionError, match="differ"):
        bit_equal(run)
