"""Grouped GEMM: many products of different sizes in one launch, their addresses loaded from memory.

One launch per product would leave most of a GPU idle when the products are small. Here a fixed number P of programs
shares all tiles of all products: program p computes tiles p, p + P, p + 2P, ..., numbered through the whole group.
Sizes and addresses are data, so the kernel loads an integer and converts it to a pointer.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def grouped_gemm_kernel(
    a_addresses_ptr,
    b_addresses_ptr,
    c_addresses_ptr,
    sizes_ptr,
    products,
    PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    first_tile = 0  # of the current product, counted through the group
    for product in range(products):
        M = tl.load(sizes_ptr + product * 3)
        N = tl.load(sizes_ptr + product * 3 + 1)
        K = tl.load(sizes_ptr + product * 3 + 2)
        tiles_n = tl.cdiv(N, BLOCK_N)
        tiles = tl.cdiv(M, BLOCK_M) * tiles_n
        a_ptr = tl.load(a_addresses_ptr + product).to(tl.pointer_type(tl.float16))
        b_ptr = tl.load(b_addresses_ptr + product).to(tl.pointer_type(tl.float16))
        c_ptr = tl.load(c_addresses_ptr + product).to(tl.pointer_type(tl.float16))
        while tile < first_tile + tiles:
            m = (tile - first_tile) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            n = (tile - first_tile) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for start in range(0, K, BLOCK_K):
                k = start + tl.arange(0, BLOCK_K)
                a_ptrs = a_ptr + m[:, None] * K + k[None, :]
                b_ptrs = b_ptr + k[:, None] * N + n[None, :]
                a = tl.load(a_ptrs, mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
                b = tl.load(b_ptrs, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
                accumulator = tl.dot(a, b, accumulator)
            c_ptrs = c_ptr + m[:, None] * N + n[None, :]
            tl.store(c_ptrs, accumulator.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])
            tile += PROGRAMS
        first_tile += tiles


def grouped_gemm(
    a_group: Sequence[torch.Tensor], b_group: Sequence[torch.Tensor], programs: int = 8
) -> tuple[torch.Tensor, ...]:
    """[a @ b for a, b in the groups], all float16 and contiguous, of any 2-D shapes that fit."""
    assert all(each.is_contiguous() for each in (*a_group, *b_group))
    device = a_group[0].device
    sizes = [(len(a), b.shape[1], len(b)) for a, b in zip(a_group, b_group, strict=True)]
    c_group = tuple(torch.empty((m, n), device=device, dtype=torch.float16) for m, n, _ in sizes)

    def addresses(group: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.tensor([each.data_ptr() for each in group], device=device, dtype=torch.int64)

    grouped_gemm_kernel[(programs,)](
        addresses(a_group),
        addresses(b_group),
        addresses(c_group),
        torch.tensor(sizes, device=device, dtype=torch.int32),
        len(sizes),
        PROGRAMS=programs,
        BLOCK_M=32,
        BLOCK_N=32,
        BLOCK_K=32,
    )
    return c_group


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """Three products up to (70, 50, 40), or four up to 512^3."""
    sizes = {
        "small": [(20, 33, 40), (70, 50, 16), (5, 7, 9)],
        "bench": [(512, 512, 512), (256, 256, 256), (128, 512, 64), (64, 64, 1024)],
    }[size]
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn((rows, columns), generator=generator).to(device, torch.float16)

    return {"a_group": [matrix(m, k) for m, _, k in sizes], "b_group": [matrix(k, n) for _, n, k in sizes]}


def reference(a_group: Sequence[torch.Tensor], b_group: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The products in float64, rounded once."""
    return tuple((a.double() @ b.double()).to(a.dtype) for a, b in zip(a_group, b_group, strict=True))


# As for the float16 product: one unit in the last place, and the accumulator's error where the sum cancels.
EXAMPLES = (Example("grouped_gemm", "Grouped GEMM", grouped_gemm, reference, inputs, 2.0**-10, 2e-4),)
