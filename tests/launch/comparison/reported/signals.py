"""Kernels on signals and series, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def smooth(x_ptr, y_ptr, n, alpha, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    before = tl.load(x_ptr + row * n + at - 1, mask=(at > 0) & (at < n), other=0.0)
    after = tl.load(x_ptr + row * n + at + 1, mask=at + 1 < n, other=0.0)
    y = (1 - alpha) * x + alpha * 0.5 * (before + after)
    tl.store(y_ptr + row * n + at, y, mask=at < n)


def run_smooth(kernel) -> None:
    kernel[(5,)](randn(5, 27), torch.zeros(5, 27), 27, 0.25, BLOCK=32)


@triton.jit
def window_energy(x_ptr, out_ptr, frames, hop, width, BLOCK: tl.constexpr):
    frame = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    turn = 6.283185307179586 * at / width
    window = 0.5 - 0.5 * tl.cos(turn)
    x = tl.load(x_ptr + frame * hop + at, mask=at < width, other=0.0)
    energy = tl.sum(tl.where(at < width, x * x * window * window, 0.0), axis=0)
    tl.store(out_ptr + frame, tl.log(energy + 1e-3))


def run_window_energy(kernel) -> None:
    kernel[(9,)](randn(80), torch.zeros(9), 9, 7, 20, BLOCK=32)


def right_window_energy(x_ptr, out_ptr, hop, width, **_):
    frames = x_ptr.unfold(0, width, hop)[: len(out_ptr)]
    return ((frames * torch.hann_window(width)) ** 2).sum(1).add(1e-3).log()


@triton.jit
def resample(x_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    out = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = out * (n - 1) / (m - 1)
    left = tl.floor(place).to(tl.int32)
    right = tl.minimum(left + 1, n - 1)
    part = place - left
    a = tl.load(x_ptr + left, mask=out < m, other=0.0)
    b = tl.load(x_ptr + right, mask=out < m, other=0.0)
    tl.store(y_ptr + out, a + part * (b - a), mask=out < m)


def run_resample(kernel) -> None:
    kernel[(3,)](randn(13), torch.zeros(41), 13, 41, BLOCK=16)


@triton.jit
def autocorrelation(x_ptr, out_ptr, n, lags, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lag = tl.program_id(1)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    later = tl.load(x_ptr + row * n + at + lag, mask=at + lag < n, other=0.0)
    tl.store(out_ptr + row * lags + lag, tl.sum(x * later, axis=0) / (n - lag))


def run_autocorrelation(kernel) -> None:
    kernel[(6, 6)](randn(6, 29), torch.zeros(6, 6), 29, 6, BLOCK=32)


@triton.jit
def decaying_sum(x_ptr, y_ptr, length, channels, decay, BLOCK: tl.constexpr):
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = channel < channels
    state = tl.zeros((BLOCK,), tl.float32)
    for step in range(length):
        x = tl.load(x_ptr + step * channels + channel, mask=inside, other=0.0)
        state = decay * state + (1 - decay) * x
        tl.store(y_ptr + step * channels + channel, state, mask=inside)


def run_decaying_sum(kernel) -> None:
    kernel[(2,)](randn(9, 13), torch.zeros(9, 13), 9, 13, 0.8, BLOCK=8)


@triton.jit
def haar(x_ptr, low_ptr, high_ptr, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < half
    even = tl.load(x_ptr + row * 2 * half + 2 * at, mask=inside, other=0.0)
    odd = tl.load(x_ptr + row * 2 * half + 2 * at + 1, mask=inside, other=0.0)
    tl.store(low_ptr + row * half + at, (even + odd) * 0.7071067811865476, mask=inside)
    tl.store(high_ptr + row * half + at, (even - odd) * 0.7071067811865476, mask=inside)


def run_haar(kernel) -> None:
    kernel[(4,)](randn(4, 26), torch.zeros(4, 13), torch.zeros(4, 13), 13, BLOCK=16)


@triton.jit
def zero_crossings(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    later = tl.load(x_ptr + row * n + at + 1, mask=at + 1 < n, other=0.0)
    crossing = (x * later < 0) & (at + 1 < n)
    tl.store(out_ptr + row, tl.sum(crossing.to(tl.int32), axis=0))


def run_zero_crossings(kernel) -> None:
    kernel[(6,)](randn(6, 27), torch.zeros(6, dtype=torch.int32), 27, BLOCK=32)


@triton.jit
def detrend(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + row * n + at, mask=inside, other=0.0)
    centre = (n - 1) * 0.5
    time = tl.where(inside, at - centre, 0.0)
    mean = tl.sum(x, axis=0) / n
    slope = tl.sum(time * x, axis=0) / tl.sum(time * time, axis=0)
    tl.store(y_ptr + row * n + at, x - mean - slope * time, mask=inside)


def run_detrend(kernel) -> None:
    x = randn(5, 27) + torch.arange(27.0) * 0.3
    kernel[(5,)](x, torch.zeros(5, 27), 27, BLOCK=32)


SIGNALS = (
    Subject(
        smooth,
        run_smooth,
        (
            Slip("scale", "alpha * 0.5 * (before", "alpha * (before", "a mean of two neighbours that was a sum"),
            Slip(
                "exchanged operands",
                "(1 - alpha) * x + alpha * 0.5",
                "alpha * x + (1 - alpha) * 0.5",
                "the smoothing factor the other way round",
            ),
            Slip("index", "n + at + 1, mask=at + 1 < n", "n + at + 2, mask=at + 2 < n", "the neighbour after the next"),
        ),
    ),
    Subject(
        window_energy,
        run_window_energy,
        (
            Slip("sign", "0.5 - 0.5 * tl.cos", "0.5 + 0.5 * tl.cos", "a window whose ends are 1"),
            Slip("divisor", "* at / width", "* at / (width - 1)", "periodic and symmetric windows"),
            Slip("missing function", "tl.log(energy + 1e-3)", "energy + 1e-3", "log forgotten"),
            Slip("missing term", "x * x * window * window", "x * x * window", "the window applied once"),
        ),
        right_window_energy,
    ),
    Subject(
        resample,
        run_resample,
        (
            Slip("constant", "(n - 1) / (m - 1)", "n / m", "aligned corners"),
            Slip(
                "exchanged operands", "a + part * (b - a)", "b + part * (a - b)", "weights of interpolation exchanged"
            ),
            Slip(
                "index", "tl.minimum(left + 1, n - 1)", "tl.minimum(left, n - 1)", "the right neighbour is the left one"
            ),
        ),
    ),
    Subject(
        autocorrelation,
        run_autocorrelation,
        (
            Slip("divisor", "/ (n - lag)", "/ n", "biased in place of unbiased"),
            Slip("program or head", "x_ptr + row * n + at + lag", "x_ptr + at + lag", "the row forgotten at one load"),
            Slip(
                "stride or address",
                "out_ptr + row * lags + lag",
                "out_ptr + lag * lags + row",
                "rows and columns of the result",
            ),
        ),
    ),
    Subject(
        decaying_sum,
        run_decaying_sum,
        (
            Slip(
                "exchanged operands",
                "decay * state + (1 - decay) * x",
                "(1 - decay) * state + decay * x",
                "the decay of the other term",
            ),
            Slip("missing term", "(1 - decay) * x", "x", "the weight of the new value forgotten"),
            Slip(
                "order of steps",
                "state = decay * state + (1 - decay) * x\n"
                "        tl.store(y_ptr + step * channels + channel, state, mask=inside)",
                "tl.store(y_ptr + step * channels + channel, state, mask=inside)\n"
                "        state = decay * state + (1 - decay) * x",
                "stored before the update",
            ),
        ),
    ),
    Subject(
        haar,
        run_haar,
        (
            Slip("scale", "(even + odd) * 0.7071067811865476", "(even + odd) * 0.5", "another norm of a transform"),
            Slip("sign", "(even - odd)", "(odd - even)", "the difference the other way round"),
            Slip("index", "half + 2 * at + 1", "half + at + 1", "a stride of two forgotten at one load"),
        ),
    ),
    Subject(
        zero_crossings,
        run_zero_crossings,
        (
            Slip("comparison", "x * later < 0", "x * later > 0", "the comparison turned round"),
            Slip("index", "n + at + 1, mask=at + 1 < n", "n + at + 2, mask=at + 2 < n", "one element too far"),
        ),
    ),
    Subject(
        detrend,
        run_detrend,
        (
            Slip("constant", "(n - 1) * 0.5", "n * 0.5", "the middle of n places"),
            Slip("missing term", "x - mean - slope * time", "x - slope * time", "the mean kept"),
            Slip(
                "wrong operand", "tl.sum(time * time, axis=0)", "tl.sum(x * x, axis=0)", "normalized by the wrong sum"
            ),
        ),
    ),
)
