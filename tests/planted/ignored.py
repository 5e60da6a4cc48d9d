"""Comments that ignore findings, and have none to ignore."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def rows_kernel(x_ptr, out_ptr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program)
    if MENDED:
        tl.store(out_ptr + program, x)
    else:
        tl.store(out_ptr + program, x)  # triton-lab: ignore[race]  # BUG


@plant(rows_kernel, "unused-ignore")
def race_that_is_no_more(mended: bool) -> None:
    """Each program has an element of its own, so there is no race to ignore."""
    rows_kernel[(4,)](torch.ones(4), torch.zeros(4), MENDED=mended)


@triton.jit
def flag_kernel(x_ptr, flag_ptr, MENDED: tl.constexpr):
    if tl.load(x_ptr + tl.program_id(0)) > 0:
        if MENDED:
            tl.store(flag_ptr, 1)  # triton-lab: ignore[same-value]
        else:
            tl.store(flag_ptr, 1)  # triton-lab: ignore[same_value, same-value]  # BUG


@plant(flag_kernel, "unknown-ignore")
def kind_with_another_sign(mended: bool) -> None:
    """A kind is written with a hyphen."""
    flag_kernel[(4,)](torch.ones(4), torch.zeros(1, dtype=torch.int32), MENDED=mended)
