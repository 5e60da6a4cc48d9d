"""Losses and activations in the style of public libraries, forward and backward, against torch."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy(logits, target, loss, stride, n, ignore, smoothing, scale, BLOCK: tl.constexpr):
    """The loss of one row; the logits are overwritten by their gradient."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    label = tl.load(target + row)
    if label == ignore:
        for start in range(0, n, BLOCK):
            column = start + tl.arange(0, BLOCK)
            tl.store(logits + column, 0.0, mask=column < n)
        tl.store(loss + row, 0.0)
        return
    chosen = tl.load(logits + label).to(tl.float32)
    greatest = float("-inf")
    total = 0.0
    plain = 0.0
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        value = tl.load(logits + column, mask=column < n, other=float("-inf")).to(tl.float32)
        plain += tl.sum(tl.where(column < n, value, 0.0))
        new = tl.maximum(greatest, tl.max(value))
        total = total * tl.exp(greatest - new) + tl.sum(tl.exp(value - new))
        greatest = new
    lse = greatest + tl.log(total)
    share = smoothing / n
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        value = tl.load(logits + column, mask=column < n, other=float("-inf")).to(tl.float32)
        gradient = tl.exp(value - lse) - share
        gradient = tl.where(column == label, gradient - (1 - smoothing), gradient) * scale
        tl.store(logits + column, gradient, mask=column < n)
    tl.debug_barrier()
    tl.store(loss + row, (lse - (1 - smoothing) * chosen - share * plain) * scale)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_with_ignored_labels_and_its_gradient_in_place(dtype, smoothing):
    torch.manual_seed(0)
    logits = (4 * torch.randn(23, 77)).to(dtype)
    target = torch.randint(0, 77, (23,))
    target[::5] = -100
    count = int((target != -100).sum())
    x = logits.double().requires_grad_()
    expected = torch.nn.functional.cross_entropy(x, target, label_smoothing=smoothing)
    expected.backward()
    loss = torch.empty(23)
    cross_entropy[(23,)](logits, target, loss, 77, 77, -100, smoothing, 1 / count, BLOCK=32)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(loss.sum().double(), expected.detach(), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(logits.double(), x.grad, rtol=tolerance, atol=tolerance / 10)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_forward(a, b, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * stride
    column = tl.arange(0, BLOCK)
    gate = tl.load(a + row + column, mask=column < n, other=0).to(tl.float32)
    value = tl.load(b + row + column, mask=column < n, other=0)
    tl.store(out + row + column, silu(gate).cast(value.dtype) * value, mask=column < n)


@triton.jit
def swiglu_backward(dc, a, b, stride, n, BLOCK: tl.constexpr):
    """The gradients take the place of the inputs."""
    row = tl.program_id(0).to(tl.int64) * stride
    column = tl.arange(0, BLOCK)
    mask = column < n
    back = tl.load(dc + row + column, mask=mask, other=0)
    gate = tl.load(a + row + column, mask=mask, other=0).to(tl.float32)
    value = tl.load(b + row + column, mask=mask, other=0)
    share = tl.sigmoid(gate)
    db = back * gate * share
    da = back * (gate * share * (1 - share) + share) * value
    tl.store(a + row + column, da, mask=mask)
    tl.store(b + row + column, db, mask=mask)


def test_swiglu_and_its_gradient():
    torch.manual_seed(0)
    a, b, dc = (torch.randn(11, 300) for _ in range(3))
    out = torch.empty_like(a)
    swiglu_forward[(11,)](a, b, out, 300, 300, BLOCK=512, num_warps=8)
    x, y = a.double().requires_grad_(), b.double().requires_grad_()
    expected = torch.nn.functional.silu(x) * y
    torch.testing.assert_close(out.double(), expected.detach(), rtol=1e-5, atol=1e-5)
    expected.backward(dc.double())
    swiglu_backward[(11,)](dc, a, b, 300, 300, BLOCK=512)
    torch.testing.assert_close(a.double(), x.grad, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(b.double(), y.grad, rtol=1e-5, atol=1e-5)


@triton.jit
def gelu_tanh(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n)
    inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    tl.store(out + offsets, 0.5 * v * (1 + tl.extra.libdevice.tanh(inner)), mask=offsets < n)


def test_gelu_with_libdevice():
    x = torch.linspace(-6, 6, 1000)
    out = torch.empty_like(x)
    gelu_tanh[(8,)](x, out, 1000, BLOCK=128)
    torch.testing.assert_close(out, torch.nn.functional.gelu(x, approximate="tanh"), rtol=1e-5, atol=1e-6)


@triton.jit
def kl_divergence(log_p, q, out, n, BLOCK: tl.constexpr, REDUCTION: tl.constexpr, LOG_TARGET: tl.constexpr = False):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < n
        p = tl.load(log_p + row * n + column, mask=mask, other=0.0)
        target = tl.load(q + row * n + column, mask=mask, other=0.0)
        if LOG_TARGET:
            term = tl.exp(target) * (target - p)
        else:
            floor = tl.maximum(target, 1e-10)
            term = target * (tl.log(floor) - p)
        if REDUCTION == "none":
            tl.store(out + row * n + column, term, mask=mask)
        else:
            total += tl.sum(tl.where(mask, term, 0.0), axis=0)
    if REDUCTION != "none":
        tl.store(out + row, total)


@pytest.mark.parametrize("log_target", [False, True])
@pytest.mark.parametrize("reduction", ["none", "sum"])
def test_kl_divergence_of_every_kind(log_target, reduction):
    torch.manual_seed(3)
    p, q = (torch.randn(7, 45).log_softmax(-1) for _ in range(2))
    target = q if log_target else q.exp()
    out = torch.zeros(7, 45) if reduction == "none" else torch.zeros(7)
    kl_divergence[(7,)](p, target, out, 45, BLOCK=16, REDUCTION=reduction, LOG_TARGET=log_target)
    expected = torch.nn.functional.kl_div(p, target, reduction="none", log_target=log_target)
    expected = expected if reduction == "none" else expected.sum(-1)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
