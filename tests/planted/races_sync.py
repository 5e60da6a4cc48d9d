"""Races in spite of locks, flags and barriers: the synchronisation is there, and does not do what it should.

Two lines are marked where a store and a load make the race together.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant
from triton_lab.launch.checks.race.barriers import around_atomics

ALL = range(4)


def zeros(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


@triton.jit
def hand_over_kernel(x_ptr, chunk_ptr, flag_ptr, out_ptr, PAIRS: tl.constexpr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    program = tl.program_id(0)
    pair = program % PAIRS
    offsets = pair * BLOCK + tl.arange(0, BLOCK)
    if program < PAIRS:
        if BUG == "flag first":
            tl.atomic_xchg(flag_ptr + pair, 1, sem="release")
        tl.store(chunk_ptr + offsets, tl.load(x_ptr + offsets) * 2)  # BUG
        if BUG != "no barrier":
            tl.debug_barrier()
        if BUG == "relaxed flag":
            tl.atomic_xchg(flag_ptr + pair, 1, sem="relaxed")
        elif BUG != "flag first":
            tl.atomic_xchg(flag_ptr + pair, 1, sem="release")
    else:
        if BUG == "relaxed wait":
            while tl.atomic_add(flag_ptr + pair, 0, sem="relaxed") == 0:
                pass
        elif BUG != "no wait":
            while tl.atomic_add(flag_ptr + pair, 0, sem="acquire") == 0:
                pass
        tl.store(out_ptr + pair, tl.sum(tl.load(chunk_ptr + offsets)))  # BUG


def hand_over(bug: str) -> None:
    """Programs 0 and 1 produce, 2 and 3 consume."""
    chunk, out = torch.zeros(64), torch.zeros(2)
    hand_over_kernel[(4,)](torch.arange(1.0, 65.0), chunk, zeros(2), out, PAIRS=2, BLOCK=32, BUG=bug)


@plant(hand_over_kernel, "race", "chunk_ptr", ALL)
def no_wait(mended: bool) -> None:
    """The consumer does not look at the flag."""
    hand_over("" if mended else "no wait")


@plant(hand_over_kernel, "race", "chunk_ptr", ALL)
def flag_before_data(mended: bool) -> None:
    """The producer raises the flag, then writes."""
    hand_over("" if mended else "flag first")


@plant(hand_over_kernel, "race", "chunk_ptr", ALL)
def relaxed_flag(mended: bool) -> None:
    """The flag is raised without release: the data may become visible after it."""
    hand_over("" if mended else "relaxed flag")


@plant(hand_over_kernel, "race", "chunk_ptr", ALL)
def relaxed_wait(mended: bool) -> None:
    """The flag is seen without acquire: the data may have been read before it."""
    hand_over("" if mended else "relaxed wait")


@plant(hand_over_kernel, "race", "chunk_ptr", ALL, mends=around_atomics())
def flag_without_barrier(mended: bool) -> None:
    """One thread raises the flag while the program's other threads may still be storing."""
    hand_over("" if mended else "no barrier")


@triton.jit
def locked_sum_kernel(x_ptr, sum_ptr, lock_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    place = sum_ptr + program // 2 * BLOCK + tl.arange(0, BLOCK)  # programs 0 and 1 share, and 2 and 3
    lock = lock_ptr + program // 2
    if BUG == "own lock":
        lock = lock_ptr + program
    if BUG == "other group's lock":
        lock = lock_ptr + program % 2
    if BUG != "some do not lock" or program % 2 == 0:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    if BUG == "unlocked too early":
        tl.atomic_xchg(lock, 0)
    tl.store(place, tl.load(place) + x)  # BUG
    if BUG != "no barrier":
        tl.debug_barrier()
    if BUG == "relaxed unlock":
        tl.atomic_xchg(lock, 0, sem="relaxed")
    elif BUG != "unlocked too early":
        tl.atomic_xchg(lock, 0)


def locked_sum(bug: str) -> None:
    locked_sum_kernel[(4,)](torch.arange(1.0, 129.0), torch.zeros(64), zeros(4), BLOCK=32, BUG=bug)


@plant(locked_sum_kernel, "race", "sum_ptr", ALL)
def own_lock(mended: bool) -> None:
    """Every program takes a lock of its own."""
    locked_sum("" if mended else "own lock")


@plant(locked_sum_kernel, "race", "sum_ptr", ALL)
def lock_of_another_group(mended: bool) -> None:
    """Data grouped by program // 2, locks by program % 2: those who share data hold different locks."""
    locked_sum("" if mended else "other group's lock")


@plant(locked_sum_kernel, "race", "sum_ptr", ALL)
def some_do_not_lock(mended: bool) -> None:
    """A branch takes the lock; the programs that skip it write all the same."""
    locked_sum("" if mended else "some do not lock")


@plant(locked_sum_kernel, "race", "sum_ptr", ALL)
def unlocked_too_early(mended: bool) -> None:
    """The lock is released before what it guards."""
    locked_sum("" if mended else "unlocked too early")


@plant(locked_sum_kernel, "race", "sum_ptr", ALL)
def relaxed_unlock(mended: bool) -> None:
    """The lock is released without release: the next holder need not see what was stored."""
    locked_sum("" if mended else "relaxed unlock")


@plant(locked_sum_kernel, "race", "sum_ptr", ALL, mends=around_atomics())
def unlocked_without_barrier(mended: bool) -> None:
    """One thread opens the lock while the program's other threads may still be storing."""
    locked_sum("" if mended else "no barrier")


@triton.jit
def neighbour_kernel(x_ptr, buffer_ptr, out_ptr, arrived_ptr, PROGRAMS: tl.constexpr, BUG: tl.constexpr):
    program = tl.program_id(0)
    tl.store(buffer_ptr + program, tl.load(x_ptr + program) * 2)  # BUG
    tl.debug_barrier()
    if BUG != "barrier within a program":
        tl.atomic_add(arrived_ptr, 1)
    if BUG == "":
        while tl.atomic_add(arrived_ptr, 0) < PROGRAMS:
            pass
    tl.store(out_ptr + program, tl.load(buffer_ptr + (program + 1) % PROGRAMS))  # BUG


def neighbour(bug: str) -> None:
    neighbour_kernel[(4,)](torch.arange(1.0, 5.0), torch.zeros(4), torch.zeros(4), zeros(1), PROGRAMS=4, BUG=bug)


@plant(neighbour_kernel, "race", "buffer_ptr", ALL)
def barrier_without_wait(mended: bool) -> None:
    """All programs report their arrival, and none waits for the others."""
    neighbour("" if mended else "no wait")


@plant(neighbour_kernel, "race", "buffer_ptr", ALL)
def barrier_within_a_program(mended: bool) -> None:
    """`debug_barrier` joins the threads of one program; it was taken for a barrier of the grid."""
    neighbour("" if mended else "barrier within a program")


@triton.jit
def last_sums_kernel(x_ptr, partial_ptr, ticket_ptr, total_ptr, PROGRAMS: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    tl.store(partial_ptr + program, tl.load(x_ptr + program) * 2)  # BUG
    tl.debug_barrier()
    if MENDED:
        ticket = tl.atomic_add(ticket_ptr, 1, sem="acq_rel")
    else:
        ticket = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    if ticket == PROGRAMS - 1:
        partial = tl.load(partial_ptr + tl.arange(0, PROGRAMS))  # BUG
        tl.store(total_ptr, tl.sum(partial))


@plant(last_sums_kernel, "race", "partial_ptr", ALL)
def last_one_sums(mended: bool) -> None:
    """The last to arrive adds up all partial sums, but a relaxed ticket does not show them to it."""
    last_sums_kernel[(4,)](torch.arange(1.0, 5.0), torch.zeros(4), zeros(1), torch.zeros(1), PROGRAMS=4, MENDED=mended)
