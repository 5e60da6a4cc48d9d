"""Blocks that are not affine under a box: rows by their numbers, any masks, strides, and squares turned round."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.native.launches import on_both
from tests.native.lowering.test_access_checks import natively

DTYPES = [torch.float32, torch.int8]


@triton.jit
def chosen_rows(x, rows, lengths, out, width, stride, R: tl.constexpr, C: tl.constexpr):
    """Each program some rows by their numbers, each as far as its length says."""
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, C)
    number, length = tl.load(rows + r), tl.load(lengths + r)
    mask = (c[None, :] < length[:, None]) & (number >= 0)[:, None]
    value = tl.load(x + (number[:, None] * stride + c[None, :]), mask=mask, other=3)
    tl.store(out + r[:, None] * width + c[None, :], value + 1, mask=c[None, :] < width)


def rows_and_lengths(count: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(-2, 30, (count,), generator=generator, dtype=torch.int32)
    return rows, torch.randint(0, width + 1, (count,), generator=generator, dtype=torch.int32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [64, 37])
def test_rows_by_their_numbers_are_read_as_far_as_they_go(dtype, width):
    x = torch.rand(30, width).mul(50).to(dtype)
    rows, lengths = rows_and_lengths(16, width)
    out = torch.zeros(16, width, dtype=dtype)
    natively(lambda: chosen_rows[(4,)](x, rows, lengths, out, width, width, R=4, C=64), out)


@pytest.mark.parametrize(("row", "length"), [(30, 1), (29, 38), (-1, 5), (2**28, 4)])
def test_a_row_that_is_not_there_is_told_in_the_same_words(row, length):
    x, out = torch.rand(30, 37), torch.zeros(16, 37)
    rows, lengths = rows_and_lengths(16, 37)
    rows[6], lengths[6] = row, length
    error, ran = on_both(lambda: chosen_rows[(4,)](x, rows, lengths, out, 37, 37, R=4, C=64))
    assert bool(ran.handed) == (row >= 0)
    assert ("out of bounds" in error) == (row >= 0)


@triton.jit
def round_the_end(x, first, out, BLOCK: tl.constexpr):
    """Offsets that come round in 32 bits; then they are below zero and masked out."""
    i = tl.arange(0, BLOCK)
    offsets = tl.load(first + tl.arange(0, 1)) + i
    tl.store(out + i, tl.load(x + offsets, mask=offsets > 0, other=-1.0))


@pytest.mark.parametrize("start", [2**31 - 8, 2**31 - 200, 100, -8])
def test_a_row_that_comes_round_in_its_integers_is_read_as_numpy_reads_it(start):
    first = torch.tensor([start], dtype=torch.int32)
    x, out = torch.rand(300), torch.zeros(128)
    error, _ = on_both(lambda: round_the_end[(1,)](x, first, out, BLOCK=128))
    assert bool(error) == (start > 2**30)


@triton.jit
def scattered_rows(x, rows, out, width, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    number = tl.load(rows + r)
    value = tl.load(x + r[:, None] * width + c[None, :], mask=c[None, :] < width)
    tl.store(out + number[:, None] * width + c[None, :], value, mask=(c[None, :] < width) & (number[:, None] % 3 != 0))


@pytest.mark.parametrize("width", [64, 50])
def test_rows_are_stored_by_their_numbers_and_the_last_one_stays(width):
    x, out = torch.rand(8, width), torch.zeros(12, width)
    rows = torch.tensor([3, 7, 7, 1, 10, 2, 1, 11])
    natively(lambda: scattered_rows[(1,)](x, rows, out, width, R=8, C=64), out)
    error, ran = on_both(lambda: scattered_rows[(1,)](x, rows * 2 + 2, out, width, R=8, C=64))
    assert "out of bounds" in error and ran.handed == 1


@triton.jit
def triangle(x, out, D, B: tl.constexpr):
    r, c = tl.program_id(0) * 16 + tl.arange(0, 16), tl.arange(0, B)
    mask = r[:, None] >= c[None, :]
    place = r[:, None] * D + c[None, :]
    tl.store(out + place, tl.load(x + place, mask=mask, other=0) * 2, mask=mask)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_may_have_any_shape(dtype):
    x, out = torch.rand(32, 32).mul(50).to(dtype), torch.zeros(32, 32, dtype=dtype)
    natively(lambda: triangle[(2,)](x, out, 32, B=32), out)
    short = torch.zeros(31 * 32 + 31, dtype=dtype)
    error, ran = on_both(lambda: triangle[(2,)](x, short, 32, B=32))
    assert "out of bounds" in error and ran.handed


@triton.jit
def strided(x, out, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i * step, mask=i < n, other=7), mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [3, 16, 0])
def test_elements_may_lie_any_stride_apart(dtype, step):
    x, out = torch.rand(4000).mul(50).to(dtype), torch.zeros(200, dtype=dtype)
    natively(lambda: strided[(2,)](x, out, 200, step, BLOCK=128), out)
    if step:
        error, ran = on_both(lambda: strided[(2,)](x[: 199 * step].clone(), out, 200, step, BLOCK=128))
        assert "out of bounds" in error and ran.handed


@triton.jit
def turned(x, out, M, N, HOW: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i, j = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * C + tl.arange(0, C)
    mask = (i[:, None] < M) & (j[None, :] < N)
    value = tl.load(x + i[:, None] * N + j[None, :], mask=mask, other=0)
    if HOW == "trans":
        tl.store(out + j[:, None] * M + i[None, :], tl.trans(value), mask=(j[:, None] < N) & (i[None, :] < M))
    elif HOW == "in columns":
        tl.store(out + j[None, :] * M + i[:, None], value + value, mask=mask)
    else:
        tl.store(x + i[:, None] * N + j[None, :], value + i[:, None].to(value.dtype), mask=mask)
        tl.store(out + j[None, :] * M + i[:, None], value, mask=mask & ((i[:, None] + j[None, :]) % 3 != 1))


@pytest.mark.parametrize("how", ["trans", "in columns", "twice"])
@pytest.mark.parametrize(
    ("height", "width", "dtype"), [(32, 16, torch.float32), (16, 16, torch.float16), (8, 4, torch.float32)]
)
@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (40, 50)])
def test_blocks_are_turned_round(how, height, width, dtype, rows, columns):
    x, out = torch.rand(rows, columns).mul(50).to(dtype), torch.zeros(columns, rows, dtype=dtype)
    grid = (triton.cdiv(rows, height), triton.cdiv(columns, width))
    natively(lambda: turned[grid](x, out, rows, columns, HOW=how, B=height, C=width), x, out)
