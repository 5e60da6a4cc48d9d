"""Matrix product with programs in grouped order, in float32, float16 and bfloat16. Backward by transposed strides.

If programs 0, 1, 2, ... computed tiles row by row, they would read all of B before the second row of A. In bands of
GROUP_M rows of tiles, column by column, neighbours share both their A and their B tiles, and the cache serves most
reads: the tiling picture of the output shows the order.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def grouped_order(program, tiles_m, tiles_n, GROUP_M: tl.constexpr):
    """The tile (row, column) of a program: bands of GROUP_M tile rows, each walked column by column."""
    programs_in_band = GROUP_M * tiles_n
    first_row = program // programs_in_band * GROUP_M
    rows_in_band = tl.minimum(tiles_m - first_row, GROUP_M)  # the last band may be lower
    within = program % programs_in_band
    return first_row + within % rows_in_band, within // rows_in_band


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    tile_m, tile_n = grouped_order(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP_M)
    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        inside = k < K - start
        a = tl.load(a_ptrs, mask=(m < M)[:, None] & inside[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=inside[:, None] & (n < N)[None, :], other=0.0)
        # "ieee": a GPU would otherwise cut float32 operands to tf32, 10 bits of mantissa.
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def matmul(
    a: torch.Tensor, b: torch.Tensor, block_m: int = 64, block_n: int = 64, block_k: int = 32, group_m: int = 8
) -> torch.Tensor:
    """a @ b for (M, K) and (K, N) of one floating dtype and any strides; accumulated in float32."""
    (m, k), n = a.shape, b.shape[1]
    assert b.shape[0] == k and a.dtype == b.dtype
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if c.numel():
        matmul_kernel[(triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)](
            a,
            b,
            c,
            m,
            n,
            k,
            *a.stride(),
            *b.stride(),
            *c.stride(),
            BLOCK_M=block_m,
            BLOCK_N=block_n,
            BLOCK_K=block_k,
            GROUP_M=group_m,
        )
    return c


def matmul_backward(a: torch.Tensor, b: torch.Tensor, dc: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of a and b. A transpose only swaps strides, so the forward kernel serves both."""
    return matmul(dc, b.T), matmul(a.T, dc)


class MatMul(torch.autograd.Function):
    """`MatMul.apply(a, b)`: forward and backward under autograd."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        return matmul(a, b)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b = ctx.saved_tensors
        return matmul_backward(a, b, gradients[0])


def _inputs(dtype: torch.dtype) -> Callable[[Size, int, str], dict[str, Any]]:
    def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
        """(70, 50) @ (50, 90), or 512^3."""
        m, n, k = {"small": (70, 90, 50), "bench": (512, 512, 512)}[size]
        generator = torch.Generator().manual_seed(seed)
        a, b = (torch.randn(shape, generator=generator).to(device, dtype) for shape in ((m, k), (k, n)))
        return {"a": a, "b": b}

    return inputs


def backward_inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """The operands of a float32 product and a gradient for it."""
    given = _inputs(torch.float32)(size, seed, device)
    generator = torch.Generator().manual_seed(seed + 1)
    dc = torch.randn((given["a"].shape[0], given["b"].shape[1]), generator=generator).to(device)
    return {**given, "dc": dc}


def reference(a: torch.Tensor, b: torch.Tensor, **blocks: int) -> torch.Tensor:
    """The product in float64, rounded once."""
    return (a.double() @ b.double()).to(a.dtype)


def backward_reference(a: torch.Tensor, b: torch.Tensor, dc: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients in torch."""
    return reference(dc, b.T), reference(a.T, dc)


# Half precisions: the accumulator is exact to 1e-5 here, so both results are one rounding from the true value and at
# most one unit in the last place apart: 2^-10 for float16, 2^-7 for bfloat16. Near zero the sums cancel and only the
# accumulation error counts: K = 512 terms of order 1, each rounded to 2^-24 of a sum of order sqrt(K).
EXAMPLES = (
    *(
        Example(f"matmul_{label}", f"Matrix product, {label}", matmul, reference, _inputs(dtype), rtol, 2e-4)
        for label, dtype, rtol in (
            ("float32", torch.float32, 2e-5),
            ("float16", torch.float16, 2.0**-10),
            ("bfloat16", torch.bfloat16, 2.0**-7),
        )
    ),
    Example(
        "matmul_backward", "Matrix product, backward", matmul_backward, backward_reference, backward_inputs, 2e-5, 2e-4
    ),
)
