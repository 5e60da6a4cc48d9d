"""Writes through one argument to memory that another reads."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n)  # BUG


@plant(scale_kernel, "alias", "out_ptr", range(4))
def passed_twice(mended: bool) -> None:
    """One tensor as input and as output: right here, since each element is read before it is written."""
    x = torch.ones(100)
    scale_kernel[(4,)](x, torch.zeros(100) if mended else x, 100, BLOCK=32)


@plant(scale_kernel, "alias", "out_ptr", range(4))
def shared_through_numpy(mended: bool) -> None:
    """Two tensors that do not know of each other, over one NumPy array."""
    array = torch.ones(100).numpy()
    out = torch.zeros(100) if mended else torch.from_numpy(array)
    scale_kernel[(4,)](torch.from_numpy(array), out, 100, BLOCK=32)


@triton.jit
def shift_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.debug_barrier()
        tl.store(out_ptr + offsets, x, mask=offsets < n)  # BUG
        tl.debug_barrier()


@plant(shift_kernel, "alias", "out_ptr", {0}, shown=True)
def shift_by_one(mended: bool) -> None:
    """Moving a buffer up by one within itself: each block's first element was overwritten by the block before."""
    buffer = torch.arange(101.0)
    source = buffer[:-1].clone() if mended else buffer[:-1]
    shift_kernel[(1,)](source, buffer[1:], 100, BLOCK=32)


@triton.jit
def clear_sign_kernel(bytes_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    high = tl.load(bytes_ptr + 4 * lane + 3)
    tl.store(bytes_ptr + 4 * lane + 3, high & 0x7F)  # BUG
    tl.debug_barrier()
    tl.store(out_ptr + lane, tl.load(x_ptr + lane))


@plant(clear_sign_kernel, "alias", "bytes_ptr", {0})
def bytes_of_floats(mended: bool) -> None:
    """The same storage as floats and, by `view`, as bytes."""
    x = -torch.ones(32)
    as_bytes = (x.clone() if mended else x).view(torch.uint8)
    clear_sign_kernel[(1,)](as_bytes, x, torch.zeros(32), BLOCK=32)
