"""Sparse times dense, with rows of different lengths: loop bounds are loaded from memory and differ between programs.

The sparse matrix is in compressed rows (CSR): `columns` and `values` list the nonzeros row by row, and row i has the
entries from `starts[i]` to `starts[i + 1]`. Such a nest has no affine bounds, so the polyhedral model cannot express
it; a block program can.
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
def sparse_matmul_kernel(
    starts_ptr, columns_ptr, values_ptr, dense_ptr, out_ptr, width, dense_stride, out_stride, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = j < width
    first = tl.load(starts_ptr + row)
    end = tl.load(starts_ptr + row + 1)
    if first == end:  # an empty row: nothing to add up, but the output must still be written
        tl.store(out_ptr + row * out_stride + j, tl.zeros((BLOCK,), dtype=tl.float32), mask=mask)
        return
    accumulator = tl.zeros((BLOCK,), dtype=tl.float32)
    for entry in range(first, end):
        column = tl.load(columns_ptr + entry)
        value = tl.load(values_ptr + entry)
        accumulator += value * tl.load(dense_ptr + column * dense_stride + j, mask=mask, other=0.0)
    tl.store(out_ptr + row * out_stride + j, accumulator, mask=mask)


def sparse_matmul(
    starts: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, dense: torch.Tensor, block: int = 64
) -> torch.Tensor:
    """CSR (int32 starts and columns, float32 values) times dense (inner, width), its last stride 1, float32."""
    assert dense.stride(1) == 1
    rows, width = len(starts) - 1, dense.shape[1]
    out = torch.empty((rows, width), device=dense.device, dtype=torch.float32)
    sparse_matmul_kernel[(rows, triton.cdiv(width, block))](
        starts, columns, values, dense, out, width, dense.stride(0), out.stride(0), BLOCK=block
    )
    return out


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """A random sparse (12, 20) or (512, 512) matrix, every fifth row empty, times (20, 70) or (512, 256)."""
    rows, inner, width = {"small": (12, 20, 70), "bench": (512, 512, 256)}[size]
    generator = torch.Generator().manual_seed(seed)
    keep = torch.rand((rows, inner), generator=generator) < torch.rand((rows, 1), generator=generator) * 0.2
    keep[::5] = False
    starts = torch.zeros(rows + 1, dtype=torch.int32)
    starts[1:] = keep.sum(dim=1).cumsum(dim=0)
    columns = keep.nonzero()[:, 1].to(torch.int32)
    values = torch.randn(len(columns), generator=generator)
    dense = torch.randn((inner, width), generator=generator)
    given = {"starts": starts, "columns": columns, "values": values, "dense": dense}
    return {name: tensor.to(device) for name, tensor in given.items()}


def reference(starts: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    """The same in torch: scatter the nonzeros into a dense matrix and multiply."""
    row = torch.repeat_interleave(torch.arange(len(starts) - 1, device=dense.device), starts.diff())
    matrix = torch.zeros((len(starts) - 1, dense.shape[0]), device=dense.device, dtype=torch.float64)
    matrix[row, columns.long()] = values.double()
    return (matrix @ dense.double()).float()


# float32 sums of at most a hundred products of order 1, each rounded to 2^-24.
EXAMPLES = (Example("sparse_matmul", "Sparse times dense, ragged rows", sparse_matmul, reference, inputs, 1e-5, 1e-5),)
