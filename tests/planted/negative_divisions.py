"""Remainders and quotients of negative numbers in indices; and those that are made positive, or are of no account."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def roll_kernel(x_ptr, out_ptr, n, by, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    if MENDED:
        source = (offsets - by + n) % n
    else:
        source = (offsets - by) % n  # BUG
    tl.store(out_ptr + offsets, tl.load(x_ptr + source, mask=mask), mask=mask)


@plant(roll_kernel, "negative-division", "x_ptr", {0})
def rolled_to_the_right(mended: bool) -> None:
    """The first three elements come from before the row, and not from its end."""
    x = torch.rand(3, 100)
    roll_kernel[(4,)](x[1], torch.zeros(100), 100, 3, BLOCK=32, MENDED=mended)


@triton.jit
def halo_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        cell = (offsets + 3) // 4 - 1
    else:
        cell = (offsets - 1) // 4  # BUG
    inside = (cell >= 0) & (offsets < n)
    tl.store(out_ptr + offsets, tl.load(x_ptr + cell, mask=inside, other=0.0), mask=offsets < n)


@plant(halo_kernel, "negative-division", "x_ptr", {0})
def cell_before_the_first(mended: bool) -> None:
    """-1 // 4 is 0, so element 0 gets a cell that it does not have."""
    halo_kernel[(2,)](torch.rand(16), torch.zeros(60), 60, BLOCK=32, MENDED=mended)


@triton.jit
def divided_kernel(x_ptr, out_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    place = offsets
    if KIND == "twice":
        place = ((offsets - 5) % n + n) % n
    elif KIND == "chosen":
        rest = (offsets - 5) % n
        place = tl.where(rest < 0, rest + n, rest)
    elif KIND == "padded":
        place = (offsets + n - 5) % n
    elif KIND == "masked":
        place = (offsets - 8) % n
        mask = mask & (offsets >= 8)
    elif KIND == "reversed":
        place = (n - 1 - offsets) % n
    elif KIND == "swizzled":
        place = (offsets // 4) * 4 + offsets % 4
    elif KIND == "halved":
        place = offsets // 2
    elif KIND == "exact":
        place = tl.maximum((offsets * 2 - 8) // 2, 0)
    elif KIND == "cdiv":
        place = tl.cdiv(offsets, 3)
    x = tl.load(x_ptr + place, mask=mask, other=0.0)
    if KIND == "value":
        x += ((offsets - 5) % 7).to(tl.float32) + ((offsets - 5) // 7).to(tl.float32)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


_KINDS = (
    "twice", "chosen", "padded", "masked", "reversed", "swizzled", "halved", "exact", "cdiv", "value",
)  # fmt: skip


def _innocent(kind: str, n: int) -> Callable[[], None]:
    def run() -> None:
        divided_kernel[(2,)](torch.rand(64), torch.zeros(64), n, KIND=kind, BLOCK=32)

    run.__name__ = f"divided: {kind} of {n}"
    return run


INNOCENTS = [_innocent(kind, n) for kind in _KINDS for n in (50, 64)]
