"""Programs that wait for what never comes. What is marked is the loop that waits."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

ALL = range(4)


def zeros(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


@triton.jit
def guarded_kernel(x_ptr, sum_ptr, lock_ptr, BUG: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:  # BUG
        pass
    tl.store(sum_ptr, tl.load(sum_ptr) + x)
    tl.debug_barrier()
    if BUG == "":
        tl.atomic_xchg(lock_ptr, 0)
    elif BUG == "released if positive":
        if x > 0:
            tl.atomic_xchg(lock_ptr, 0)
    elif BUG == "released with 1":
        tl.atomic_xchg(lock_ptr, 1)


def guarded(bug: str, x: torch.Tensor | None = None) -> None:
    guarded_kernel[(4,)](torch.ones(4) if x is None else x, torch.zeros(1), zeros(1), BUG=bug)


@plant(guarded_kernel, "deadlock", "lock_ptr", {1, 2, 3})
def never_released(mended: bool) -> None:
    """The lock is taken and never given back."""
    guarded("" if mended else "never")


@plant(guarded_kernel, "deadlock", "lock_ptr", {2, 3})
def released_on_one_path(mended: bool) -> None:
    """The lock is given back under a condition that program 1 does not meet."""
    guarded("" if mended else "released if positive", torch.tensor([1.0, -1.0, 1.0, 1.0]))


@plant(guarded_kernel, "deadlock", "lock_ptr", {1, 2, 3})
def released_with_the_wrong_value(mended: bool) -> None:
    """The lock is 'released' with the value that means 'taken'."""
    guarded("" if mended else "released with 1")


@triton.jit
def take_twice_kernel(lock_ptr, out_ptr, MENDED: tl.constexpr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, 1.0)
    if not MENDED:
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:  # BUG
            pass
        tl.store(out_ptr, 2.0)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@plant(take_twice_kernel, "deadlock", "lock_ptr", {0})
def taken_twice(mended: bool) -> None:
    """A program waits for a lock that it holds itself."""
    take_twice_kernel[(1,)](zeros(1), torch.zeros(1), MENDED=mended)


@triton.jit
def chain_kernel(flag_ptr, out_ptr, PROGRAMS: tl.constexpr, BUG: tl.constexpr):
    program = tl.program_id(0)
    if BUG != "set after waiting":
        tl.atomic_xchg(flag_ptr + program, 1)
    following = program + 1 if BUG == "no successor" else (program + 1) % PROGRAMS
    while tl.atomic_add(flag_ptr + following, 0) == 0:  # BUG
        pass
    if BUG == "set after waiting":
        tl.atomic_xchg(flag_ptr + program, 1)
    tl.store(out_ptr + program, 1.0)


def chain(bug: str) -> None:
    chain_kernel[(4,)](zeros(5), torch.zeros(4), PROGRAMS=4, BUG=bug)


@plant(chain_kernel, "deadlock", "flag_ptr", {3})
def flag_that_nobody_sets(mended: bool) -> None:
    """The last program waits for one that does not exist."""
    chain("" if mended else "no successor")


@plant(chain_kernel, "deadlock", "flag_ptr", ALL)
def circle(mended: bool) -> None:
    """Each waits for the next before it sets its own flag."""
    chain("" if mended else "set after waiting")


@triton.jit
def grid_barrier_kernel(x_ptr, buffer_ptr, out_ptr, arrived_ptr, n, PROGRAMS: tl.constexpr, BUG: tl.constexpr):
    program = tl.program_id(0)
    if BUG == "left before arriving":
        if program >= n:
            return
    tl.store(buffer_ptr + program, tl.load(x_ptr + program))
    tl.debug_barrier()
    tl.atomic_add(arrived_ptr, 1)
    needed = PROGRAMS + 1 if BUG == "one too many" else PROGRAMS
    while tl.atomic_add(arrived_ptr, 0) < needed:  # BUG
        pass
    tl.store(out_ptr + program, tl.load(buffer_ptr + (program + 1) % PROGRAMS))


def grid_barrier(bug: str) -> None:
    buffers = (torch.zeros(4) for _ in range(2))
    grid_barrier_kernel[(4,)](torch.ones(4), *buffers, zeros(1), 3, PROGRAMS=4, BUG=bug)


@plant(grid_barrier_kernel, "deadlock", "arrived_ptr", ALL)
def barrier_for_one_more(mended: bool) -> None:
    """A barrier that waits for five of four."""
    grid_barrier("" if mended else "one too many")


@plant(grid_barrier_kernel, "deadlock", "arrived_ptr", {0, 1, 2})
def left_before_the_barrier(mended: bool) -> None:
    """A program without work returns early, and the others wait for it at the barrier."""
    grid_barrier("" if mended else "left before arriving")


@triton.jit
def expect_kernel(flag_ptr, out_ptr, PAIRS: tl.constexpr, VALUE: tl.constexpr):
    program = tl.program_id(0)
    if program < PAIRS:
        tl.atomic_xchg(flag_ptr + program, 1, sem="release")
    else:
        while tl.atomic_add(flag_ptr + program - PAIRS, 0, sem="acquire") != VALUE:  # BUG
            pass
        tl.store(out_ptr + program - PAIRS, 1.0)


@plant(expect_kernel, "deadlock", "flag_ptr", {2, 3})
def another_value(mended: bool) -> None:
    """The consumer waits for 2, the producer writes 1."""
    expect_kernel[(4,)](zeros(2), torch.zeros(2), PAIRS=2, VALUE=1 if mended else 2)
