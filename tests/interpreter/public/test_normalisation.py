"""Normalisation kernels in the style of public libraries, forward and backward, against torch."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_forward(x, w, out, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < n
    value = tl.load(x + row * stride + column, mask=mask, other=0.0)
    wide = value.to(tl.float32)
    scale = tl.math.rsqrt(tl.sum(wide * wide, axis=0) / n + eps)
    tl.store(rstd + row, scale)
    weight = tl.load(w + column, mask=mask, other=0.0)
    tl.store(out + row * stride + column, (wide * scale).to(value.dtype) * weight, mask=mask)


@triton.jit
def rms_norm_backward(dy, x, w, rstd, dx, dw, stride, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Each program goes through its share of the rows and keeps a partial sum of the weight's gradient."""
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < n
    weight = tl.load(w + column, mask=mask, other=0.0).to(tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(program * ROWS, min((program + 1) * ROWS, rows)):
        gradient = tl.load(dy + row * stride + column, mask=mask, other=0.0).to(tl.float32)
        value = tl.load(x + row * stride + column, mask=mask, other=0.0).to(tl.float32)
        scale = tl.load(rstd + row)
        normal = value * scale
        scaled = gradient * weight
        back = scale * (scaled - normal * tl.sum(normal * scaled, axis=0) / n)
        tl.store(dx + row * stride + column, back.to(dx.dtype.element_ty), mask=mask)
        total += gradient * normal
    tl.store(dw + program * n + column, total, mask=mask)


def rms_norm(x, w, eps):
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps).to(x.dtype) * w


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rms_norm_and_its_gradients(dtype):
    torch.manual_seed(0)
    rows, n, per_program = 37, 200, 5
    x = torch.randn(rows, n, dtype=dtype, requires_grad=True)
    w = torch.randn(n, dtype=dtype, requires_grad=True)
    dy = torch.randn(rows, n, dtype=dtype)
    out, rstd = torch.empty_like(x), torch.empty(rows)
    rms_norm_forward[(rows,)](x.detach(), w.detach(), out.detach(), rstd, n, n, 1e-6, BLOCK=256)
    expected = rms_norm(x.double(), w.double(), 1e-6)
    expected.backward(dy.double())
    tolerance = 1e-5 if dtype == torch.float32 else 3e-2
    torch.testing.assert_close(out.double(), expected.detach(), rtol=tolerance, atol=tolerance)

    programs = triton.cdiv(rows, per_program)
    dx, dw = torch.empty(rows, n, dtype=dtype), torch.empty(programs, n)
    rms_norm_backward[(programs,)](dy, x.detach(), w.detach(), rstd, dx, dw, n, rows, n, ROWS=per_program, BLOCK=256)
    torch.testing.assert_close(dx, x.grad, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(dw.sum(0), w.grad.float(), rtol=tolerance, atol=5 * tolerance)


@triton.jit
def merge(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    """Welford's update for two parts (Chan et al.); either may be empty."""
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / count)
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def welford_layer_norm(x, out, mean_out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < n
        value = tl.load(x + row * n + column, mask=mask, other=0.0)
        mean, m2, count = merge(mean, m2, count, value, tl.zeros_like(value), mask.to(tl.float32))
    mean, m2, count = tl.reduce((mean, m2, count), 0, merge)
    scale = 1 / tl.sqrt(m2 / count + eps)
    tl.store(mean_out + row, mean)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * n + column, mask=column < n)
        tl.store(out + row * n + column, (value - mean) * scale, mask=column < n)


@pytest.mark.parametrize("n", [1, 63, 64, 1000])
def test_layer_norm_by_welford_merges(n):
    torch.manual_seed(1)
    x = torch.randn(9, n) * 3 + 1000
    out, mean = torch.empty_like(x), torch.empty(9)
    welford_layer_norm[(9,)](x, out, mean, n, 1e-5, BLOCK=64)
    torch.testing.assert_close(out, torch.layer_norm(x.double(), (n,), eps=1e-5).float(), rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(mean, x.mean(1))


@triton.jit
def group_norm(x, w, b, out, channels, size, eps, GROUP: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK: tl.constexpr):
    sample, group = tl.program_id(0), tl.program_id(1)
    channel = group * GROUP + tl.arange(0, BLOCK_C)
    on = tl.arange(0, BLOCK_C) < GROUP
    base = x + (sample * channels + channel)[:, None] * size
    total = tl.zeros((BLOCK_C, BLOCK), tl.float32)
    square = tl.zeros((BLOCK_C, BLOCK), tl.float32)
    for start in tl.range(0, size, BLOCK, num_stages=2):
        place = start + tl.arange(0, BLOCK)
        value = tl.load(base + place[None, :], mask=on[:, None] & (place < size)[None, :], other=0.0)
        total += value
        square += value * value
    count = GROUP * size
    mean = tl.sum(total) / count
    scale = tl.rsqrt(tl.sum(square) / count - mean * mean + eps)
    weight, bias = tl.load(w + channel, mask=on), tl.load(b + channel, mask=on)
    for start in tl.range(0, size, BLOCK):
        place = start + tl.arange(0, BLOCK)
        mask = on[:, None] & (place < size)[None, :]
        value = (tl.load(base + place[None, :], mask=mask) - mean) * scale * weight[:, None] + bias[:, None]
        tl.store(out + (sample * channels + channel)[:, None] * size + place[None, :], value, mask=mask)


def test_group_norm_of_groups_that_are_no_power_of_two():
    torch.manual_seed(2)
    x, w, b = torch.randn(2, 12, 5, 7), torch.randn(12), torch.randn(12)
    out = torch.empty_like(x)
    group_norm[(2, 4)](x, w, b, out, 12, 35, 1e-5, GROUP=3, BLOCK_C=4, BLOCK=16)
    torch.testing.assert_close(out, torch.nn.functional.group_norm(x, 4, w, b), rtol=1e-4, atol=1e-4)
