"""What Triton does not compile: told in words, with the line."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.mistakes.mistake import mistake


@triton.jit
def odd_block_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)  # BUG


@mistake(odd_block_kernel, "refused", says="is not a power of 2")
def block_no_power_of_two() -> None:
    """The block is made as large as the tensor."""
    odd_block_kernel[(1,)](torch.ones(100), BLOCK=100)


@triton.jit
def misspelt_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 0.0, mask=offset < n)  # BUG  # noqa: F821


@mistake(misspelt_kernel, "refused", says="did you mean `offsets`?")
def misspelt_name() -> None:
    """`offset` for `offsets`."""
    misspelt_kernel[(1,)](torch.ones(100), 100, BLOCK=128)


@triton.jit
def shapes_kernel(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M))
    y = tl.load(y_ptr + tl.arange(0, N))
    tl.store(x_ptr + tl.arange(0, M), x + y)  # BUG


@mistake(shapes_kernel, "refused", says="`x` is 64 since line")
def shapes_that_do_not_fit() -> None:
    """64 numbers and 32."""
    shapes_kernel[(1,)](torch.ones(64), torch.ones(32), M=64, N=32)


@triton.jit
def halves_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets / 2, 0.0)  # BUG


@mistake(halves_kernel, "refused", says="Use `//` instead of `/`")
def offsets_that_are_floats() -> None:
    """`/` makes floats."""
    halves_kernel[(1,)](torch.ones(64), BLOCK=64)


@triton.jit
def plain_block_kernel(x_ptr, BLOCK):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)  # BUG


@mistake(plain_block_kernel, "refused", says="`BLOCK: tl.constexpr`")
def missing_constexpr() -> None:
    """The size of a block must be known when the kernel is compiled."""
    plain_block_kernel[(1,)](torch.ones(64), BLOCK=64)


@triton.jit
def zero_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


@mistake(zero_kernel, "refused", says="positive strides")
def reversed_array() -> None:
    """A tensor has no negative strides, so it cannot share the memory of such an array."""
    import numpy as np

    zero_kernel[(1,)](np.ones(64, dtype=np.float32)[::-1], BLOCK=64)  # BUG


@triton.jit
def rows_kernel(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(out_ptr + rows, tl.sum(x, axis=0))  # BUG


@mistake(rows_kernel, "refused", says="`rows` is 4 since line")
def sum_along_the_wrong_axis() -> None:
    """Axis 0 goes, and the columns stay."""
    rows_kernel[(1,)](torch.ones(4, 8), torch.zeros(4), ROWS=4, COLUMNS=8)


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + n[:, None] * K + k[None, :])
    c = tl.dot(a, b)  # BUG
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@mistake(product_kernel, "refused", says="M × K with one of K × N")
def dot_of_wrong_shapes() -> None:
    """B lies there transposed."""
    product_kernel[(1,)](torch.ones(16, 32), torch.ones(16, 32), torch.zeros(16, 16), M=16, N=16, K=32)
