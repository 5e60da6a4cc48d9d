"""Losses, gradients, optimizers and rounding of training, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def layer_norm_backward(
    dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, rows, n, ROWS: tl.constexpr, COLS: tl.constexpr
):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    inside = (r < rows)[:, None] & (c < n)[None, :]
    at = r[:, None] * n + c[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + at, mask=inside, other=0.0)
    w = tl.load(w_ptr + c, mask=c < n, other=0.0)
    mean = tl.load(mean_ptr + r, mask=r < rows, other=0.0)
    rstd = tl.load(rstd_ptr + r, mask=r < rows, other=0.0)
    hat = tl.where(inside, (x - mean[:, None]) * rstd[:, None], 0.0)
    weighted = dy * w[None, :]
    along = tl.sum(weighted * hat, axis=1) / n
    even = tl.sum(weighted, axis=1) / n
    dx = (weighted - hat * along[:, None] - even[:, None]) * rstd[:, None]
    tl.store(dx_ptr + at, dx, mask=inside)


def run_layer_norm_backward(kernel) -> None:
    x, dy, w = randn(10, 20) + 1, randn(10, 20, seed=1), randn(20, seed=2)
    rstd = torch.rsqrt(x.var(1, unbiased=False) + 1e-5)
    kernel[(3,)](dy, x, w, x.mean(1), rstd, torch.zeros(10, 20), 10, 20, ROWS=4, COLS=32)


@triton.jit
def log_softmax_backward(dy_ptr, y_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + row * n + cols, mask=cols < n, other=float("-inf"))
    dy = tl.load(dy_ptr + row * n + cols, mask=cols < n, other=0.0)
    dx = dy - tl.exp(y) * tl.sum(dy, axis=0)
    tl.store(dx_ptr + row * n + cols, dx, mask=cols < n)


def run_log_softmax_backward(kernel) -> None:
    kernel[(6,)](randn(6, 30), torch.log_softmax(randn(6, 30, seed=1), 1), torch.zeros(6, 30), 30, BLOCK=32)


@triton.jit
def swiglu_backward(dc_ptr, a_ptr, b_ptr, da_ptr, db_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + at, mask=at < n, other=0.0)
    b = tl.load(b_ptr + at, mask=at < n, other=0.0)
    dc = tl.load(dc_ptr + at, mask=at < n, other=0.0)
    gate = tl.sigmoid(a)
    silu = a * gate
    tl.store(db_ptr + at, dc * silu, mask=at < n)
    tl.store(da_ptr + at, dc * b * (silu * (1 - gate) + gate), mask=at < n)


def run_swiglu_backward(kernel) -> None:
    kernel[(3,)](randn(150), randn(150, seed=1), randn(150, seed=2), torch.zeros(150), torch.zeros(150), 150, BLOCK=64)


@triton.jit
def divergence(p_ptr, q_ptr, loss_ptr, grad_ptr, n, beta, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    log_p = tl.load(p_ptr + row * n + cols, mask=cols < n, other=-1.0e30)
    log_q = tl.load(q_ptr + row * n + cols, mask=cols < n, other=-1.0e30)
    p = tl.exp(log_p)
    q = tl.exp(log_q)
    log_m = tl.log(beta * p + (1 - beta) * q + 1.0e-30)
    loss = beta * p * (log_p - log_m) + (1 - beta) * q * (log_q - log_m)
    tl.store(loss_ptr + row, tl.sum(loss, axis=0))
    tl.store(grad_ptr + row * n + cols, beta * p * (log_p - log_m), mask=cols < n)


def run_divergence(kernel) -> None:
    p, q = torch.log_softmax(randn(5, 27), 1), torch.log_softmax(randn(5, 27, seed=1), 1)
    kernel[(5,)](p, q, torch.zeros(5), torch.zeros(5, 27), 27, 0.3, BLOCK=32)


@triton.jit
def binary_cross_entropy(x_ptr, y_ptr, loss_ptr, n, weight, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    softplus = tl.maximum(-x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))
    loss = (1 - y) * x + (1 + (weight - 1) * y) * softplus
    tl.store(loss_ptr + at, loss, mask=at < n)


def run_binary_cross_entropy(kernel) -> None:
    y = torch.rand(140, generator=torch.Generator().manual_seed(1))
    kernel[(3,)](randn(140) * 3, y, torch.zeros(140), 140, 2.5, BLOCK=64)


@triton.jit
def huber(x_ptr, y_ptr, loss_ptr, grad_ptr, n, beta, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    apart = tl.load(x_ptr + at, mask=at < n) - tl.load(y_ptr + at, mask=at < n)
    size = tl.abs(apart)
    loss = tl.where(size < beta, 0.5 * apart * apart / beta, size - 0.5 * beta)
    grad = tl.where(size < beta, apart / beta, tl.where(apart > 0, 1.0, -1.0))
    tl.store(loss_ptr + at, loss, mask=at < n)
    tl.store(grad_ptr + at, grad, mask=at < n)


def run_huber(kernel) -> None:
    kernel[(2,)](randn(120), randn(120, seed=1), torch.zeros(120), torch.zeros(120), 120, 0.7, BLOCK=64)


@triton.jit
def lion(p_ptr, g_ptr, m_ptr, lr, beta1, beta2, decay, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(p_ptr + at, mask=at < n, other=0.0)
    g = tl.load(g_ptr + at, mask=at < n, other=0.0)
    m = tl.load(m_ptr + at, mask=at < n, other=0.0)
    step = beta1 * m + (1 - beta1) * g
    sign = tl.where(step > 0, 1.0, -1.0)
    p = p * (1 - lr * decay) - lr * sign
    m = beta2 * m + (1 - beta2) * g
    tl.store(p_ptr + at, p, mask=at < n)
    tl.store(m_ptr + at, m, mask=at < n)


def run_lion(kernel) -> None:
    kernel[(2,)](randn(110), randn(110, seed=1), randn(110, seed=2), 0.1, 0.9, 0.6, 0.3, 110, BLOCK=64)


@triton.jit
def block_quantize(x_ptr, q_ptr, scale_ptr, groups, SIZE: tl.constexpr):
    row = tl.program_id(0)
    group = tl.program_id(1)
    at = (row * groups + group) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_ptr + at)
    top = tl.max(tl.abs(x), axis=0)
    exponent = tl.ceil(tl.log2(top / 127.0))
    scale = tl.exp2(exponent)
    q = x / scale
    tl.store(q_ptr + at, tl.floor(q + 0.5).to(tl.int8))
    tl.store(scale_ptr + row * groups + group, scale)


def run_block_quantize(kernel) -> None:
    x = randn(4, 4, 16) * torch.exp(randn(4, 4, 1, seed=1))
    kernel[(4, 4)](x, torch.zeros(4, 4, 16, dtype=torch.int8), torch.zeros(4, 4), 4, SIZE=16)


@triton.jit
def split_product(
    a_ptr, b_ptr, c_ptr, M, N, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(tl.program_id(2) * BK, K, BK * SPLIT):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + k[None, :], mask=(rm[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + rn[None, :], mask=(k[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def run_split_product(kernel) -> None:
    kernel[(2, 2, 2)](randn(20, 72), randn(72, 24, seed=1), torch.zeros(20, 24), 20, 24, 72,
                      SPLIT=2, BM=16, BN=16, BK=16)  # fmt: skip


TRAINING = (
    Subject(
        layer_norm_backward, run_layer_norm_backward,
        (
            Slip("missing term", "- hat * along[:, None] - even[:, None])", "- hat * along[:, None])",
                 "tt-metal pull request 53215: one of the means of the gradient"),
            Slip("last step", "- even[:, None]) * rstd[:, None]", "- even[:, None])",
                 "learners' layer norms: the last factor of the gradient"),
            Slip("wrong operand", "even = tl.sum(weighted, axis=1) / n", "even = tl.sum(dy, axis=1) / n",
                 "learners' layer norms: the weight is left out of a mean"),
            Slip("constant", "(x - mean[:, None]) * rstd[:, None]", "(x - 2 * mean[:, None]) * rstd[:, None]",
                 "tt-metal pull request 53215: subtracted twice"),
        ),
    ),
    Subject(
        log_softmax_backward, run_log_softmax_backward,
        (
            Slip("missing function", "tl.exp(y) * tl.sum(dy, axis=0)", "y * tl.sum(dy, axis=0)",
                 "learners' backward passes: the logarithm is not undone"),
        ),
        lambda dy_ptr, y_ptr, **_: dy_ptr - torch.exp(y_ptr) * dy_ptr.sum(1, keepdim=True),
    ),
    Subject(
        swiglu_backward, run_swiglu_backward,
        (
            Slip("wrong operand", "(silu * (1 - gate) + gate)", "(gate * (1 - gate) + gate)",
                 "Liger-Kernel's and Unsloth's SwiGLU: the derivative of the SiLU"),
            Slip("wrong operand", "db_ptr + at, dc * silu", "db_ptr + at, dc * gate",
                 "reports of SwiGLU: the gate without its factor"),
            Slip("missing term", "dc * b * (silu", "dc * (silu", "reports of SwiGLU: the other branch is left out"),
        ),
        lambda dc_ptr, a_ptr, b_ptr, **_: {
            "db_ptr": dc_ptr * torch.nn.functional.silu(a_ptr),
            "da_ptr": dc_ptr * b_ptr * torch.sigmoid(a_ptr) * (1 + a_ptr * (1 - torch.sigmoid(a_ptr))),
        },
    ),
    Subject(
        divergence, run_divergence,
        (
            Slip("exchanged operands", "tl.log(beta * p + (1 - beta) * q", "tl.log((1 - beta) * p + beta * q",
                 "TRL pull request 3043: the weights of the mixture are exchanged"),
            Slip("missing function", "p * (log_p - log_m), mask", "p * (p - log_m), mask",
                 "Liger-Kernel pull request 194: the probability for its logarithm"),
        ),
    ),
    Subject(
        binary_cross_entropy, run_binary_cross_entropy,
        (
            Slip("sign", "tl.exp(-tl.abs(x))", "tl.exp(tl.abs(x))",
                 "learners' losses: the exponential grows"),
            Slip("wrong operand", "tl.maximum(-x, 0.0)", "tl.maximum(x, 0.0)",
                 "learners' losses: the other half of the softplus"),
            Slip("missing term", "(1 + (weight - 1) * y) * softplus", "softplus",
                 "reports of losses: the weight of positives is not used"),
        ),
        lambda x_ptr, y_ptr, **_: torch.nn.functional.binary_cross_entropy_with_logits(
            x_ptr, y_ptr, pos_weight=torch.tensor(2.5), reduction="none"
        ),
    ),
    Subject(
        huber, run_huber,
        (
            Slip("missing term", "0.5 * apart * apart / beta", "0.5 * apart * apart",
                 "learners' losses: the parabola does not meet the line"),
            Slip("constant", "size - 0.5 * beta", "size - beta", "learners' losses: the line's offset"),
            Slip("wrong operand", "loss = tl.where(size < beta", "loss = tl.where(apart < beta",
                 "learners' losses: the difference for its magnitude"),
        ),
    ),
    Subject(
        lion, run_lion,
        (
            Slip("wrong operand", "step = beta1 * m + (1 - beta1) * g", "step = beta2 * m + (1 - beta2) * g",
                 "reports of Lion: the other decay rate"),
            Slip("order of steps", "g = tl.load(g_ptr + at, mask=at < n, other=0.0)",
                 "g = tl.load(g_ptr + at, mask=at < n, other=0.0) + decay * p",
                 "bitsandbytes pull request 2001: the decay is folded into the gradient"),
            Slip("sign", "- lr * sign", "+ lr * sign", "learners' optimizers: uphill"),
        ),
    ),
    Subject(
        block_quantize, run_block_quantize,
        (
            Slip("function", "tl.ceil(tl.log2(", "tl.floor(tl.log2(",
                 "vLLM pull request 53110: the exponent of a block's scale"),
            Slip("stride or address", "scale_ptr + row * groups + group", "scale_ptr + group * groups + row",
                 "reports of blockwise scales: they are stored transposed"),
            Slip("operator", "q = x / scale", "q = x * scale",
                 "reports of blockwise scales: multiplied for divided"),
        ),
    ),
    Subject(
        split_product, run_split_product,
        (
            Slip("loop", "K, BK * SPLIT):", "K, BK):", "learners' split products: parts of K are added twice"),
            Slip("race", "tl.atomic_add(c_ptr", "tl.store(c_ptr",
                 "learners' split products: the parts overwrite each other"),
        ),
    ),
)  # fmt: skip
