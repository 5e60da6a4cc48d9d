"""Races of a plain load with the atomics of other programs: what it sees depends on who has been there.

What is marked is the load. Where the order is only half made - a counter without a wait, a release without an acquire -
it is a race as well.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant
from triton_lab.launch.checks.race.barriers import around_atomics

ALL = range(4)


def numbers(n: int) -> torch.Tensor:
    return torch.arange(1.0, n + 1)


def zeros(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


@triton.jit
def share_kernel(x_ptr, total_ptr, count_ptr, out_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    program, programs = tl.program_id(0), tl.num_programs(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if BUG == "loaded first":
        share = tl.sum(x) / tl.load(total_ptr)  # BUG
        tl.store(out_ptr + offsets, x * share)
    tl.atomic_add(total_ptr, tl.sum(x))
    if BUG == "barrier within a program":
        tl.debug_barrier()
    if BUG == "relaxed arrival":
        tl.atomic_add(count_ptr, 1, sem="relaxed")
    if BUG == "acquired arrival":
        tl.atomic_add(count_ptr, 1, sem="acquire")
    if BUG == "" or BUG == "no wait" or BUG == "relaxed wait" or BUG == "one too few":
        tl.atomic_add(count_ptr, 1)
    if BUG == "own counter":
        tl.atomic_add(count_ptr + program, programs)
        while tl.atomic_add(count_ptr + program, 0, sem="acquire") < programs:
            pass
    if BUG == "" or BUG == "relaxed arrival" or BUG == "acquired arrival":
        while tl.atomic_add(count_ptr, 0, sem="acquire") < programs:
            pass
    if BUG == "one too few":
        while tl.atomic_add(count_ptr, 0, sem="acquire") < programs - 1:
            pass
    if BUG == "relaxed wait":
        while tl.atomic_add(count_ptr, 0, sem="relaxed") < programs:
            pass
    if BUG != "loaded first":
        tl.store(out_ptr + offsets, x / tl.load(total_ptr))  # BUG


def share(bug: str) -> None:
    share_kernel[(4,)](numbers(128), torch.ones(1), zeros(4), torch.zeros(128), BLOCK=32, BUG=bug)


@plant(share_kernel, "race", "total_ptr", ALL)
def divided_by_a_running_total(mended: bool) -> None:
    """Added to and at once divided by: others are still adding."""
    share("" if mended else "no order")


@plant(share_kernel, "race", "total_ptr", ALL)
def total_loaded_first(mended: bool) -> None:
    """The total is loaded before this program adds to it, and others may have added already."""
    share("" if mended else "loaded first")


@plant(share_kernel, "race", "total_ptr", ALL)
def barrier_of_one_program(mended: bool) -> None:
    """`debug_barrier` waits for the threads of this program, not for the other programs."""
    share("" if mended else "barrier within a program")


@plant(share_kernel, "race", "total_ptr", ALL)
def counted_without_wait(mended: bool) -> None:
    """Each program counts itself in and goes on without looking."""
    share("" if mended else "no wait")


@plant(share_kernel, "race", "total_ptr", ALL)
def counted_in_relaxed(mended: bool) -> None:
    """The arrival is no release: what was added before may show later."""
    share("" if mended else "relaxed arrival")


@plant(share_kernel, "race", "total_ptr", ALL)
def counted_in_by_acquire(mended: bool) -> None:
    """The arrival acquires where it should release."""
    share("" if mended else "acquired arrival")


@plant(share_kernel, "race", "total_ptr", ALL)
def waited_for_relaxed(mended: bool) -> None:
    """The wait is no acquire: the total may have been loaded before it was over."""
    share("" if mended else "relaxed wait")


@plant(share_kernel, "race", "total_ptr", ALL)
def waited_for_oneself(mended: bool) -> None:
    """Every program has a counter of its own, and waits for itself."""
    share("" if mended else "own counter")


@plant(share_kernel, "race", "total_ptr")
def waited_for_one_too_few(mended: bool) -> None:
    """The wait is over while the last program may still be adding."""
    share("" if mended else "one too few")


@triton.jit
def bins_kernel(x_ptr, bins_ptr, ticket_ptr, out_ptr, BINS: tl.constexpr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    programs = tl.num_programs(0)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(bins_ptr + x, 1, sem="relaxed")
    if BUG != "no barrier":
        tl.debug_barrier()
    if BUG == "relaxed ticket":
        ticket = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    elif BUG == "released ticket":
        ticket = tl.atomic_add(ticket_ptr, 1, sem="release")
    else:
        ticket = tl.atomic_add(ticket_ptr, 1)
    last = programs - 2 if BUG == "last but one" else programs - 1
    if ticket == last or BUG == "everybody":
        place = tl.arange(0, BINS)
        tl.store(out_ptr + tl.program_id(0) * BINS + place, tl.load(bins_ptr + place) * 2)  # BUG


def bins(bug: str) -> None:
    x = (torch.arange(128, dtype=torch.int32) * 7) % 16
    bins_kernel[(4,)](x, zeros(16), zeros(1), zeros(64), BINS=16, BLOCK=32, BUG=bug)


@plant(bins_kernel, "race", "bins_ptr", ALL)
def counts_of_all_in_every_program(mended: bool) -> None:
    """Every program loads the counts when it has added its own."""
    bins("" if mended else "everybody")


@plant(bins_kernel, "race", "bins_ptr", ALL, mends=around_atomics())
def ticket_before_all_lanes_have_counted(mended: bool) -> None:
    """One thread draws the ticket while others may still be adding: no barrier."""
    bins("" if mended else "no barrier")


@plant(bins_kernel, "race", "bins_ptr", ALL)
def ticket_drawn_relaxed(mended: bool) -> None:
    """The last program has the last ticket, and need not see what the others added."""
    bins("" if mended else "relaxed ticket")


@plant(bins_kernel, "race", "bins_ptr", ALL)
def ticket_only_released(mended: bool) -> None:
    """A ticket that releases and does not acquire."""
    bins("" if mended else "released ticket")


@plant(bins_kernel, "race", "bins_ptr", {2, 3})
def last_but_one_takes_all(mended: bool) -> None:
    """Off by one: the last but one loads the counts, and the last is still adding."""
    bins("" if mended else "last but one")


@triton.jit
def best_kernel(x_ptr, best_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    greatest = tl.max(tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK)))
    before = tl.atomic_max(best_ptr, greatest)
    if MENDED:
        tl.store(out_ptr + program, tl.maximum(before, greatest))
    else:
        tl.store(out_ptr + program, tl.load(best_ptr))  # BUG


@plant(best_kernel, "race", "best_ptr", ALL)
def best_so_far(mended: bool) -> None:
    """The best so far is loaded behind the atomic that had just said what it was."""
    best_kernel[(4,)](torch.arange(128, dtype=torch.int32), zeros(1), zeros(4), BLOCK=32, MENDED=mended)


@triton.jit
def flag_kernel(flag_ptr, out_ptr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    if program == 0:
        tl.atomic_xchg(flag_ptr, 1, sem="release")
    else:
        if MENDED:
            raised = tl.atomic_add(flag_ptr, 0, sem="acquire")
        else:
            raised = tl.load(flag_ptr)  # BUG
        tl.store(out_ptr + program, raised)


@plant(flag_kernel, "race", "flag_ptr", ALL)
def flag_loaded_plainly(mended: bool) -> None:
    """A flag that one program raises atomically and the others load like any number."""
    flag_kernel[(4,)](zeros(1), zeros(4), MENDED=mended)


@triton.jit
def queue_kernel(cursor_ptr, out_ptr, MENDED: tl.constexpr):
    slot = tl.atomic_add(cursor_ptr, 1, sem="relaxed")
    if not MENDED:
        slot = tl.load(cursor_ptr) - 1  # BUG
    tl.store(out_ptr + tl.program_id(0), slot * 10)


@plant(queue_kernel, "race", "cursor_ptr", ALL)
def cursor_loaded_again(mended: bool) -> None:
    """The place in the queue is what the atomic returned, not what the cursor says afterwards."""
    queue_kernel[(4,)](zeros(1), zeros(4), MENDED=mended)


@triton.jit
def visit_kernel(node_ptr, seen_ptr, out_ptr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    bit = 1 << tl.load(node_ptr + program)
    if MENDED:
        fresh = (tl.atomic_or(seen_ptr, bit) & bit) == 0
    else:
        fresh = (tl.load(seen_ptr) & bit) == 0  # BUG
        tl.atomic_or(seen_ptr, bit)
    tl.store(out_ptr + program, fresh.to(tl.int32))


@plant(visit_kernel, "race", "seen_ptr", ALL)
def looked_before_marking(mended: bool) -> None:
    """Look, then mark: two programs find the same node unseen."""
    visit_kernel[(4,)](torch.tensor([3, 3, 5, 5], dtype=torch.int32), zeros(1), zeros(4), MENDED=mended)


@triton.jit
def halo_kernel(x_ptr, field_ptr, out_ptr, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + lane
    tl.atomic_add(field_ptr + offsets + WIDE, tl.load(x_ptr + offsets), sem="relaxed")
    tl.debug_barrier()
    tl.store(out_ptr + offsets, tl.load(field_ptr + offsets))  # BUG


@plant(halo_kernel, "race", "field_ptr", ALL)
def spread_into_the_neighbour(mended: bool) -> None:
    """What is added one element further on reaches into the block that the next program loads."""
    halo_kernel[(4,)](numbers(128), torch.zeros(129), torch.zeros(128), BLOCK=32, WIDE=0 if mended else 1)


@triton.jit
def two_names_kernel(total_ptr, seen_ptr, out_ptr):
    program = tl.program_id(0)
    tl.atomic_add(total_ptr, program + 1.0, sem="relaxed")
    tl.store(out_ptr + program, tl.load(seen_ptr))  # BUG


@plant(two_names_kernel, "race", "seen_ptr", ALL)
def total_under_another_name(mended: bool) -> None:
    """The sum is loaded through an argument that was meant to be last step's, and is the same tensor."""
    total = torch.zeros(1)
    two_names_kernel[(4,)](total, total.clone() if mended else total, torch.zeros(4))
