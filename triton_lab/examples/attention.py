"""Fused attention, forward: softmax(q k^T / sqrt(d)) v without ever storing the matrix of scores.

A program computes BLOCK_M queries and loops over the keys. For each query it keeps the largest score so far, the sum
of the exponentials and the weighted sum of values. When a larger score appears, it scales the old sums down (the
online softmax of Milakov and Gimelshein, 2018). With a causal mask the loop ends at the diagonal, so programs differ
in the number of their iterations.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    tokens,
    scale,
    stride_qh,
    stride_qt,
    stride_kh,
    stride_kt,
    stride_vh,
    stride_vt,
    stride_oh,
    stride_ot,
    CAUSAL: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    query = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    channel = tl.arange(0, DIM)
    q_ptrs = q_ptr + head * stride_qh + query[:, None] * stride_qt + channel[None, :]
    q = tl.load(q_ptrs, mask=(query < tokens)[:, None], other=0.0)

    largest = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_M, DIM), dtype=tl.float32)
    # A query sees no key after itself, so the blocks right of the diagonal need no visit.
    end = tl.minimum(tokens, (tile + 1) * BLOCK_M) if CAUSAL else tokens
    for start in range(0, end, BLOCK_N):
        key = start + tl.arange(0, BLOCK_N)
        present = key < tokens
        k_ptrs = k_ptr + head * stride_kh + key[None, :] * stride_kt + channel[:, None]  # transposed as it is loaded
        k = tl.load(k_ptrs, mask=present[None, :], other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale
        visible = present[None, :]
        if CAUSAL:
            visible = visible & (query[:, None] >= key[None, :])
        scores = tl.where(visible, scores, float("-inf"))

        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        shrink = tl.exp2(largest - new_largest)  # 0 in the first block: exp2(-inf)
        weights = tl.exp2(scores - new_largest[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        v_ptrs = v_ptr + head * stride_vh + key[:, None] * stride_vt + channel[None, :]
        v = tl.load(v_ptrs, mask=present[:, None], other=0.0)
        accumulator = tl.dot(weights.to(v.dtype), v, accumulator * shrink[:, None], input_precision="ieee")
        largest = new_largest

    out = accumulator / total[:, None]
    out_ptrs = out_ptr + head * stride_oh + query[:, None] * stride_ot + channel[None, :]
    tl.store(out_ptrs, out.to(out_ptr.dtype.element_ty), mask=(query < tokens)[:, None])


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, block_m: int = 64, block_n: int = 64
) -> torch.Tensor:
    """Attention of (heads, tokens, dim) tensors of one dtype; dim a power of two from 16 on, the last stride 1."""
    heads, tokens, dim = q.shape
    assert all(each.stride(2) == 1 for each in (q, k, v))
    out = torch.empty((heads, tokens, dim), device=q.device, dtype=q.dtype)
    attention_kernel[(triton.cdiv(tokens, block_m), heads)](
        q,
        k,
        v,
        out,
        tokens,
        math.log2(math.e) / math.sqrt(dim),  # exp(x) = exp2(x log2 e), and exp2 is what the hardware has
        *q.stride()[:2],
        *k.stride()[:2],
        *v.stride()[:2],
        *out.stride()[:2],
        CAUSAL=causal,
        DIM=dim,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
    )
    return out


def _inputs(causal: bool) -> Callable[[Size, int, str], dict[str, Any]]:
    def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
        """float16 q, k and v of (2, 100, 32), or 4 heads of 1,024 tokens and 64 channels."""
        shape = {"small": (2, 100, 32), "bench": (4, 1024, 64)}[size]
        generator = torch.Generator().manual_seed(seed)
        q, k, v = (torch.randn(shape, generator=generator).to(device, torch.float16) for _ in range(3))
        return {"q": q, "k": k, "v": v, "causal": causal}

    return inputs


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, **blocks: int) -> torch.Tensor:
    """The same in torch: float32, rounded once."""
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q.float(), k.float(), v.float(), is_causal=causal).to(q.dtype)


# The weights, at most 1, are rounded to float16 before the product with v: an error of 2^-11 in each term, in sums
# whose weights add up to 1 and whose values are about 4 at most.
EXAMPLES = tuple(
    Example(f"attention_{label}", f"Fused attention, {label}", attention, reference, _inputs(causal), 2e-3, 2e-3)
    for label, causal in (("full", False), ("causal", True))
)
