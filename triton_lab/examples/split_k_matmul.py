"""Split-K matrix product: several programs share one output tile and add to it with atomics.

With few output tiles and a long K, one program per tile leaves a GPU idle. Splitting K gives work to more programs,
which add their partial sums in memory. Float addition is not associative, so the last bits depend on the order in
which the programs finish.
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
def split_k_kernel(
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
    SPLIT: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    in_rows, in_columns = (m < M)[:, None], (n < N)[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    # The shares interleave, so that programs of one tile read neighbouring columns of A at the same time.
    for start in range(tl.program_id(2) * BLOCK_K, K, SPLIT * BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
        b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=in_rows & (k < K)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K)[:, None] & in_columns, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    # No program reads C before the launch ends, so these additions need no memory order.
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], accumulator, mask=in_rows & in_columns, sem="relaxed")


def split_k_matmul(a: torch.Tensor, b: torch.Tensor, split: int = 4) -> torch.Tensor:
    """a @ b in float32 for (M, K) and (K, N) of one floating dtype and any strides, K shared by `split` programs."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros((m, n), device=a.device, dtype=torch.float32)  # zeros: the programs add
    block_m, block_n, block_k = 32, 32, 32
    split_k_kernel[(triton.cdiv(m, block_m), triton.cdiv(n, block_n), split)](
        a,
        b,
        c,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        SPLIT=split,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
    )
    return c


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """float16 (40, 300) @ (300, 50), or (64, 4096) @ (4096, 64)."""
    m, n, k = {"small": (40, 50, 300), "bench": (64, 64, 4096)}[size]
    generator = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(shape, generator=generator).to(device, torch.float16) for shape in ((m, k), (k, n)))
    return {"a": a, "b": b}


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product in float64, rounded to float32."""
    return (a.double() @ b.double()).float()


# Products of float16 are exact in float32; what remains is adding up to 4,096 of them, in an order that may change.
EXAMPLES = (
    Example("split_k_matmul", "Split-K matrix product with atomics", split_k_matmul, reference, inputs, 2e-5, 1e-3),
)
