"""Kernels of language models and their data, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def window_attention(q_ptr, k_ptr, v_ptr, out_ptr, length, window, scale, N: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, N)
    d = tl.arange(0, D)
    head = tl.program_id(0) * length * D
    inside = (i[:, None] < length) & (d[None, :] >= 0)
    q = tl.load(q_ptr + head + i[:, None] * D + d[None, :], mask=inside, other=0.0)
    k = tl.load(k_ptr + head + i[:, None] * D + d[None, :], mask=inside, other=0.0)
    v = tl.load(v_ptr + head + i[:, None] * D + d[None, :], mask=inside, other=0.0)
    scores = tl.dot(q, tl.trans(k)) * scale
    gap = i[:, None] - i[None, :]
    seen = (gap >= 0) & (gap < window) & (i[None, :] < length)
    scores = tl.where(seen, scores, -1e9)
    weights = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    tl.store(out_ptr + head + i[:, None] * D + d[None, :], tl.dot(weights, v), mask=inside)


def run_window_attention(kernel) -> None:
    kernel[(2,)](
        randn(2, 27, 16),
        randn(2, 27, 16, seed=1),
        randn(2, 27, 16, seed=2),
        torch.zeros(2, 27, 16),
        27,
        5,
        0.25,
        N=32,
        D=16,
    )


@triton.jit
def slopes_bias(scores_ptr, out_ptr, heads, length, BLOCK: tl.constexpr):
    head = tl.program_id(0)
    row = tl.program_id(1)
    at = tl.arange(0, BLOCK)
    inside = at < length
    slope = tl.exp2(-8.0 * (head + 1) / heads)
    base = (head * length + row) * length
    s = tl.load(scores_ptr + base + at, mask=inside, other=0.0)
    tl.store(out_ptr + base + at, s - slope * (row - at), mask=inside & (at <= row))


def run_slopes_bias(kernel) -> None:
    kernel[(4, 12)](randn(4, 12, 12), torch.zeros(4, 12, 12), 4, 12, BLOCK=16)


@triton.jit
def mean_pool(x_ptr, length_ptr, out_ptr, longest, width, BLOCK: tl.constexpr):
    item = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    length = tl.load(length_ptr + item)
    acc = tl.zeros((BLOCK,), tl.float32)
    for t in range(length):
        acc += tl.load(x_ptr + (item * longest + t) * width + cols, mask=cols < width, other=0.0)
    tl.store(out_ptr + item * width + cols, acc / length, mask=cols < width)


def run_mean_pool(kernel) -> None:
    lengths = torch.tensor([3, 7, 1, 5], dtype=torch.int32)
    kernel[(4,)](randn(4, 7, 12), lengths, torch.zeros(4, 12), 7, 12, BLOCK=16)


@triton.jit
def soft_cap(x_ptr, y_ptr, n, cap, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0) / cap
    grown = tl.exp(2 * x)
    y = cap * (grown - 1) / (grown + 1)
    tl.store(y_ptr + at, y, mask=at < n)


def run_soft_cap(kernel) -> None:
    kernel[(3,)](randn(41) * 3, torch.zeros(41), 41, 2.5, BLOCK=16)


@triton.jit
def smoothed_loss(logit_ptr, label_ptr, loss_ptr, classes, smooth, ignore, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < classes
    label = tl.load(label_ptr + row)
    x = tl.load(logit_ptr + row * classes + cols, mask=inside, other=-float("inf"))
    top = tl.max(x, axis=0)
    log_total = tl.log(tl.sum(tl.exp(x - top), axis=0)) + top
    right = tl.sum(tl.where(cols == label, x, 0.0), axis=0)
    mean = tl.sum(tl.where(inside, x, 0.0), axis=0) / classes
    loss = log_total - (1 - smooth) * right - smooth * mean
    tl.store(loss_ptr + row, tl.where(label == ignore, 0.0, loss))


def run_smoothed_loss(kernel) -> None:
    labels = torch.tensor([3, 0, -1, 11, 5, -1], dtype=torch.int32)
    kernel[(6,)](randn(6, 12), labels, torch.zeros(6), 12, 0.1, -1, BLOCK=16)


@triton.jit
def gather_tokens(x_ptr, index_ptr, weight_ptr, out_ptr, tokens, width, K: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for choice in range(K):
        source = tl.load(index_ptr + token * K + choice)
        weight = tl.load(weight_ptr + token * K + choice)
        acc += weight * tl.load(x_ptr + source * width + cols, mask=cols < width, other=0.0)
    tl.store(out_ptr + token * width + cols, acc, mask=cols < width)


def run_gather_tokens(kernel) -> None:
    index = torch.randint(0, 15, (9, 2), generator=torch.Generator().manual_seed(2), dtype=torch.int32)
    kernel[(9,)](randn(15, 12), index, randn(9, 2, seed=1).softmax(1), torch.zeros(9, 12), 9, 12, K=2, BLOCK=16)


@triton.jit
def lengths_to_starts(length_ptr, start_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    length = tl.load(length_ptr + at, mask=at < n, other=0)
    ends = tl.cumsum(length, axis=0)
    tl.store(start_ptr + at, ends - length, mask=at < n)
    tl.store(start_ptr + n, tl.sum(length, axis=0))


def run_lengths_to_starts(kernel) -> None:
    lengths = torch.randint(1, 9, (13,), generator=torch.Generator().manual_seed(4), dtype=torch.int32)
    kernel[(1,)](lengths, torch.zeros(14, dtype=torch.int32), 13, BLOCK=16)


@triton.jit
def pad_batch(packed_ptr, start_ptr, out_ptr, longest, fill, BLOCK: tl.constexpr):
    item = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    start = tl.load(start_ptr + item)
    length = tl.load(start_ptr + item + 1) - start
    token = tl.load(packed_ptr + start + at, mask=at < length, other=0)
    tl.store(out_ptr + item * longest + at, tl.where(at < length, token, fill), mask=at < longest)


def run_pad_batch(kernel) -> None:
    starts = torch.tensor([0, 4, 11, 12, 20], dtype=torch.int32)
    packed = torch.arange(100, 140, dtype=torch.int32)
    kernel[(4,)](packed, starts, torch.zeros(4, 9, dtype=torch.int32), 9, 7, BLOCK=16)


SEQUENCES = (
    Subject(
        window_attention,
        run_window_attention,
        (
            Slip(
                "causal mask",
                "(gap >= 0) & (gap < window)",
                "(gap > 0) & (gap < window)",
                "a token does not see itself",
            ),
            Slip("comparison", "(gap < window)", "(gap <= window)", "a window of one key more"),
            Slip(
                "missing term", "tl.dot(q, tl.trans(k)) * scale", "tl.dot(q, tl.trans(k))", "scores without their scale"
            ),
            Slip(
                "axis",
                "tl.max(scores, axis=1)[:, None]",
                "tl.max(scores, axis=0)[:, None]",
                "the maximum of columns",
            ),
            Slip("wrong operand", "v_ptr + head + i[:, None]", "k_ptr + head + i[:, None]", "keys for values"),
        ),
    ),
    Subject(
        slopes_bias,
        run_slopes_bias,
        (
            Slip("constant", "(head + 1) / heads", "head / heads", "heads counted from 1 in the paper"),
            Slip("sign", "s - slope * (row - at)", "s + slope * (row - at)", "a bias that rewards distance"),
            Slip("function", "tl.exp2(-8.0", "tl.exp(-8.0", "exp for exp2"),
        ),
    ),
    Subject(
        mean_pool,
        run_mean_pool,
        (
            Slip("divisor", "acc / length", "acc / longest", "padding in the mean"),
            Slip("loop", "for t in range(length)", "for t in range(length - 1)", "the last token left out"),
            Slip(
                "stride or address",
                "(item * longest + t) * width",
                "(item * length + t) * width",
                "packed and padded rows",
            ),
        ),
    ),
    Subject(
        soft_cap,
        run_soft_cap,
        (
            Slip("scale", "y = cap * (grown - 1)", "y = (grown - 1)", "the cap not multiplied back"),
            Slip("constant", "tl.exp(2 * x)", "tl.exp(x)", "tanh by its formula without the 2"),
        ),
    ),
    Subject(
        smoothed_loss,
        run_smoothed_loss,
        (
            Slip(
                "missing term",
                "tl.log(tl.sum(tl.exp(x - top), axis=0)) + top",
                "tl.log(tl.sum(tl.exp(x - top), axis=0))",
                "the maximum not added back",
            ),
            Slip(
                "exchanged operands",
                "(1 - smooth) * right - smooth * mean",
                "smooth * right - (1 - smooth) * mean",
                "smoothing the other way round",
            ),
            Slip("missing function", "tl.where(label == ignore, 0.0, loss)", "loss", "ignored labels count"),
            Slip("divisor", "x, 0.0), axis=0) / classes", "x, 0.0), axis=0) / BLOCK", "the padded width"),
        ),
    ),
    Subject(
        gather_tokens,
        run_gather_tokens,
        (
            Slip("missing term", "acc += weight * tl.load", "acc += tl.load", "unweighted experts"),
            Slip("accumulator", "acc += weight", "acc = weight", "only the last choice is kept"),
            Slip(
                "index",
                "weight_ptr + token * K + choice",
                "weight_ptr + choice * tokens + token",
                "weights of another order",
            ),
        ),
    ),
    Subject(
        lengths_to_starts,
        run_lengths_to_starts,
        (
            Slip("scan", "ends - length, mask", "ends, mask", "inclusive for exclusive"),
            Slip(
                "function",
                "tl.store(start_ptr + n, tl.sum(length, axis=0))",
                "tl.store(start_ptr + n, tl.max(length, axis=0))",
                "the longest for the total",
            ),
        ),
    ),
    Subject(
        pad_batch,
        run_pad_batch,
        (
            Slip("index", "start_ptr + item + 1) - start", "start_ptr + item + 1)", "the end taken for the length"),
            Slip(
                "wrong operand",
                "tl.where(at < length, token, fill)",
                "tl.where(at < length, token, 0)",
                "padding with zero",
            ),
        ),
    ),
)
