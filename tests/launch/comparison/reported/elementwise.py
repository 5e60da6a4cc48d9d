"""Rotations, activations, optimizers, dropout and rounding, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def rotary(x_ptr, table_ptr, y_ptr, heads, dim, PADDED: tl.constexpr):
    token = tl.program_id(0) // heads
    half = dim // 2
    i = tl.arange(0, PADDED // 2)
    inside = i < half
    cos = tl.load(table_ptr + token * dim + i, mask=inside, other=0.0)
    sin = tl.load(table_ptr + token * dim + half + i, mask=inside, other=0.0)
    left = tl.load(x_ptr + tl.program_id(0) * dim + i, mask=inside, other=0.0)
    right = tl.load(x_ptr + tl.program_id(0) * dim + half + i, mask=inside, other=0.0)
    tl.store(y_ptr + tl.program_id(0) * dim + i, left * cos - right * sin, mask=inside)
    tl.store(y_ptr + tl.program_id(0) * dim + half + i, right * cos + left * sin, mask=inside)


def run_rotary(kernel) -> None:
    angle = randn(6, 6)
    table = torch.cat([torch.cos(angle), torch.sin(angle)], 1)
    kernel[(10,)](randn(5, 2, 12, seed=1), table, torch.zeros(5, 2, 12), 2, 12, PADDED=16)


def right_rotary(x_ptr, table_ptr, **_):
    cos, sin = (part[:5, None] for part in table_ptr.split(6, 1))
    left, right = x_ptr.split(6, 2)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], 2)


@triton.jit
def geglu_backward(dc_ptr, a_ptr, b_ptr, da_ptr, db_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + at, mask=at < n, other=0.0)
    b = tl.load(b_ptr + at, mask=at < n, other=0.0)
    dc = tl.load(dc_ptr + at, mask=at < n, other=0.0)
    inner = 0.7978845608 * (a + 0.044715 * a * a * a)
    t = 2 * tl.sigmoid(2 * inner) - 1
    gelu = 0.5 * a * (1 + t)
    slope = 0.7978845608 * (1 + 3 * 0.044715 * a * a)
    dgelu = 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * slope
    tl.store(da_ptr + at, dc * b * dgelu, mask=at < n)
    tl.store(db_ptr + at, dc * gelu, mask=at < n)


def run_geglu_backward(kernel) -> None:
    dc, a, b = randn(300), randn(300, seed=1), randn(300, seed=2)
    kernel[(3,)](dc, a, b, torch.zeros(300), torch.zeros(300), 300, BLOCK=128)


@triton.jit
def adamw(p_ptr, g_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, decay, power1, power2, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(p_ptr + at, mask=at < n)
    g = tl.load(g_ptr + at, mask=at < n)
    m = beta1 * tl.load(m_ptr + at, mask=at < n) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + at, mask=at < n) + (1 - beta2) * g * g
    m_hat = m / (1 - power1)
    v_hat = v / (1 - power2)
    p = p * (1 - lr * decay)
    p = p - lr * m_hat / (tl.sqrt(v_hat) + eps)
    tl.store(p_ptr + at, p, mask=at < n)
    tl.store(m_ptr + at, m, mask=at < n)
    tl.store(v_ptr + at, v, mask=at < n)


def run_adamw(kernel) -> None:
    p, g, m, v = randn(200), randn(200, seed=1), randn(200, seed=2), randn(200, seed=3).abs()
    kernel[(2,)](p, g, m, v, 0.1, 0.9, 0.99, 0.01, 0.3, 0.9**3, 0.99**3, 200, BLOCK=128)


@triton.jit
def dropout(x_ptr, y_ptr, p, seed, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n)
    random = tl.rand(seed, row * n + cols)
    keep = random > p
    tl.store(y_ptr + row * n + cols, tl.where(keep, x / (1 - p), 0.0), mask=cols < n)


def run_dropout(kernel) -> None:
    kernel[(6,)](randn(6, 50), torch.zeros(6, 50), 0.3, 42, 50, BLOCK=64)


@triton.jit
def row_quantize(x_ptr, q_ptr, scale_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=0.0)
    scale = tl.max(tl.abs(x), axis=0) / 127.0
    scaled = x / scale
    rounded = tl.where(scaled >= 0, tl.floor(scaled + 0.5), tl.ceil(scaled - 0.5))
    tl.store(q_ptr + row * n + cols, rounded.to(tl.int8), mask=cols < n)
    tl.store(scale_ptr + row, scale)


def run_row_quantize(kernel) -> None:
    x = (randn(8, 60) - 0.7)[:, :40]
    kernel[(8,)](x, torch.zeros(8, 40, dtype=torch.int8), torch.zeros(8), 40, x.stride(0), BLOCK=64)


ELEMENTWISE = (
    Subject(
        rotary, run_rotary,
        (
            Slip("index", "token * dim + half + i", "token * dim + PADDED // 2 + i",
                 "vllm-ascend pull request 15688: the sines start at the padded half"),
            Slip("missing term", "right * cos + left * sin, mask", "right * cos, mask",
                 "vllm-ascend issue 12723: the rotation lacks the sines"),
            Slip("sign", "left * cos - right * sin", "left * cos + right * sin",
                 "reports of rotary embeddings: the rotation turns the other way"),
        ),
        right_rotary,
    ),
    Subject(
        geglu_backward, run_geglu_backward,
        (
            Slip("constant", "(1 + 3 * 0.044715 * a * a)", "(1 + 0.044715 * a * a)",
                 "reports of GELU backwards: the power's factor 3 is left out"),
            Slip("wrong operand", "(1 - t * t)", "(1 - t)",
                 "llm.c pull request 307: the derivative of the hyperbolic tangent"),
            Slip("wrong operand", "dc * gelu", "dc * a",
                 "trident pull request 101: the gate and the state of GEGLU"),
        ),
    ),
    Subject(
        adamw, run_adamw,
        (
            Slip("order of steps", "p - lr * m_hat / (tl.sqrt(v_hat) + eps)",
                 "p - lr * (1 - lr * decay) * m_hat / (tl.sqrt(v_hat) + eps)",
                 "bitsandbytes issue 2010: the decay is applied to the update, too"),
            Slip("wrong operand", "v_hat = v / (1 - power2)", "v_hat = v / (1 - power1)",
                 "reports of Adam: the bias correction of the first moment"),
            Slip("epsilon", "(tl.sqrt(v_hat) + eps)", "tl.sqrt(v_hat + eps)",
                 "reports of Adam: epsilon stands under the root"),
        ),
    ),
    Subject(
        dropout, run_dropout,
        (
            Slip("random numbers", "tl.rand(seed, row * n + cols)", "tl.rand(seed, cols)",
                 "xformers issue 786 and a Triton puzzle: each row drops the same columns"),
            Slip("scale", "x / (1 - p)", "x", "trident pull request 89: what is kept is not scaled"),
            Slip("scale", "x / (1 - p)", "x / p", "learners' dropout: divided by the other probability"),
        ),
    ),
    Subject(
        row_quantize, run_row_quantize,
        (
            Slip("missing term", "tl.max(tl.abs(x), axis=0)", "tl.max(x, axis=0)",
                 "reports of quantization: the greatest value, not the greatest magnitude"),
            Slip("cast", "rounded.to(tl.int8)", "scaled.to(tl.int8)",
                 "reports of quantization: the cast cuts what should be rounded"),
            Slip("stride or address", "row * stride + cols", "row * n + cols",
                 "ExecuTorch pull request 22192: rows that are not contiguous are read as if they were"),
        ),
    ),
)  # fmt: skip
