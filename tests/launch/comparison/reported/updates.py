"""Kernels that update and reduce whole tensors, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def rms_prop(param_ptr, grad_ptr, square_ptr, n, rate, decay, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    param = tl.load(param_ptr + at, mask=inside, other=0.0)
    grad = tl.load(grad_ptr + at, mask=inside, other=0.0)
    square = tl.load(square_ptr + at, mask=inside, other=0.0)
    square = decay * square + (1 - decay) * grad * grad
    param -= rate * grad / (tl.sqrt(square) + eps)
    tl.store(param_ptr + at, param, mask=inside)
    tl.store(square_ptr + at, square, mask=inside)


def run_rms_prop(kernel) -> None:
    kernel[(3,)](randn(37), randn(37, seed=1), randn(37, seed=2).abs(), 37, 0.1, 0.9, 0.05, BLOCK=16)


@triton.jit
def clip_by_norm(x_ptr, y_ptr, n, most, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        total += x * x
    norm = tl.sqrt(tl.sum(total, axis=0))
    factor = tl.minimum(most / norm, 1.0)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        tl.store(y_ptr + row * n + at, x * factor, mask=at < n)


def run_clip_by_norm(kernel) -> None:
    kernel[(5,)](randn(5, 41) * torch.tensor([0.1, 1.0, 2.0, 0.2, 1.5])[:, None], torch.zeros(5, 41), 41, 3.0, BLOCK=16)


@triton.jit
def moving_average(average_ptr, x_ptr, n, step, decay, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    average = tl.load(average_ptr + at, mask=inside, other=0.0)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    used = tl.minimum(decay, (1.0 + step) / (10.0 + step))
    tl.store(average_ptr + at, used * average + (1 - used) * x, mask=inside)


def run_moving_average(kernel) -> None:
    kernel[(3,)](randn(37), randn(37, seed=1), 37, 5, 0.9, BLOCK=16)


@triton.jit
def column_means(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    acc = tl.zeros((COLS,), tl.float32)
    for start in range(0, rows, ROWS):
        r = start + tl.arange(0, ROWS)
        x = tl.load(x_ptr + r[:, None] * cols + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < cols), other=0.0)
        acc += tl.sum(x, axis=0)
    tl.store(out_ptr + c, acc / rows, mask=c < cols)


def run_column_means(kernel) -> None:
    kernel[(2,)](randn(27, 13) + 1, torch.zeros(13), 27, 13, ROWS=8, COLS=8)


@triton.jit
def ternary(x_ptr, sign_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + row * n + at, mask=inside, other=0.0)
    size = tl.sum(tl.abs(x), axis=0) / n
    level = tl.where(x > 0.5 * size, 1, tl.where(x < -0.5 * size, -1, 0))
    tl.store(sign_ptr + row * n + at, level.to(tl.int8), mask=inside)
    tl.store(scale_ptr + row, size)


def run_ternary(kernel) -> None:
    kernel[(5,)](randn(5, 27), torch.zeros(5, 27, dtype=torch.int8), torch.zeros(5), 27, BLOCK=32)


@triton.jit
def unpack_bits(packed_ptr, out_ptr, bytes_in_row, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    byte = tl.load(packed_ptr + row * bytes_in_row + at // 8, mask=at < bytes_in_row * 8, other=0).to(tl.int32)
    bit = (byte >> (7 - at % 8)) & 1
    tl.store(out_ptr + row * bytes_in_row * 8 + at, bit.to(tl.int8), mask=at < bytes_in_row * 8)


def run_unpack_bits(kernel) -> None:
    packed = torch.randint(0, 256, (4, 3), generator=torch.Generator().manual_seed(6), dtype=torch.uint8)
    kernel[(4,)](packed, torch.zeros(4, 24, dtype=torch.int8), 3, BLOCK=32)


@triton.jit
def power_step(a_ptr, v_ptr, w_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = (i[:, None] < n) & (i[None, :] < n)
    a = tl.load(a_ptr + i[:, None] * n + i[None, :], mask=inside, other=0.0)
    v = tl.load(v_ptr + i, mask=i < n, other=0.0)
    w = tl.sum(a * v[None, :], axis=1)
    tl.store(w_ptr + i, w / tl.sqrt(tl.sum(w * w, axis=0)), mask=i < n)


def run_power_step(kernel) -> None:
    kernel[(1,)](randn(13, 13), randn(13, seed=1), torch.zeros(13), 13, BLOCK=16)


@triton.jit
def half_product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    acc = tl.maximum(acc, 0.0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


def run_half_product(kernel) -> None:
    kernel[(2, 2)](randn(27, 40).half(), randn(40, 29, seed=1).half(), torch.zeros(27, 29).half(), 27, 29, 40,
                   BM=16, BN=16, BK=16)  # fmt: skip


@triton.jit
def interleave(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + at, mask=at < n, other=0)
    b = tl.load(b_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + 2 * at, a, mask=at < n)
    tl.store(out_ptr + 2 * at + 1, b, mask=at < n)


def run_interleave(kernel) -> None:
    kernel[(3,)](torch.arange(37), torch.arange(100, 137), torch.zeros(74, dtype=torch.int64), 37, BLOCK=16)


UPDATES = (
    Subject(
        rms_prop,
        run_rms_prop,
        (
            Slip(
                "order of steps", "tl.sqrt(square) + eps", "tl.sqrt(square + eps)", "epsilon inside or outside the root"
            ),
            Slip("missing term", "(1 - decay) * grad * grad", "(1 - decay) * grad", "the gradient not squared"),
            Slip("sign", "param -= rate", "param += rate", "a step uphill"),
        ),
    ),
    Subject(
        clip_by_norm,
        run_clip_by_norm,
        (
            Slip(
                "missing function", "tl.sqrt(tl.sum(total, axis=0))", "tl.sum(total, axis=0)", "the square of the norm"
            ),
            Slip("missing function", "tl.minimum(most / norm, 1.0)", "most / norm", "short rows are made longer"),
            Slip(
                "function",
                "tl.minimum(most / norm, 1.0)",
                "tl.maximum(most / norm, 1.0)",
                "the wrong one of two bounds",
            ),
        ),
    ),
    Subject(
        moving_average,
        run_moving_average,
        (
            Slip(
                "exchanged operands",
                "used * average + (1 - used) * x",
                "(1 - used) * average + used * x",
                "the decay of the new value",
            ),
            Slip("wrong operand", "(1 - used) * x", "(1 - decay) * x", "the decay before it was bounded"),
        ),
    ),
    Subject(
        column_means,
        run_column_means,
        (
            Slip("divisor", "acc / rows", "acc / cols", "the other dimension"),
            Slip("loop", "range(0, rows, ROWS)", "range(0, rows - ROWS, ROWS)", "the last block of rows left out"),
            Slip("accumulator", "acc += tl.sum(x, axis=0)", "acc = tl.sum(x, axis=0)", "only the last block counts"),
        ),
    ),
    Subject(
        ternary,
        run_ternary,
        (
            Slip("constant", "x > 0.5 * size", "x > size", "the threshold of the positive side"),
            Slip("missing function", "tl.sum(tl.abs(x), axis=0)", "tl.sum(x, axis=0)", "abs forgotten"),
            Slip("divisor", "axis=0) / n", "axis=0) / BLOCK", "the padded width"),
        ),
    ),
    Subject(
        unpack_bits,
        run_unpack_bits,
        (
            Slip("direction", "(7 - at % 8)", "(at % 8)", "the lowest bit first"),
            Slip("integer division", "bytes_in_row + at // 8", "bytes_in_row + at % bytes_in_row", "the byte of a bit"),
        ),
    ),
    Subject(
        power_step,
        run_power_step,
        (
            Slip(
                "axis",
                "tl.sum(a * v[None, :], axis=1)",
                "tl.sum(a * v[None, :], axis=0)",
                "the sum along the other axis",
            ),
            Slip(
                "index",
                "a_ptr + i[:, None] * n + i[None, :]",
                "a_ptr + i[None, :] * n + i[:, None]",
                "the transposed matrix",
            ),
            Slip("last step", "w / tl.sqrt(tl.sum(w * w, axis=0))", "w", "not normalized"),
        ),
    ),
    Subject(
        half_product,
        run_half_product,
        (
            Slip("accumulator", "acc = tl.dot(a, b, acc)", "acc = tl.dot(a, b)", "sums not carried on"),
            Slip("last step", "acc = tl.maximum(acc, 0.0)", "acc = acc", "the activation forgotten"),
            Slip(
                "stride or address",
                "a_ptr + m[:, None] * K",
                "a_ptr + m[:, None] * N",
                "the row length of the other matrix",
            ),
        ),
    ),
    Subject(
        interleave,
        run_interleave,
        (
            Slip("exchanged operands", "out_ptr + 2 * at, a,", "out_ptr + 2 * at, b,", "one vector twice"),
            Slip(
                "stride or address",
                "out_ptr + 2 * at + 1, b",
                "out_ptr + at + n, b",
                "one after the other in place of by turns",
            ),
        ),
    ),
)
