"""Normalizations and softmax, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(inside, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n
    rstd = 1.0 / tl.sqrt(variance + eps)
    w = tl.load(w_ptr + cols, mask=inside, other=0.0)
    b = tl.load(b_ptr + cols, mask=inside, other=0.0)
    tl.store(y_ptr + row * n + cols, centred * rstd * w + b, mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def run_layer_norm(kernel) -> None:
    x, w, b = randn(6, 50) + 2, randn(50, seed=1), randn(50, seed=2)
    kernel[(6,)](x, w, b, torch.empty(6, 50), torch.empty(6), torch.empty(6), 50, 0.01, BLOCK=64)


@triton.jit
def rms_norm_backward(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    w = tl.load(w_ptr + cols, mask=inside, other=0.0)
    dw = tl.zeros((BLOCK,), tl.float32)
    for row in range(pid * ROWS, min((pid + 1) * ROWS, rows)):
        x = tl.load(x_ptr + row * n + cols, mask=inside, other=0.0)
        dy = tl.load(dy_ptr + row * n + cols, mask=inside, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        normed = x * rstd
        weighted = dy * w
        along = tl.sum(weighted * normed, axis=0) / n
        dx = rstd * (weighted - normed * along)
        dw += dy * normed
        tl.store(dx_ptr + row * n + cols, dx, mask=inside)
    tl.store(dw_ptr + pid * n + cols, dw, mask=inside)


def run_rms_norm_backward(kernel) -> None:
    x, dy, w = randn(10, 40), randn(10, 40, seed=1), randn(40, seed=2)
    rstd = torch.rsqrt((x * x).mean(1) + 1e-5)
    kernel[(3,)](dy, x, w, rstd, torch.zeros(10, 40), torch.zeros(3, 40), 10, 40, ROWS=4, BLOCK=64)


@triton.jit
def group_norm(x_ptr, w_ptr, b_ptr, y_ptr, channels, pixels, groups, eps, GROUP: tl.constexpr, PIXELS: tl.constexpr):
    pid = tl.program_id(0)
    sample = pid // groups
    group = pid % groups
    size = channels // groups
    c = tl.arange(0, GROUP)
    p = tl.arange(0, PIXELS)
    channel = group * size + c
    inside = (c < size)[:, None] & (p < pixels)[None, :]
    at = (sample * channels + channel[:, None]) * pixels + p[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    count = size * pixels
    mean = tl.sum(x) / count
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred) / count + eps)
    w = tl.load(w_ptr + channel, mask=c < size, other=0.0)
    b = tl.load(b_ptr + channel, mask=c < size, other=0.0)
    tl.store(y_ptr + at, centred * rstd * w[:, None] + b[:, None], mask=inside)


def run_group_norm(kernel) -> None:
    x, w, b = randn(2, 12, 5, 5), randn(12, seed=1), randn(12, seed=2)
    kernel[(8,)](x, w, b, torch.zeros_like(x), 12, 25, 4, 1e-5, GROUP=4, PIXELS=32)


@triton.jit
def running_statistics(x_ptr, mean_ptr, var_ptr, n, momentum, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + channel * n + at, mask=at < n, other=0.0)
    mean = tl.sum(x, axis=0) / n
    apart = tl.where(at < n, x - mean, 0.0)
    variance = tl.sum(apart * apart, axis=0) / (n - 1)
    old_mean = tl.load(mean_ptr + channel)
    old_var = tl.load(var_ptr + channel)
    tl.store(mean_ptr + channel, mean * momentum + old_mean * (1 - momentum))
    tl.store(var_ptr + channel, variance * momentum + old_var * (1 - momentum))


def run_running_statistics(kernel) -> None:
    kernel[(9,)](randn(9, 12), randn(9, seed=1), torch.rand(9, generator=torch.Generator()) + 1, 12, 0.1, BLOCK=16)


@triton.jit
def softmax_blocks(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = float("-inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=float("-inf"))
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        y = tl.exp(tl.load(x_ptr + row * n + cols, mask=cols < n) - top) / total
        tl.store(y_ptr + row * n + cols, y, mask=cols < n)


def run_softmax_blocks(kernel) -> None:
    kernel[(5,)](randn(5, 40) + 4 * randn(5, 1, seed=1), torch.zeros(5, 40), 40, BLOCK=16)


NORMS = (
    Subject(
        layer_norm, run_layer_norm,
        (
            Slip("masked-off lanes", "tl.where(inside, x - mean, 0.0)", "x - mean",
                 "Triton issue 9838 and Liger-Kernel issue 518: the variance counts padded lanes",
                 also=("variance =",)),
            Slip("divisor", "mean = tl.sum(x, axis=0) / n", "mean = tl.sum(x, axis=0) / BLOCK",
                 "learners' layer norms: the mean over the padded block"),
            Slip("epsilon", "1.0 / tl.sqrt(variance + eps)", "1.0 / (tl.sqrt(variance) + eps)",
                 "LeetCUDA pull request 317: epsilon stands in the wrong parenthesis"),
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: {
            "y_ptr": torch.nn.functional.layer_norm(x_ptr, (50,), w_ptr, b_ptr, 0.01)
        },
    ),
    Subject(
        rms_norm_backward, run_rms_norm_backward,
        (
            Slip("wrong operand", "dw += dy * normed", "dw += dy * x",
                 "Liger-Kernel's and Unsloth's RMS norm: the weight's gradient takes the raw input"),
            Slip("accumulator", "dw += dy * normed", "dw = dy * normed",
                 "learners' backward passes: the last row overwrites the sum"),
            Slip("sign", "(weighted - normed * along)", "(weighted + normed * along)",
                 "learners' backward passes: the projection is added"),
            Slip("index", "rstd_ptr + row)", "rstd_ptr + pid)",
                 "FlagGems pull request 59: row statistics are read per program"),
        ),
    ),
    Subject(
        group_norm, run_group_norm,
        (
            Slip("mask", "inside = (c < size)[:, None]", "inside = (channel < channels)[:, None]",
                 "FlagGems pull request 4985: padded channels of a group belong to the next"),
            Slip("index", "w_ptr + channel", "w_ptr + c",
                 "reports of group norm: each group reads the first group's weights"),
            Slip("divisor", "count = size * pixels", "count = GROUP * pixels",
                 "FlagGems pull request 4985: the padded size as the number of elements", also=("mean =",)),
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: torch.nn.functional.group_norm(x_ptr, 4, w_ptr, b_ptr, 1e-5),
    ),
    Subject(
        running_statistics, run_running_statistics,
        (
            Slip("divisor", "/ (n - 1)", "/ n",
                 "trident pull request 125 and tt-metal issue 55438: the biased variance is kept"),
            Slip("exchanged operands", "mean * momentum + old_mean * (1 - momentum)",
                 "mean * (1 - momentum) + old_mean * momentum",
                 "reports of batch norm: momentum weighs the old value"),
        ),
    ),
    Subject(
        softmax_blocks, run_softmax_blocks,
        (
            Slip("masked-off lanes", 'other=float("-inf"))', "other=0.0)",
                 "learners' softmax: masked-off lanes hold 0 under negative values"),
            Slip("accumulator", "total * tl.exp(top - new) +", "total +",
                 "learners' online softmax, Triton puzzle 8: the old sum is not rescaled"),
            Slip("exchanged operands", "tl.exp(top - new)", "tl.exp(new - top)",
                 "learners' online softmax: the rescaling is turned round"),
        ),
        lambda x_ptr, **_: torch.softmax(x_ptr, 1),
    ),
)  # fmt: skip
