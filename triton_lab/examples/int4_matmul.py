"""Matrix product with 4-bit weights: two weights per byte, unpacked in the kernel before the dot.

For a small batch, reading the weights takes most of the time, and 4-bit weights are a quarter of float16's bytes.
Along K, row 2i is the low half of byte row i and row 2i + 1 the high half. Every `group` rows share a scale and a
zero point: weight = (nibble - zero) * scale.
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
def int4_matmul_kernel(
    a_ptr,
    packed_ptr,
    scale_ptr,
    zero_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, GROUP)
    byte_row = tl.arange(0, GROUP // 2)
    in_rows, in_columns = (m < M)[:, None], (n < N)[None, :]

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for group in range(0, K // GROUP):  # a step is a group: one scale and one zero point per column
        a_ptrs = a_ptr + m[:, None] * stride_am + (group * GROUP + k)[None, :] * stride_ak
        a = tl.load(a_ptrs, mask=in_rows, other=0.0)
        packed_ptrs = packed_ptr + (group * (GROUP // 2) + byte_row)[:, None] * N + n[None, :]
        packed = tl.load(packed_ptrs, mask=in_columns, other=0)
        # (GROUP / 2, N, 2), the halves last; moved beside the byte row and folded into it, they alternate along K.
        halves = tl.join(packed & 0xF, packed >> 4)
        nibble = tl.reshape(tl.permute(halves, (0, 2, 1)), (GROUP, BLOCK_N))
        scale = tl.load(scale_ptr + group * N + n, mask=n < N, other=0.0)
        zero = tl.load(zero_ptr + group * N + n, mask=n < N, other=0.0)
        b = (nibble.to(tl.float16) - zero[None, :]) * scale[None, :]
        accumulator = tl.dot(a, b, accumulator)

    tl.store(c_ptr + m[:, None] * N + n[None, :], accumulator.to(tl.float16), mask=in_rows & in_columns)


def int4_matmul(
    a: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, block_m: int = 32, block_n: int = 64
) -> torch.Tensor:
    """(M, K) float16 times K x N 4-bit weights: `packed` (K/2, N) uint8, `scale` and `zero` (K/group, N) float16."""
    (m, k), n = a.shape, packed.shape[1]
    groups = scale.shape[0]
    assert packed.shape[0] * 2 == k and k % groups == 0
    assert packed.is_contiguous() and scale.is_contiguous() and zero.is_contiguous()
    c = torch.empty((m, n), device=a.device, dtype=torch.float16)
    int4_matmul_kernel[(triton.cdiv(m, block_m), triton.cdiv(n, block_n))](
        a, packed, scale, zero, c, m, n, k, *a.stride(), GROUP=k // groups, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return c


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """(20, 96) @ (96, 70) with groups of 32, or (64, 1024) @ (1024, 512) with groups of 64."""
    m, n, k, group = {"small": (20, 70, 96, 32), "bench": (64, 512, 1024, 64)}[size]
    generator = torch.Generator().manual_seed(seed)
    given = {
        "a": torch.randn((m, k), generator=generator).half(),
        "packed": torch.randint(0, 256, (k // 2, n), generator=generator, dtype=torch.uint8),
        "scale": (torch.rand((k // group, n), generator=generator) * 0.1 + 0.01).half(),
        "zero": torch.randint(6, 10, (k // group, n), generator=generator).half(),
    }
    return {name: tensor.to(device) for name, tensor in given.items()}


def unpack(packed: torch.Tensor) -> torch.Tensor:
    """The (K, N) nibbles of a (K/2, N) uint8 tensor, low half first."""
    return torch.stack([packed & 0xF, packed >> 4], dim=1).reshape(-1, packed.shape[1])


def reference(a: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    """The same in torch: weights in float16, as the kernel makes them, product in float64."""
    group = packed.shape[0] * 2 // scale.shape[0]
    weights = (unpack(packed).half() - zero.repeat_interleave(group, 0)) * scale.repeat_interleave(group, 0)
    return (a.double() @ weights.double()).half()


# Equal float16 operands and a float32 accumulator: one unit in the last place of float16, and the accumulator's own
# error where the sum cancels.
EXAMPLES = (Example("int4_matmul", "Matrix product, 4-bit weights", int4_matmul, reference, inputs, 2.0**-10, 1e-4),)
