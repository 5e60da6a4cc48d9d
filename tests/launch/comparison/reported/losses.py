"""Losses, and kernels that move, count and scan, with the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def cross_entropy(x_ptr, label_ptr, loss_ptr, grad_ptr, n, ignored, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    label = tl.load(label_ptr + row)
    x = tl.load(x_ptr + row * n + cols, mask=inside, other=float("-inf"))
    top = tl.max(x, axis=0)
    lse = top + tl.log(tl.sum(tl.exp(x - top), axis=0))
    eps = smoothing / n
    picked = tl.sum(tl.where(cols == label, x, 0.0), axis=0)
    smooth = tl.sum(tl.where(inside, x, 0.0), axis=0)
    loss = lse - (1 - smoothing) * picked - eps * smooth
    grad = tl.exp(x - lse) - eps
    grad = tl.where(cols == label, grad - (1 - smoothing), grad)
    live = label != ignored
    tl.store(loss_ptr + row, tl.where(live, loss, 0.0))
    tl.store(grad_ptr + row * n + cols, tl.where(live, grad, 0.0), mask=inside)


def run_cross_entropy(kernel) -> None:
    label = torch.tensor([3, -100, 0, 29, 7, -100, 11])
    kernel[(7,)](randn(7, 30), label, torch.zeros(7), torch.zeros(7, 30), 30, -100, 0.1, BLOCK=32)


@triton.jit
def total_variation(p_ptr, q_ptr, loss_ptr, grad_ptr, n, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    p = tl.load(p_ptr + row * n + cols, mask=cols < n, other=0.0)
    q = tl.load(q_ptr + row * n + cols, mask=cols < n, other=0.0)
    tl.store(loss_ptr + row, 0.5 * scale * tl.sum(tl.abs(p - q), axis=0))
    sign = tl.where(p >= q, 1.0, -1.0)
    sign = tl.where(p == q, 0.0, sign)
    tl.store(grad_ptr + row * n + cols, 0.5 * scale * sign, mask=cols < n)


def run_total_variation(kernel) -> None:
    p, q = torch.softmax(randn(6, 20), 1), torch.softmax(randn(6, 20, seed=1), 1)
    q[:, ::5] = p[:, ::5]
    kernel[(6,)](p, q, torch.zeros(6), torch.zeros(6, 20), 20, 0.25, BLOCK=32)


@triton.jit
def causal_convolution(x_ptr, w_ptr, bias_ptr, y_ptr, channels, length, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    channel = row % channels
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32) + tl.load(bias_ptr + channel)
    for j in range(0, WIDTH):
        at = t - (WIDTH - 1) + j
        x = tl.load(x_ptr + row * length + at, mask=(at >= 0) & (at < length), other=0.0)
        w = tl.load(w_ptr + channel * WIDTH + j)
        acc += x * w
    y = acc * tl.sigmoid(acc)
    tl.store(y_ptr + row * length + t, y, mask=t < length)


def run_causal_convolution(kernel) -> None:
    kernel[(2, 6)](
        randn(2, 3, 25), randn(3, 4, seed=1), randn(3, seed=2), torch.zeros(2, 3, 25), 3, 25, WIDTH=4, BLOCK=16
    )


def right_causal_convolution(x_ptr, w_ptr, bias_ptr, **_):
    padded = torch.nn.functional.pad(x_ptr, (3, 0))
    return torch.nn.functional.silu(torch.nn.functional.conv1d(padded, w_ptr[:, None], bias_ptr, groups=3))


@triton.jit
def running_sum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
        y = tl.cumsum(x, axis=0) + carry
        tl.store(y_ptr + row * n + cols, y, mask=cols < n)
        carry += tl.sum(x, axis=0)


def run_running_sum(kernel) -> None:
    kernel[(4,)](randn(4, 50), torch.zeros(4, 50), 50, BLOCK=16)


@triton.jit
def embedding_backward(grad_ptr, token_ptr, out_ptr, padding, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    token = tl.load(token_ptr + row)
    grad = tl.load(grad_ptr + row * n + cols, mask=cols < n, other=0.0)
    tl.atomic_add(out_ptr + token * n + cols, grad, mask=(cols < n) & (token != padding))


def run_embedding_backward(kernel) -> None:
    token = torch.tensor([2, 5, 0, 2, 3, 0, 5, 2, 1], dtype=torch.int32)
    kernel[(9,)](randn(9, 20), token, torch.zeros(6, 20), 0, 20, BLOCK=32)


LOSSES = (
    Subject(
        cross_entropy, run_cross_entropy,
        (
            Slip("constant", "grad - (1 - smoothing)", "grad - 1",
                 "Liger-Kernel pull request 198: the label's gradient under smoothing"),
            Slip("divisor", "eps = smoothing / n", "eps = smoothing / (n - 1)",
                 "reports of label smoothing: spread over the other classes alone"),
            Slip("missing term", "tl.where(live, loss, 0.0)", "loss",
                 "lm-engine pull request 505: ignored labels have a loss"),
        ),
    ),
    Subject(
        total_variation, run_total_variation,
        (
            Slip("comparison", "sign = tl.where(p == q, 0.0, sign)", "sign = tl.where(p == q, 1.0, sign)",
                 "Liger-Kernel issue 1373: a gradient where both are equal"),
        ),
    ),
    Subject(
        causal_convolution, run_causal_convolution,
        (
            Slip("direction", "w_ptr + channel * WIDTH + j", "w_ptr + channel * WIDTH + WIDTH - 1 - j",
                 "reports of causal convolutions: the taps in the other order"),
            Slip("index", "at = t - (WIDTH - 1) + j", "at = t - WIDTH + j",
                 "SGLang issue 38622: the window of the history is off"),
            Slip("missing term", "+ tl.load(bias_ptr + channel)", "+ 0.0",
                 "twinkle pull request 228: the bias is ignored"),
        ),
        right_causal_convolution,
    ),
    Subject(
        running_sum, run_running_sum,
        (
            Slip("scan", "tl.cumsum(x, axis=0) + carry", "tl.cumsum(x, axis=0) - x + carry",
                 "reports of scans: the exclusive sum for the inclusive"),
            Slip("accumulator", "carry += tl.sum(x, axis=0)", "carry = tl.sum(x, axis=0)",
                 "learners' scans: the carry forgets earlier blocks"),
        ),
        lambda x_ptr, **_: torch.cumsum(x_ptr, 1),
    ),
    Subject(
        embedding_backward, run_embedding_backward,
        (
            Slip("mask", "(cols < n) & (token != padding)", "cols < n",
                 "reports of embeddings: the padding token gets a gradient"),
            Slip("race", "tl.atomic_add(out_ptr", "tl.store(out_ptr",
                 "cherimoya issue 25: overlapping rows overwrite each other"),
        ),
    ),
)  # fmt: skip
