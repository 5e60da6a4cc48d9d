"""Waits that are over too early: seen only if the one that waits goes on before the others have done the rest.

Marked are both sides: what should have been waited for, and what came too early.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def gather_kernel(parts_ptr, count_ptr, out_ptr, GATHERER: tl.constexpr, N: tl.constexpr, MISSING: tl.constexpr):
    program = tl.program_id(0)
    if program == GATHERER:
        while tl.atomic_add(count_ptr, 0, sem="acquire") < N - 1 - MISSING:
            pass
        k = tl.arange(0, N)
        parts = tl.load(parts_ptr + k, mask=k != GATHERER, other=0.0)  # BUG
        tl.store(out_ptr, tl.sum(parts))
    else:
        tl.store(parts_ptr + program, program + 1.0)  # BUG
        tl.atomic_add(count_ptr, 1, sem="release")


def gather(gatherer: int, missing: int) -> None:
    count = torch.zeros(1, dtype=torch.int32)
    gather_kernel[(8,)](torch.zeros(8), count, torch.zeros(1), GATHERER=gatherer, N=8, MISSING=missing)


@plant(gather_kernel, "race", "parts_ptr")
def first_gathers_one_too_few(mended: bool) -> None:
    """The first program waits for all others but one; nobody else waits."""
    gather(0, 0 if mended else 1)


@plant(gather_kernel, "race", "parts_ptr")
def one_in_the_middle_gathers_too_few(mended: bool) -> None:
    """The fourth program waits for four of the seven others."""
    gather(3, 0 if mended else 3)


@triton.jit
def phases_kernel(x_ptr, count_ptr, out_ptr, N: tl.constexpr, MISSING: tl.constexpr):
    program = tl.program_id(0)
    k = tl.arange(0, N)
    for phase in range(2):
        tl.store(x_ptr + phase * N + program, program + phase)  # BUG
        tl.debug_barrier()
        tl.atomic_add(count_ptr + phase, 1)
        while tl.atomic_add(count_ptr + phase, 0) < N - phase * MISSING:
            pass
        total = tl.sum(tl.load(x_ptr + phase * N + k))  # BUG
        tl.store(out_ptr + phase * N + program, total)


@plant(phases_kernel, "race", "x_ptr")
def second_barrier_of_the_grid_lets_one_stay_behind(mended: bool) -> None:
    """All wait for all twice, the second time for all but one."""
    phases_kernel[(4,)](
        torch.zeros(8, dtype=torch.int32),
        torch.zeros(2, dtype=torch.int32),
        torch.zeros(8, dtype=torch.int32),
        N=4,
        MISSING=0 if mended else 1,
    )
