"""2-D convolution as a matrix product whose matrix is never built (implicit GEMM).

If every window of the image becomes a row, the result is a matrix of (images x output places, channels x window), and
the convolution is its product with the weights. That matrix repeats each pixel up to kernel-size times, so it is
never built: its row and column determine the pixel, and the kernel loads that.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def conv2d_kernel(
    x_ptr,
    weight_ptr,
    out_ptr,
    images,
    channels,
    height,
    width,
    out_channels,
    out_height,
    out_width,
    stride_xn,
    stride_xc,
    stride_xh,
    stride_xw,
    STEP: tl.constexpr,
    PADDING: tl.constexpr,
    WINDOW_H: tl.constexpr,
    WINDOW_W: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    place = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    out_channel = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    image = place // (out_height * out_width)
    out_row = place // out_width % out_height
    out_column = place % out_width

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    unrolled = channels * WINDOW_H * WINDOW_W
    for start in range(0, unrolled, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        channel = k // (WINDOW_H * WINDOW_W)
        row = out_row[:, None] * STEP - PADDING + (k // WINDOW_W % WINDOW_H)[None, :]
        column = out_column[:, None] * STEP - PADDING + (k % WINDOW_W)[None, :]
        # The padding is never stored anywhere: a pixel outside the image loads as zero.
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        x_offset = image[:, None] * stride_xn + channel[None, :] * stride_xc + row * stride_xh + column * stride_xw
        x = tl.load(x_ptr + x_offset, mask=inside & (image < images)[:, None] & (k < unrolled)[None, :], other=0.0)
        weight = tl.load(
            weight_ptr + out_channel[None, :] * unrolled + k[:, None],
            mask=(out_channel < out_channels)[None, :] & (k < unrolled)[:, None],
            other=0.0,
        )
        accumulator = tl.dot(x, weight, accumulator, input_precision="ieee")

    # The output is (image, channel, row, column): its channel stride lies between image and row.
    plane = out_height * out_width
    out_offset = (image * out_channels * plane + place % plane)[:, None] + out_channel[None, :] * plane
    tl.store(out_ptr + out_offset, accumulator, mask=(image < images)[:, None] & (out_channel < out_channels)[None, :])


def conv2d(x: torch.Tensor, weight: torch.Tensor, step: int = 1, padding: int = 0) -> torch.Tensor:
    """Convolve x (images, channels, height, width), any strides, with a contiguous weight (out, channels, h, w)."""
    images, channels, height, width = x.shape
    out_channels, _, window_h, window_w = weight.shape
    assert weight.is_contiguous() and weight.shape[1] == channels
    out_height = (height + 2 * padding - window_h) // step + 1
    out_width = (width + 2 * padding - window_w) // step + 1
    out = torch.empty((images, out_channels, out_height, out_width), device=x.device, dtype=x.dtype)
    block_m, block_n, block_k = 64, 32, 32
    grid = (triton.cdiv(images * out_height * out_width, block_m), triton.cdiv(out_channels, block_n))
    conv2d_kernel[grid](
        x,
        weight,
        out,
        images,
        channels,
        height,
        width,
        out_channels,
        out_height,
        out_width,
        *x.stride(),
        STEP=step,
        PADDING=padding,
        WINDOW_H=window_h,
        WINDOW_W=window_w,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
    )
    return out


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """float32: 2 images of 3 x 11 x 9 with step 2, or 4 images of 32 x 56 x 56; windows of 3 x 3, padding 1."""
    shape, out_channels, step = {"small": ((2, 3, 11, 9), 5, 2), "bench": ((4, 32, 56, 56), 64, 1)}[size]
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator)
    weight = torch.randn((out_channels, shape[1], 3, 3), generator=generator)
    return {"x": x.to(device), "weight": weight.to(device), "step": step, "padding": 1}


def reference(x: torch.Tensor, weight: torch.Tensor, step: int = 1, padding: int = 0) -> torch.Tensor:
    """The same in torch, in float64, rounded once."""
    return torch.nn.functional.conv2d(x.double(), weight.double(), stride=step, padding=padding).to(x.dtype)


# float32 sums of up to 288 products of order 1.
EXAMPLES = (Example("conv2d", "2-D convolution", conv2d, reference, inputs, rtol=1e-5, atol=1e-4),)
