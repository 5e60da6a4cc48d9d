"""Add one in place through strides: the kernel sees memory, not the tensor's shape.

A view made by `split` keeps the strides of the original tensor. The kernel takes these strides as arguments, so it
changes the view's elements in the original's storage. A `.contiguous()` copy has a storage of its own.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def add_one_kernel(
    x_ptr, rows, columns, row_stride, column_stride, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr
):
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    column = tl.arange(0, BLOCK_COLUMNS)
    # Logical coordinates become places in storage: this line is all that a stride means.
    offsets = row[:, None] * row_stride + column[None, :] * column_stride
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(x_ptr + offsets, x + 1.0, mask=mask)


def add_one(x: torch.Tensor, block_rows: int = 4) -> torch.Tensor:
    """Add 1 to every element of a 2-D floating-point tensor, in place, whatever its strides; returns `x`."""
    rows, columns = x.shape
    if x.numel():
        add_one_kernel[(triton.cdiv(rows, block_rows),)](
            x, rows, columns, *x.stride(), BLOCK_ROWS=block_rows, BLOCK_COLUMNS=triton.next_power_of_2(columns)
        )
    return x


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """The right part, (5, 6) or (1000, 768), of a split float32 tensor. The values count up from the seed."""
    rows, left, right = {"small": (5, 2, 6), "bench": (1000, 256, 768)}[size]
    whole = torch.arange(rows * (left + right), dtype=torch.float32).reshape(rows, left + right) + seed
    return {"x": whole.to(device)[:, left:]}  # the second part of `whole.split([left, right], dim=1)`


def reference(x: torch.Tensor, block_rows: int = 4) -> torch.Tensor:
    """The same in torch, out of place."""
    return x + 1.0


# One IEEE addition per element: equal to the last bit.
EXAMPLES = (Example("add_one", "Add one through strides", add_one, reference, inputs),)
