"""Memory that nobody wrote, copied by torch before the kernel reads it; and reads of which some are used."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)  # BUG
    tl.store(out_ptr + offsets, x.to(tl.float32) * 2, mask=offsets < n)


def half_written(mended: bool, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """64 elements, of which the first 40 were written, or all."""
    x = torch.empty(64, dtype=dtype)
    x[: 64 if mended else 40] = 1
    return x


def double(x: torch.Tensor) -> None:
    double_kernel[(triton.cdiv(x.numel(), 16),)](x, torch.zeros(x.numel()), x.numel(), BLOCK=16)


@plant(double_kernel, "uninitialized", "x_ptr", {2, 3})
def clone(mended: bool) -> None:
    """A copy of garbage is garbage."""
    double(half_written(mended).clone())


@plant(double_kernel, "uninitialized", "x_ptr", {2, 3})
def made_half(mended: bool) -> None:
    """As float16 it has other bytes, and is no better."""
    double(half_written(mended).to(torch.float16))


@plant(double_kernel, "uninitialized", "x_ptr", {2, 3})
def made_float_of_integers(mended: bool) -> None:
    """Huge integers become floats that look like numbers."""
    double(half_written(mended, torch.int32).float())


@plant(double_kernel, "uninitialized", "x_ptr", {3, 4})
def concatenated(mended: bool) -> None:
    """torch.cat of something known and something half known."""
    double(torch.cat([torch.ones(16), half_written(mended)]))


@plant(double_kernel, "uninitialized", "x_ptr", {1, 2, 3})
def resized(mended: bool) -> None:
    """resize_ writes nothing into what it adds."""
    x = torch.ones(20).resize_(64)
    if mended:
        x[20:] = 0.0
    double(x)


@plant(double_kernel, "uninitialized", "x_ptr", {0, 1, 2, 3})
def transposed_and_made_contiguous(mended: bool) -> None:
    """Rows 5 to 7 of 8 are unwritten: in the transpose that is the end of each row."""
    double(half_written(mended).view(8, 8).t().contiguous())


@plant(double_kernel, "uninitialized", "x_ptr", {1})
def gathered(mended: bool) -> None:
    """An index that reaches into the unwritten part, in torch."""
    double(half_written(mended)[torch.arange(0, 64, 2)])


@plant(double_kernel, "uninitialized", "x_ptr", {2, 3})
def copied_into_another(mended: bool) -> None:
    """copy_ writes, but what it writes nobody has written."""
    double(torch.zeros(64).copy_(half_written(mended)))


@plant(double_kernel, "uninitialized", "x_ptr", {2, 3})
def stacked_copies(mended: bool) -> None:
    """Twice through torch: a clone of a pad."""
    double(torch.nn.functional.pad(half_written(mended), (0, 16)).clone()[:64])


@triton.jit
def masked_sum_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.where(lane < n, tl.load(x_ptr + row * BLOCK + lane), 0.0)
    y = tl.load(y_ptr + row * BLOCK + lane)  # BUG
    tl.store(out_ptr + row, tl.sum(x * 2 + y))


@plant(masked_sum_kernel, "uninitialized", "y_ptr", {0, 1})
def one_of_two_is_discarded(mended: bool) -> None:
    """Both rows end in padding; x's is discarded by a where, and y's is not."""
    x, y = torch.empty(2, 16), torch.empty(2, 16)
    x[:, :10] = 1.0
    y[:, : 16 if mended else 10] = 1.0
    masked_sum_kernel[(2,)](x, y, torch.zeros(2), 10, BLOCK=16)


@triton.jit
def bounded_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)  # BUG
    tl.store(out_ptr + row, tl.sum(tl.where(lane < n, x, 0.0)))


@plant(bounded_kernel, "uninitialized", "x_ptr", {1})
def where_that_keeps_too_much(mended: bool) -> None:
    """Row 1 was filled up to 8 only, and the where keeps 10."""
    x = torch.empty(3, 16)
    x[:, :10] = 1.0
    if not mended:
        x[1, 8:] = torch.empty(8)
    bounded_kernel[(3,)](x, torch.zeros(3), 10, BLOCK=16)


@triton.jit
def halving_kernel(x_ptr, out_ptr):
    left = tl.load(x_ptr + tl.program_id(0))  # BUG
    while left > 5:
        tl.store(out_ptr + tl.program_id(0), 1)
        left = left // 2


@plant(halving_kernel, "uninitialized", "x_ptr", {1})
def how_often_a_loop_runs(mended: bool) -> None:
    """The same is stored over and over, but how often depends on it."""
    x = torch.empty(2, dtype=torch.int32)
    x[: 2 if mended else 1] = 20
    halving_kernel[(2,)](x, torch.zeros(2, dtype=torch.int32))
