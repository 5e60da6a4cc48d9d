"""Convolutions, pooling and resizing of images, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def convolution(
    x_ptr, w_ptr, b_ptr, y_ptr, channels, height, width, filters, out_height, out_width, stride, padding,
    SIZE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(1) // filters
    f = tl.program_id(1) % filters
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = at // out_width * stride - padding
    col = at % out_width * stride - padding
    acc = tl.zeros((BLOCK,), tl.float32)
    for c in range(0, channels):
        for i in range(0, SIZE):
            for j in range(0, SIZE):
                y = row + i
                x = col + j
                inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
                value = tl.load(x_ptr + ((image * channels + c) * height + y) * width + x, mask=inside, other=0.0)
                weight = tl.load(w_ptr + ((f * channels + c) * SIZE + i) * SIZE + j)
                acc += value * weight
    acc += tl.load(b_ptr + f)
    last = out_height * out_width
    tl.store(y_ptr + tl.program_id(1) * last + at, acc, mask=at < last)


def run_convolution(kernel) -> None:
    kernel[(2, 8)](
        randn(2, 3, 9, 8), randn(4, 3, 3, 3, seed=1), randn(4, seed=2), torch.zeros(2, 4, 5, 4),
        3, 9, 8, 4, 5, 4, 2, 1, SIZE=3, BLOCK=16,
    )  # fmt: skip


@triton.jit
def max_pool(x_ptr, y_ptr, index_ptr, height, width, out_height, out_width, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    last = out_height * out_width
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    where = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, SIZE):
        for j in range(0, SIZE):
            y = at // out_width * 2 + i - 1
            x = at % out_width * 2 + j - 1
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width) & (at < last)
            value = tl.load(x_ptr + (plane * height + y) * width + x, mask=inside, other=float("-inf"))
            better = value > best
            best = tl.where(better, value, best)
            where = tl.where(better, y * width + x, where)
    tl.store(y_ptr + plane * last + at, best, mask=at < last)
    tl.store(index_ptr + plane * last + at, where, mask=at < last)


def run_max_pool(kernel) -> None:
    x = torch.round(1.5 * randn(3, 9, 7)) - 1
    kernel[(2, 3)](x, torch.zeros(3, 5, 4), torch.zeros(3, 5, 4, dtype=torch.int32), 9, 7, 5, 4, SIZE=3, BLOCK=16)


@triton.jit
def average_pool(x_ptr, y_ptr, height, width, out_height, out_width, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    last = out_height * out_width
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, SIZE):
        for j in range(0, SIZE):
            y = at // out_width * 2 + i - 1
            x = at % out_width * 2 + j - 1
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width) & (at < last)
            total += tl.load(x_ptr + (plane * height + y) * width + x, mask=inside, other=0.0)
            count += tl.where(inside, 1.0, 0.0)
    tl.store(y_ptr + plane * last + at, total / count, mask=at < last)


def run_average_pool(kernel) -> None:
    kernel[(2, 3)](randn(3, 9, 7), torch.zeros(3, 5, 4), 9, 7, 5, 4, SIZE=3, BLOCK=16)


@triton.jit
def resize(x_ptr, y_ptr, width, out_width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    source = tl.maximum((o + 0.5) * (width / out_width) - 0.5, 0.0)
    left = source.to(tl.int32)
    right = tl.minimum(left + 1, width - 1)
    part = source - left
    a = tl.load(x_ptr + row * width + left, mask=o < out_width, other=0.0)
    b = tl.load(x_ptr + row * width + right, mask=o < out_width, other=0.0)
    tl.store(y_ptr + row * out_width + o, a * (1 - part) + b * part, mask=o < out_width)


def run_resize(kernel) -> None:
    kernel[(6,)](randn(6, 10), torch.zeros(6, 16), 10, 16, BLOCK=16)


@triton.jit
def nearest_exact(x_ptr, y_ptr, width, out_width, ratio, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    source = tl.minimum(((o + 0.5) * ratio).to(tl.int32), width - 1)
    x = tl.load(x_ptr + row * width + source, mask=o < out_width)
    tl.store(y_ptr + row * out_width + o, x, mask=o < out_width)


def run_nearest_exact(kernel) -> None:
    kernel[(4,)](randn(4, 10), torch.zeros(4, 15), 10, 15, 10 / 15, BLOCK=16)


IMAGES = (
    Subject(
        convolution, run_convolution,
        (
            Slip("index", "* SIZE + i) * SIZE + j)", "* SIZE + j) * SIZE + i)",
                 "learners' convolutions, a Triton puzzle: the filter is transposed"),
            Slip("missing term", "col = at % out_width * stride - padding", "col = at % out_width * stride",
                 "learners' convolutions: one side is not padded"),
            Slip("program or head", "row = at // out_width * stride", "row = at // out_height * stride",
                 "learners' convolutions: the row of a pixel by the wrong size"),
            Slip("loop", "for c in range(0, channels):", "for c in range(1, channels):",
                 "learners' convolutions: a loop that leaves out the first channel"),
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: torch.nn.functional.conv2d(x_ptr, w_ptr, b_ptr, stride=2, padding=1),
    ),
    Subject(
        max_pool, run_max_pool,
        (
            Slip("masked-off lanes", 'other=float("-inf"))', "other=0.0)",
                 "reports of pooling: the border counts as 0"),
            Slip("index", "y * width + x, where)", "y * out_width + x, where)",
                 "TensorFlow issue 10216: the index of a maximum by another size"),
            Slip("comparison", "better = value > best", "better = value >= best",
                 "reports of pooling: the last of equal values"),
        ),
    ),
    Subject(
        average_pool, run_average_pool,
        (
            Slip("divisor", "total / count", "total / (SIZE * SIZE)",
                 "reports of pooling: the padding is counted"),
        ),
        lambda x_ptr, **_: torch.nn.functional.avg_pool2d(x_ptr, 3, 2, 1, count_include_pad=False),
    ),
    Subject(
        resize, run_resize,
        (
            Slip("constant", "(o + 0.5) * (width / out_width) - 0.5", "o * (width / out_width)",
                 "FlagGems issue 5216: the corners' rule for the centres'"),
            Slip("scale", "(width / out_width)", "((width - 1) / (out_width - 1))",
                 "FlagGems issue 5218: the scale of aligned corners"),
            Slip("exchanged operands", "a * (1 - part) + b * part", "a * part + b * (1 - part)",
                 "learners' interpolation: the weights are exchanged"),
        ),
        lambda x_ptr, **_: torch.nn.functional.interpolate(x_ptr[None], size=16, mode="linear")[0],
    ),
    Subject(
        nearest_exact, run_nearest_exact,
        (
            Slip("constant", "((o + 0.5) * ratio)", "(o * ratio)",
                 "FlagGems issue 5228: the half pixel is missing"),
        ),
        lambda x_ptr, **_: torch.nn.functional.interpolate(x_ptr[None], size=15, mode="nearest-exact")[0],
    ),
)  # fmt: skip
