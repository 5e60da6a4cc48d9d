"""Right answers as other sources write them: Triton's tutorials, grid-stride loops, block pointers' successors."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.course.learners.register import right


@triton.jit
def _tutorial_kernel(x_ptr, y_ptr, output_ptr, n_elements, a, WHAT: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    if WHAT == "add":
        output = x + a
    elif WHAT == "axpy":
        output = x * a + tl.load(y_ptr + offsets, mask=mask)
    elif WHAT == "relu":
        output = tl.maximum(x, 0.0)
    else:
        output = tl.maximum(x * a, 0.0) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, output, mask=mask)


def _tutorial(x, y, what, a=0.0, block=1024):
    output = torch.empty_like(x)
    n_elements = output.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
    _tutorial_kernel[grid](x, y, output, n_elements, a, WHAT=what, BLOCK_SIZE=block)
    return output


@right("add_constant", "Triton's tutorial")
def _(x, value):
    return _tutorial(x, x, "add", value)


@right("scale_and_shift", "Triton's tutorial")
def _(x, y, a):
    return _tutorial(x, y, "axpy", a)


@right("relu", "Triton's tutorial")
def _(x):
    return _tutorial(x, x, "relu")


@right("fused", "Triton's tutorial")
def _(x, y, a):
    return _tutorial(x, y, "fused", a, block=256)


@triton.jit
def _stride_kernel(x_ptr, y_ptr, out_ptr, n, a, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    for block in tl.range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        if WHAT == "add":
            out = x + a
        elif WHAT == "axpy":
            out = x * a + tl.load(y_ptr + at, mask=at < n)
        elif WHAT == "relu":
            out = tl.where(x > 0, x, 0.0)
        else:
            out = x * x
        tl.store(out_ptr + at, out, mask=at < n)


def _strided(x, y, out, what, a=0.0):
    _stride_kernel[(6,)](x, y, out, x.numel(), a, WHAT=what, BLOCK=64)
    return out


@right("add_constant", "grid-stride loop")
def _(x, value):
    return _strided(x, x, torch.empty_like(x), "add", value)


@right("scale_and_shift", "grid-stride loop")
def _(x, y, a):
    return _strided(x, y, torch.empty_like(x), "axpy", a)


@right("relu", "grid-stride loop")
def _(x):
    return _strided(x, x, torch.empty_like(x), "relu")


@right("square_in_place", "grid-stride loop")
def _(x):
    _strided(x, x, x, "square")


@triton.jit
def _two_blocks_kernel(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 2 * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(x_ptr + at, mask=at < n)
    second = tl.load(x_ptr + at + BLOCK, mask=at + BLOCK < n)
    tl.store(out_ptr + at, first + value, mask=at < n)
    tl.store(out_ptr + at + BLOCK, second + value, mask=at + BLOCK < n)


@right("add_constant", "two blocks in a program")
def _(x, value):
    out = torch.empty_like(x)
    _two_blocks_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), value, BLOCK=64)
    return out


@triton.jit
def _tile_of_pairs_kernel(x_ptr, y_ptr, out_ptr, rows, columns, WHAT: tl.constexpr, TILE: tl.constexpr):
    across = tl.cdiv(columns, TILE)
    i = tl.program_id(0) // across * TILE + tl.arange(0, TILE)[:, None]
    j = tl.program_id(0) % across * TILE + tl.arange(0, TILE)[None, :]
    x = tl.load(x_ptr + i, mask=i < rows)
    y = tl.load(y_ptr + j, mask=j < columns)
    out = x + y if WHAT == "sum" else tl.where(x * y > 0, x * y, 0)
    tl.store(out_ptr + i * columns + j, out, mask=(i < rows) & (j < columns))


def _pairs(x, y, what):
    rows, columns = len(x), len(y)
    out = x.new_empty(rows, columns)
    programs = triton.cdiv(rows, 16) * triton.cdiv(columns, 16)
    if programs:
        _tile_of_pairs_kernel[(programs,)](x, y, out, rows, columns, WHAT=what, TILE=16)
    return out


@right("outer_sum", "one axis of programs for two of tiles")
def _(x, y):
    return _pairs(x, y, "sum")


@right("outer_relu", "one axis of programs for two of tiles")
def _(x, y):
    return _pairs(x, y, "relu")


@triton.jit
def _row_kernel(x_ptr, y_ptr, out_ptr, columns, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        y = tl.load(y_ptr + j, mask=j < columns)
        if WHAT == "bias":
            out = tl.load(x_ptr + row * columns + j, mask=j < columns) + y
        elif WHAT == "sum":
            out = tl.load(x_ptr + row) + y
        else:
            out = tl.maximum(tl.load(x_ptr + row) * y, 0.0)
        tl.store(out_ptr + row * columns + j, out, mask=j < columns)


@right("add_bias", "a program for each row")
def _(x, bias):
    out = torch.empty_like(x)
    _row_kernel[(x.shape[0],)](x, bias, out, x.shape[1], WHAT="bias", BLOCK=128)
    return out


@right("outer_sum", "a program for each row")
def _(x, y):
    out = torch.empty((len(x), len(y)), dtype=x.dtype)
    _row_kernel[(len(x),)](x, y, out, len(y), WHAT="sum", BLOCK=32)
    return out


@right("outer_relu", "a program for each row")
def _(x, y):
    out = torch.empty((len(x), len(y)), dtype=x.dtype)
    _row_kernel[(len(x),)](x, y, out, len(y), WHAT="relu", BLOCK=32)
    return out


@triton.jit
def _flipped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = n - (tl.program_id(0) + 1) * BLOCK
    at = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at >= 0)
    to = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + to, tl.flip(x), mask=to < n)


@right("reverse", "tl.flip")
def _(x):
    out = torch.empty_like(x)
    _flipped_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


@triton.jit
def _flat_kernel(x_ptr, out_ptr, n, columns, s0, s1, rows, TURN: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i, j = at // columns, at % columns
    x = tl.load(x_ptr + i * s0 + j * s1, mask=at < n)
    tl.store(out_ptr + (j * rows + i if TURN else at), x, mask=at < n)


@right("copy_any", "a flat grid")
def _(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    rows, columns = x.shape
    _flat_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), columns, *x.stride(), rows, TURN=False, BLOCK=128)
    return out


@right("transpose", "a flat grid")
def _(x):
    rows, columns = x.shape
    out = torch.empty((columns, rows), dtype=x.dtype)
    _flat_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), columns, *x.stride(), rows, TURN=True, BLOCK=128)
    return out


@right("copy_any", "the transpose read by rows")
def _(x):
    out = torch.empty(x.shape, dtype=x.dtype)
    rows, columns = x.shape
    t = x.t()
    _flat_kernel[(triton.cdiv(x.numel(), 64),)](t, out, x.numel(), rows, *t.stride(), columns, TURN=True, BLOCK=64)
    return out


@triton.jit
def _described_kernel(x, bias_ptr, out, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    at = j + tl.arange(0, COLUMNS)
    bias = tl.load(bias_ptr + at, mask=at < columns, other=0.0)
    out.store([i, j], x.load([i, j]) + bias[None, :])


@right("add_bias", "descriptors where they are allowed")
def _(x, bias):
    rows, columns = x.shape
    out = torch.empty_like(x)
    size = x.element_size()
    if columns * size % 16 or not x.numel() or x.data_ptr() % 16:
        _row_kernel[(rows,)](x, bias, out, columns, WHAT="bias", BLOCK=64)
        return out
    grid = triton.cdiv(rows, 8), triton.cdiv(columns, 32)
    one, two = (TensorDescriptor.from_tensor(tensor, [8, 32]) for tensor in (x, out))
    _described_kernel[grid](one, bias, two, columns, ROWS=8, COLUMNS=32)
    return out
