"""Tensor descriptors, made on the host or in the kernel, and the block pointers of older Tritons."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.interpreter.support import kernel_from

DTYPES = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.float16, torch.bfloat16, torch.float32]


@triton.jit
def copy_block(x_ptr, out_ptr, M, N, stride, row, column, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [BM, BN], padding_option=PAD)
    value = x.load([row, column])
    tl.store(out_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], value)


def window(x, row, column, height, width, fill=0):
    """The block of ``x`` at (row, column); ``fill`` where there is no tensor."""
    out = torch.full((height, width), fill, dtype=x.dtype)
    for i in range(max(0, -row), min(height, x.shape[0] - row)):
        for j in range(max(0, -column), min(width, x.shape[1] - column)):
            out[i, j] = x[row + i, column + j]
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("corner", [(0, 0), (5, 7), (-3, -2), (20, 40), (30, 0)])
def test_loads_outside_the_tensor_give_zeros(dtype, corner):
    x = torch.arange(24 * 48).reshape(24, 48).remainder(100).to(dtype)
    out = torch.full((8, 16), 9).to(dtype)
    copy_block[(1,)](x, out, 24, 48, 48, *corner, 8, 16, "zero")
    torch.testing.assert_close(out, window(x, *corner, 8, 16), rtol=0, atol=0)


def test_padding_may_be_nan():
    x = torch.rand(24, 48)
    out = torch.zeros(8, 16)
    copy_block[(1,)](x, out, 24, 48, 48, 20, 40, 8, 16, "nan")
    torch.testing.assert_close(out, window(x, 20, 40, 8, 16, float("nan")), rtol=0, atol=0, equal_nan=True)


@triton.jit
def write_block(x_ptr, out, row, column, BM: tl.constexpr, BN: tl.constexpr, KIND: tl.constexpr):
    value = tl.load(x_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    if KIND == "store":
        out.store([row, column], value)
    elif KIND == "add":
        out.atomic_add([row, column], value)
    elif KIND == "min":
        out.atomic_min([row, column], value)
    elif KIND == "max":
        out.atomic_max([row, column], value)
    elif KIND == "and":
        out.atomic_and([row, column], value)
    elif KIND == "or":
        out.atomic_or([row, column], value)
    elif KIND == "xor":
        out.atomic_xor([row, column], value)


OPERATIONS = {
    "store": lambda old, new: new,
    "add": torch.add,
    "min": torch.minimum,
    "max": torch.maximum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
}


@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("corner", [(2, 4), (-3, -2), (20, 40)])
def test_what_lies_outside_is_not_written(kind, corner):
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-1000, 1000, (8, 16), dtype=torch.int32, generator=generator)
    out = torch.randint(-1000, 1000, (24, 48), dtype=torch.int32, generator=generator)
    expected = out.clone()
    for i in range(8):
        for j in range(16):
            p, q = corner[0] + i, corner[1] + j
            if 0 <= p < 24 and 0 <= q < 48:
                expected[p, q] = OPERATIONS[kind](expected[p, q], x[i, j])
    write_block[(1,)](x, TensorDescriptor.from_tensor(out, [8, 16]), *corner, 8, 16, kind)
    assert torch.equal(out, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_program_adds_to_one_block(dtype):
    out = torch.zeros(8, 16, dtype=dtype)
    write_block[(7,)](torch.ones(8, 16, dtype=dtype), TensorDescriptor.from_tensor(out, [8, 16]), 0, 0, 8, 16, "add")
    assert (out == 7).all()


def test_unsigned_extremes_compare_as_unsigned():
    x = torch.full((8, 16), 2**32 - 1, dtype=torch.uint32)
    out = torch.full((8, 16), 5, dtype=torch.uint32)
    write_block[(1,)](x, TensorDescriptor.from_tensor(out, [8, 16]), 0, 0, 8, 16, "max")
    assert (out.to(torch.int64) == 2**32 - 1).all()
    write_block[(1,)](
        torch.full((8, 16), 7, dtype=torch.uint32), TensorDescriptor.from_tensor(out, [8, 16]), 0, 0, 8, 16, "min"
    )
    assert (out.to(torch.int64) == 7).all()


@triton.jit
def copy_through(x, out, BM: tl.constexpr, BN: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    tl.static_assert(x.block_shape[0] == BM)
    value = x.load([row, column])
    out.store([row, column], value + (x.shape[0] - x.shape[0]).to(value.dtype))


@pytest.mark.parametrize("shape", [(16, 32), (24, 48), (5, 20)])
def test_a_descriptor_from_the_host_knows_its_strides(shape):
    whole = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64)
    x = whole[: shape[0], : shape[1]]
    out = torch.zeros(64, 64)[: shape[0], : shape[1]]
    described = [TensorDescriptor(t, list(t.shape), list(t.stride()), [8, 16]) for t in (x, out)]
    copy_through[(8, 4)](*described, 8, 16)
    assert torch.equal(out, x)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_blocks_of_every_rank(rank):
    sizes, extents = [2, 2, 4, 4, 16][-rank:], [1, 2, 3, 4, 13][-rank:]
    extent_names, stride_names = [f"n{k}" for k in range(rank)], [f"s{k}" for k in range(rank)]
    index = "0"
    for k in range(rank):
        axes = ", ".join(":" if j == k else "None" for j in range(rank))
        index += f" + tl.arange(0, {sizes[k]})[{axes}] * {int(np.prod(sizes[k + 1 :]))}"
    strides = ", ".join([*stride_names[:-1], "1"])
    kernel = kernel_from(
        f"@triton.jit\ndef kernel(X, OUT, {', '.join(extent_names + stride_names)}):\n"
        f"    d = tl.make_tensor_descriptor(X, [{', '.join(extent_names)}], [{strides}], {sizes})\n"
        f"    tl.store(OUT + {index}, d.load([{', '.join('0' * rank)}]))\n"
    )
    x = torch.rand(*[e + 3 for e in extents[:-1]], 16)[tuple(slice(e) for e in extents)]
    out = torch.full(sizes, 7.0)
    kernel[(1,)](x, out, *x.shape, *x.stride())
    expected = torch.zeros(sizes)
    expected[tuple(slice(e) for e in extents)] = x
    assert torch.equal(out, expected)


@triton.jit
def rows(x_ptr, index_ptr, out_ptr, M, N, column, K: tl.constexpr, W: tl.constexpr, SCATTER: tl.constexpr):
    index = tl.load(index_ptr + tl.arange(0, K))
    where = tl.arange(0, K)[:, None] * W + tl.arange(0, W)[None, :]
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, W])
    if SCATTER:
        x.scatter(tl.load(out_ptr + where), index, column)
    else:
        tl.store(out_ptr + where, x.gather(index, column))


def test_rows_are_gathered_and_scattered():
    x = torch.rand(20, 40)
    index = torch.tensor([3, 19, 0, 25, -1, 7, 7, 2], dtype=torch.int32)
    out = torch.full((8, 32), 9.0)
    rows[(1,)](x, index, out, 20, 40, 16, 8, 32, False)
    expected = torch.zeros(8, 32)
    for k, row in enumerate(index.tolist()):
        if 0 <= row < 20:
            expected[k, :24] = x[row, 16:]
    assert torch.equal(out, expected)
    values, before = torch.rand(8, 32), x.clone()
    rows[(1,)](x, index, values, 20, 40, 16, 8, 32, True)
    for k, row in enumerate(index.tolist()):
        if 0 <= row < 20:
            before[row, 16:] = values[k, :24]
    assert torch.equal(x, before)


def test_descriptors_go_through_loops_branches_and_calls():
    kernel = kernel_from(
        "@triton.jit(noinline=True)\n"
        "def total(d, row):\n"
        "    return tl.sum(d.load([row, 0]).to(tl.float32))\n\n"
        "@triton.jit\n"
        "def kernel(A, B, OUT, n):\n"
        "    pid = tl.program_id(0)\n"
        "    a = tl.make_tensor_descriptor(A, [8, 16], [16, 1], [1, 16])\n"
        "    b = tl.make_tensor_descriptor(B, [8, 16], [16, 1], [1, 16])\n"
        "    if pid % 2 == 0:\n"
        "        d = a\n"
        "    else:\n"
        "        d = b\n"
        "    s = 0.0\n"
        "    for i in range(n):\n"
        "        s += total(d, i)\n"
        "    tl.store(OUT + pid, s)\n"
    )
    a, b = torch.rand(8, 16), torch.rand(8, 16)
    out = torch.zeros(4)
    kernel[(4,)](a, b, out, 5)
    sums = [a[:5].sum(), b[:5].sum()]
    torch.testing.assert_close(out, torch.stack(sums * 2))


HAS_BLOCK_POINTERS = tuple(int(v) for v in triton.__version__.split(".")[:2]) < (3, 8)


@pytest.mark.skipif(not HAS_BLOCK_POINTERS, reason="this Triton has tensor descriptors in their place")
class TestBlockPointers:
    @pytest.mark.parametrize("dtype", [torch.int32, torch.float16, torch.float32])
    @pytest.mark.parametrize("padding", ["", "zero", "nan"])
    def test_checked_edges(self, dtype, padding):
        if padding == "nan" and dtype == torch.int32:
            padding = "zero"
        kernel = kernel_from(
            "@triton.jit\n"
            "def kernel(X, OUT, M, N, row, column):\n"
            "    x = tl.make_block_ptr(X, (M, N), (N, 1), (row, column), (8, 16), (1, 0))\n"
            f"    v = tl.load(x, boundary_check=(0, 1), padding_option={padding!r})\n"
            "    out = tl.make_block_ptr(OUT, (8, 16), (16, 1), (0, 0), (8, 16), (1, 0))\n"
            "    tl.store(out, v, boundary_check=(0, 1))\n"
        )
        x = torch.rand(20, 40).mul(100).to(dtype)
        for corner in ((0, 0), (16, 30), (5, 7)):
            out = torch.zeros(8, 16, dtype=dtype)
            kernel[(1,)](x, out, 20, 40, *corner)
            fill = float("nan") if padding == "nan" else 0
            torch.testing.assert_close(out, window(x, *corner, 8, 16, fill), rtol=0, atol=0, equal_nan=True)

    def test_a_product_that_advances(self):
        kernel = kernel_from(
            "@triton.jit\n"
            "def kernel(A, B, C, M, N, K):\n"
            "    a = tl.make_block_ptr(A, (M, K), (K, 1), (tl.program_id(0) * 16, 0), (16, 16), (1, 0))\n"
            "    b = tl.make_block_ptr(B, (K, N), (N, 1), (0, tl.program_id(1) * 16), (16, 16), (1, 0))\n"
            "    acc = tl.zeros((16, 16), tl.float32)\n"
            "    for k in range(0, K, 16):\n"
            "        acc = tl.dot(tl.load(a, boundary_check=(0, 1)), tl.load(b, boundary_check=(0, 1)), acc)\n"
            "        a = tl.advance(a, (0, 16))\n"
            "        b = tl.advance(b, (16, 0))\n"
            "    corner = (tl.program_id(0) * 16, tl.program_id(1) * 16)\n"
            "    c = tl.make_block_ptr(C, (M, N), (N, 1), corner, (16, 16), (1, 0))\n"
            "    tl.store(c, acc, boundary_check=(0, 1))\n"
        )
        a, b = torch.rand(40, 56), torch.rand(56, 24)
        c = torch.zeros(40, 24)
        kernel[(3, 2)](a, b, c, 40, 24, 56)
        torch.testing.assert_close(c, a @ b)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_each_program_may_describe_a_tensor_of_its_own(rank):
    """Other extents, strides and places for each: the block at any corner, held to slices of the same storage."""
    sizes = (2, 4, 8)[-rank:]
    names = [f"{name}{k}" for k in range(rank) for name in ("n", "s", "c")]
    loads = "".join(f"    {name} = tl.load(META + p * {3 * rank} + {k})\n" for k, name in enumerate(names))
    axes = [", ".join(":" if j == k else "None" for j in range(rank)) for k in range(rank)]
    steps = [int(np.prod(sizes[k + 1 :])) for k in range(rank)]
    index = " + ".join(f"tl.arange(0, {sizes[k]})[{axes[k]}] * {steps[k]}" for k in range(rank))
    extents, corner = (", ".join(f"{name}{k}" for k in range(rank)) for name in "nc")
    strides = ", ".join([*(f"s{k}" for k in range(rank - 1)), "1"])
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, Y, META, OUT):\n    p = tl.program_id(0)\n"
        f"{loads}"
        f"    x = tl.make_tensor_descriptor(X, [{extents}], [{strides}], [{', '.join(map(str, sizes))}])\n"
        f"    y = tl.make_tensor_descriptor(Y, [{extents}], [{strides}], [{', '.join(map(str, sizes))}])\n"
        f"    v = x.load([{corner}])\n"
        f"    tl.store(OUT + p * {int(np.prod(sizes))} + {index}, v)\n"
        f"    y.store([{corner}], v + 1000)\n"
    )
    generator = np.random.default_rng(rank)
    programs = 6
    meta = np.zeros((programs, rank, 3), np.int64)
    for program in range(programs):
        extents = generator.integers(1, 9, rank)
        meta[program, :, 0] = extents
        meta[program, :, 1] = [int(16 * 2 ** (rank - 2 - k) * (1 + program % 3) * 8) for k in range(rank - 1)] + [1]
        meta[program, :, 2] = generator.integers(-3, 7, rank)
    x = torch.arange(6000, dtype=torch.int32)
    out = torch.zeros(programs, *sizes, dtype=torch.int32)
    after = x.clone()
    kernel[(programs,)](x, after, torch.from_numpy(meta).int(), out)
    told = x.clone()
    for program, (shape, stride, corner) in enumerate(meta.transpose(0, 2, 1)):
        wanted = np.zeros(sizes, np.int32)
        for at in np.ndindex(*sizes):
            place = corner + at
            if ((place >= 0) & (place < shape)).all():
                wanted[at] = x[int((place * stride).sum())]
                told[int((place * stride).sum())] = wanted[at] + 1000
        assert (out[program].numpy() == wanted).all()
    assert torch.equal(after, told)
