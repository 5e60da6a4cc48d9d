"""Kernels that promise not to write through some of their pointers (``tl.const``), as public libraries have them."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_lab as lab


@triton.jit
def rotary_embedding(
    x: tl.const,
    cosine: tl.const,
    sine: tl.const,
    out,
    stride_token,
    stride_head,
    heads,
    HALF: tl.constexpr,
    H: tl.constexpr,
):
    """Turn the two halves of every head of a token by the token's angles."""
    token = tl.program_id(0)
    head, k = tl.arange(0, H)[:, None], tl.arange(0, HALF)[None, :]
    mask = head < heads
    angles = token * HALF + tl.arange(0, HALF)
    c, s = tl.load(cosine + angles)[None, :], tl.load(sine + angles)[None, :]
    place = token * stride_token + head * stride_head + k
    left = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
    right = tl.load(x + place + HALF, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + place, (left * c - right * s).to(out.dtype.element_ty), mask=mask)
    tl.store(out + place + HALF, (right * c + left * s).to(out.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm(x: tl.const, w: tl.const, b: tl.const, out, n, eps, BLOCK: tl.constexpr):
    """A row of a program; pointers move in the loop, as they do in norms of long rows."""
    row = x + tl.program_id(0) * n
    total = tl.zeros((BLOCK,), tl.float32)
    square = tl.zeros((BLOCK,), tl.float32)
    here = row + tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        value = tl.load(here, mask=start + tl.arange(0, BLOCK) < n, other=0.0).to(tl.float32)
        total += value
        square += value * value
        here += BLOCK
    mean = tl.sum(total) / n
    scale = tl.rsqrt(tl.sum(square) / n - mean * mean + eps)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK)
        value = (tl.load(row + k, mask=k < n, other=0.0).to(tl.float32) - mean) * scale
        value = value * tl.load(w + k, mask=k < n) + tl.load(b + k, mask=k < n)
        tl.store(out + tl.program_id(0) * n + k, value, mask=k < n)


@triton.jit
def choices(x: tl.const, y: tl.const, out, n, flag):
    """A choice between const pointers, by a branch and by lanes, and a descriptor of one."""
    k = tl.arange(0, 16)
    chosen = x if flag > 0 else y
    descriptor = tl.make_tensor_descriptor(x, [16], [1], [16])
    value = tl.load(chosen + k) + descriptor.load([0]) + tl.load(tl.where(k < n, x + k, y + k))
    tl.store(out + k, value)


@triton.jit
def store_through(x: tl.const, out):
    tl.store(x, tl.load(out))


@triton.jit
def add_through(x: tl.const, out):
    tl.atomic_add(x + tl.arange(0, 4), tl.load(out))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rotary_embedding(dtype):
    torch.manual_seed(0)
    tokens, heads, half = 7, 3, 16
    x = torch.randn(tokens, heads, 2 * half).to(dtype)
    angle = torch.outer(torch.arange(tokens), 10000.0 ** (-torch.arange(half) / half))
    out = torch.empty_like(x)
    rotary_embedding[(tokens,)](
        x, angle.cos(), angle.sin(), out, x.stride(0), x.stride(1), heads, HALF=half, H=4
    )  # fmt: skip
    pair = torch.view_as_complex(torch.stack(x.double().chunk(2, -1), -1).contiguous())
    turned = pair * torch.polar(torch.ones_like(angle, dtype=torch.float64), angle.double())[:, None]
    expected = torch.cat([turned.real, turned.imag], -1)
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=1e-5 if dtype == torch.float32 else 3e-2)


def test_layer_norm_by_a_pointer_that_moves():
    torch.manual_seed(0)
    x, w, b = torch.randn(5, 300), torch.randn(300), torch.randn(300)
    out = torch.empty_like(x)
    with lab.record() as launches:
        layer_norm[(5,)](x, w, b, out, 300, 1e-5, BLOCK=64)
    torch.testing.assert_close(out, torch.nn.functional.layer_norm(x, (300,), w, b))
    (launch,) = launches
    assert not launch.findings and {access.argument for access in launch.accesses} == {"x", "w", "b", "out"}


@pytest.mark.parametrize("flag", [0, 1])
def test_a_choice_of_const_pointers(flag):
    x, y, out = torch.arange(16.0), torch.arange(16.0) * 100, torch.empty(16)
    choices[(1,)](x, y, out, 5, flag)
    assert torch.equal(out, (x if flag else y) + x + torch.where(torch.arange(16) < 5, x, y))


@pytest.mark.parametrize("kernel", [store_through, add_through])
def test_what_is_stored_through_one_is_refused_as_for_a_gpu(kernel):
    with pytest.raises(triton.CompilationError, match="constant pointer") as here:
        kernel[(1,)](torch.zeros(4), torch.ones(4))
    source = ASTSource(kernel, {"x": "*kfp32", "out": "*fp32"}, {})
    with pytest.raises(triton.CompilationError) as there:
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"enable_fp_fusion": True})
    assert str(here.value) == str(there.value)
