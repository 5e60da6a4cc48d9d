"""RMS normalisation of rows of any length: a program reads its row twice, block by block, and never holds all of it.

y = x / sqrt(mean(x^2) + eps) * weight. Softmax and layer norm hold a row in registers, so that a long row needs a
long block. Here each lane sums the squares of its own columns over all blocks, and one reduction after the loop
combines the lanes: the loop itself has no reduction. The second pass reads x again, mostly from the cache.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size
from triton_lab.localization import _


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, y_ptr, x_row_stride, y_row_stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + lane
        x = tl.load(x_ptr + row * x_row_stride + column, mask=column < columns, other=0.0).to(tl.float32)
        squares += x * x  # lanes past the end add nothing
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        column = start + lane
        mask = column < columns
        x = tl.load(x_ptr + row * x_row_stride + column, mask=mask).to(tl.float32)
        weight = tl.load(weight_ptr + column, mask=mask)
        tl.store(y_ptr + row * y_row_stride + column, x * rstd * weight, mask=mask)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6, block: int = 256) -> torch.Tensor:
    """`x` (rows, columns), whose columns are contiguous, normalised by row and scaled by `weight` (columns,).

    Computed in float32 and returned in x's dtype; `block`, a power of two, is the number of columns per step.
    """
    if x.stride(1) != 1 and x.shape[1] > 1:
        raise ValueError(
            _("the columns of x must be contiguous, but its strides are {stride}: use x.contiguous()").format(
                stride=x.stride()
            )
        )
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        rms_norm_kernel[(x.shape[0],)](
            x, weight.contiguous(), y, x.stride(0), y.stride(0), x.shape[1], eps, BLOCK=block
        )
    return y


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """One float32 matrix, (9, 600) or (1024, 4000), and a weight for its columns."""
    rows, columns = {"small": (9, 600), "bench": (1024, 4000)}[size]
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((rows, columns), generator=generator) * 3
    weight = torch.randn(columns, generator=generator)
    return {"x": x.to(device), "weight": weight.to(device)}


def reference(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """The same in torch."""
    return torch.nn.functional.rms_norm(x, (x.shape[1],), weight, eps)


# float32: a sum of up to 4,000 squares in another order than torch's, errors of 2^-24 times the depth of the sum (16
# steps a lane and 8 halvings), halved by the root; then three roundings.
EXAMPLES = (Example("rms_norm", "RMS norm, in blocks", rms_norm, reference, inputs, rtol=3e-6, atol=1e-7),)
