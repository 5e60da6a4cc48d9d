"""Filters, sampling and rearrangement of pixels, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def sobel(x_ptr, y_ptr, height, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, 3):
        r = row + step - 1
        inside = (r >= 0) & (r < height)
        weight = tl.where(step == 1, 2.0, 1.0)
        left = tl.load(x_ptr + r * width + col - 1, mask=inside & (col >= 1) & (col < width), other=0.0)
        right = tl.load(x_ptr + r * width + col + 1, mask=inside & (col + 1 < width), other=0.0)
        acc += weight * (right - left)
    tl.store(y_ptr + row * width + col, acc, mask=col < width)


def run_sobel(kernel) -> None:
    kernel[(9,)](randn(9, 13), torch.zeros(9, 13), 9, 13, BLOCK=16)


def right_sobel(x_ptr, **_):
    weight = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    return torch.nn.functional.conv2d(x_ptr[None, None], weight[None, None], padding=1)[0, 0]


@triton.jit
def sample_rows(x_ptr, place_ptr, y_ptr, width, places, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < places
    place = (tl.load(place_ptr + at, mask=inside, other=0.0) + 1) * 0.5 * (width - 1)
    low = tl.floor(place)
    part = place - low
    first = low.to(tl.int32)
    second = tl.minimum(first + 1, width - 1)
    a = tl.load(x_ptr + row * width + first, mask=inside, other=0.0)
    b = tl.load(x_ptr + row * width + second, mask=inside, other=0.0)
    tl.store(y_ptr + row * places + at, a * (1 - part) + b * part, mask=inside)


def run_sample_rows(kernel) -> None:
    place = torch.rand(20, generator=torch.Generator().manual_seed(1)) * 2 - 1
    kernel[(4,)](randn(4, 17), place, torch.zeros(4, 20), 17, 20, BLOCK=32)


def right_sample_rows(x_ptr, place_ptr, **_):
    grid = torch.stack([place_ptr, torch.zeros_like(place_ptr)], dim=-1)[None, None]
    return torch.nn.functional.grid_sample(x_ptr[None, :, None], grid, align_corners=True)[0, :, 0]


@triton.jit
def pixel_shuffle(x_ptr, y_ptr, height, width, R: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(1)
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    inside = col < width * R
    part = (row % R) * R + col % R
    source = ((channel * R * R + part) * height + row // R) * width + col // R
    x = tl.load(x_ptr + source, mask=inside, other=0.0)
    tl.store(y_ptr + (channel * height * R + row) * width * R + col, x, mask=inside)


def run_pixel_shuffle(kernel) -> None:
    kernel[(6, 2)](randn(8, 3, 5), torch.zeros(2, 6, 10), 3, 5, R=2, BLOCK=16)


@triton.jit
def transposed_convolution(x_ptr, w_ptr, bias_ptr, y_ptr, length, out_length, stride, pad, TAPS: tl.constexpr,
                           BLOCK: tl.constexpr):  # fmt: skip
    channel = tl.program_id(0)
    t = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for tap in range(0, TAPS):
        moved = t + pad - tap
        source = moved // stride
        real = (moved >= 0) & (moved % stride == 0) & (source < length)
        x = tl.load(x_ptr + channel * length + source, mask=real, other=0.0)
        acc += x * tl.load(w_ptr + channel * TAPS + tap)
    bias = tl.load(bias_ptr + channel)
    tl.store(y_ptr + channel * out_length + t, acc + bias, mask=t < out_length)


def run_transposed_convolution(kernel) -> None:
    kernel[(3,)](randn(3, 11), randn(3, 1, 4, seed=1), randn(3, seed=2), torch.zeros(3, 22), 11, 22, 2, 1,
                 TAPS=4, BLOCK=32)  # fmt: skip


def right_transposed_convolution(x_ptr, w_ptr, bias_ptr, stride, pad, **_):
    return torch.nn.functional.conv_transpose1d(x_ptr, w_ptr, bias_ptr, stride=stride, padding=pad, groups=3)


@triton.jit
def unfold(x_ptr, y_ptr, height, width, out_width, places, stride, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    tap = tl.program_id(0)
    channel = tl.program_id(1)
    place = tl.arange(0, BLOCK)
    row = place // out_width * stride + tap // SIZE
    col = place % out_width * stride + tap % SIZE
    inside = place < places
    x = tl.load(x_ptr + (channel * height + row) * width + col, mask=inside, other=0.0)
    tl.store(y_ptr + (channel * SIZE * SIZE + tap) * places + place, x, mask=inside)


def run_unfold(kernel) -> None:
    kernel[(9, 2)](randn(2, 9, 11), torch.zeros(18, 20), 9, 11, 5, 20, 2, SIZE=3, BLOCK=32)


@triton.jit
def response_norm(x_ptr, y_ptr, channels, pixels, alpha, k, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < pixels
    squares = tl.zeros((BLOCK,), tl.float32)
    for step in range(0, SIZE):
        c = channel + step - SIZE // 2
        near = tl.load(x_ptr + c * pixels + at, mask=inside & (c >= 0) & (c < channels), other=0.0)
        squares += near * near
    x = tl.load(x_ptr + channel * pixels + at, mask=inside, other=0.0)
    y = x / tl.sqrt(k + alpha * squares / SIZE)
    tl.store(y_ptr + channel * pixels + at, y, mask=inside)


def run_response_norm(kernel) -> None:
    kernel[(8,)](randn(8, 21), torch.zeros(8, 21), 8, 21, 1.5, 1.0, SIZE=3, BLOCK=32)


def right_response_norm(x_ptr, alpha, k, **_):
    return torch.nn.functional.local_response_norm(x_ptr[None], 3, alpha=alpha, beta=0.5, k=k)[0]


@triton.jit
def box_overlap(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < n
    left = tl.load(a_ptr + i * 4)
    top = tl.load(a_ptr + i * 4 + 1)
    right = tl.load(a_ptr + i * 4 + 2)
    bottom = tl.load(a_ptr + i * 4 + 3)
    other_left = tl.load(b_ptr + j * 4, mask=inside, other=0.0)
    other_top = tl.load(b_ptr + j * 4 + 1, mask=inside, other=0.0)
    other_right = tl.load(b_ptr + j * 4 + 2, mask=inside, other=0.0)
    other_bottom = tl.load(b_ptr + j * 4 + 3, mask=inside, other=0.0)
    wide = tl.maximum(tl.minimum(right, other_right) - tl.maximum(left, other_left), 0.0)
    high = tl.maximum(tl.minimum(bottom, other_bottom) - tl.maximum(top, other_top), 0.0)
    shared = wide * high
    area = (right - left) * (bottom - top)
    other_area = (other_right - other_left) * (other_bottom - other_top)
    tl.store(out_ptr + i * n + j, shared / (area + other_area - shared), mask=inside)


def run_box_overlap(kernel) -> None:
    a, b = randn(6, 4), randn(11, 4, seed=1)
    for boxes in (a, b):
        boxes[:, 2:] = boxes[:, :2] + 0.5 + boxes[:, 2:].abs()
    kernel[(6,)](a, b, torch.zeros(6, 11), 11, BLOCK=16)


def right_box_overlap(a_ptr, b_ptr, **_):
    low, high = torch.maximum(a_ptr[:, None, :2], b_ptr[:, :2]), torch.minimum(a_ptr[:, None, 2:], b_ptr[:, 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(-1) for boxes in (a_ptr, b_ptr)]
    return shared / (areas[0][:, None] + areas[1] - shared)


@triton.jit
def integral_image(x_ptr, y_ptr, height, width, H: tl.constexpr, W: tl.constexpr):
    image = tl.program_id(0)
    r = tl.arange(0, H)[:, None]
    c = tl.arange(0, W)[None, :]
    inside = (r < height) & (c < width)
    at = (image * height + r) * width + c
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    along = tl.cumsum(x, axis=1)
    y = tl.cumsum(along, axis=0)
    tl.store(y_ptr + at, y, mask=inside)


def run_integral_image(kernel) -> None:
    kernel[(3,)](randn(3, 7, 13), torch.zeros(3, 7, 13), 7, 13, H=8, W=16)


PIXELS = (
    Subject(
        sobel, run_sobel,
        (
            Slip("exchanged operands", "weight * (right - left)", "weight * (left - right)",
                 "learners' filters: the kernel is turned"),
            Slip("mask", "inside & (col >= 1) & (col < width)", "inside & (r * width + col >= 1) & (col < width)",
                 "gpu-mode lectures issue 51 and learners: a border's mask is missing"),
        ),
        right_sobel,
    ),
    Subject(
        sample_rows, run_sample_rows,
        (
            Slip("constant", "* 0.5 * (width - 1)", "* 0.5 * width",
                 "learners' sampling: the width for the last place"),
            Slip("exchanged operands", "a * (1 - part) + b * part", "a * part + b * (1 - part)",
                 "learners' interpolation: the weights are exchanged"),
        ),
        right_sample_rows,
    ),
    Subject(
        pixel_shuffle, run_pixel_shuffle,
        (
            Slip("index", "(row % R) * R + col % R", "(col % R) * R + row % R",
                 "learners' rearrangements: two indices are exchanged"),
            Slip("integer division", "* width + col // R", "* width + col % width",
                 "learners' rearrangements: remainder for quotient"),
        ),
        lambda x_ptr, **_: torch.nn.functional.pixel_shuffle(x_ptr[None], 2)[0],
    ),
    Subject(
        transposed_convolution, run_transposed_convolution,
        (
            Slip("mask", "(moved >= 0) & (moved % stride == 0) & (source < length)",
                 "(moved >= 0) & (source < length)", "learners' transposed convolutions: places between the strides"),
            Slip("missing term", "t, acc + bias, mask", "t, acc, mask",
                 "learners' convolutions: the bias"),
            Slip("index", "w_ptr + channel * TAPS + tap", "w_ptr + channel * TAPS + TAPS - 1 - tap",
                 "learners' convolutions: the kernel is flipped"),
        ),
        right_transposed_convolution,
    ),
    Subject(
        unfold, run_unfold,
        (
            Slip("stride or address", "place % out_width * stride + tap % SIZE", "place % out_width + tap % SIZE",
                 "reports of convolutions: the stride of one axis is not used"),
            Slip("exchanged operands", "row = place // out_width * stride + tap // SIZE",
                 "row = place // out_width * stride + tap % SIZE",
                 "learners' convolutions: the tap's column for its row"),
        ),
        lambda x_ptr, stride, **_: torch.nn.functional.unfold(x_ptr[None], 3, stride=stride)[0],
    ),
    Subject(
        response_norm, run_response_norm,
        (
            Slip("divisor", "alpha * squares / SIZE", "alpha * squares",
                 "learners' norms: the size of the window"),
            Slip("loop", "range(0, SIZE)", "range(0, SIZE - 1)", "learners' windows: the last neighbour is left out"),
        ),
        right_response_norm,
    ),
    Subject(
        box_overlap, run_box_overlap,
        (
            Slip("missing term", "(area + other_area - shared)", "(area + other_area)",
                 "learners' overlaps: the intersection is counted twice"),
            Slip("missing function", "tl.maximum(tl.minimum(bottom, other_bottom) - tl.maximum(top, other_top), 0.0)",
                 "tl.minimum(bottom, other_bottom) - tl.maximum(top, other_top)",
                 "learners' overlaps: boxes apart get a negative side"),
            Slip("wrong operand", "other_area = (other_right - other_left)", "other_area = (right - other_left)",
                 "learners' overlaps: one box's corner for the other's"),
        ),
        right_box_overlap,
    ),
    Subject(
        integral_image, run_integral_image,
        (
            Slip("axis", "tl.cumsum(along, axis=0)", "tl.cumsum(along, axis=1)",
                 "learners' scans: the same axis twice"),
        ),
        lambda x_ptr, **_: x_ptr.cumsum(2).cumsum(1),
    ),
)  # fmt: skip
