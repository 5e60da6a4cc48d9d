"""Programs and threads that meet in memory and are right: locks, tickets, flags, barriers, lanes that agree."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl


def numbers(n: int) -> torch.Tensor:
    return torch.arange(1.0, n + 1)


def zeros(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


@triton.jit
def lock_kernel(x_ptr, sum_ptr, lock_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + lane)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(sum_ptr + lane, tl.load(sum_ptr + lane) + x)
    tl.debug_barrier()
    tl.store(out_ptr + tl.program_id(0), tl.load(sum_ptr))
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def sum_under_a_lock() -> None:
    """Plain loads and stores that a lock guards, and a number read back within it."""
    lock_kernel[(4,)](numbers(128), torch.zeros(32), zeros(1), torch.zeros(4), BLOCK=32)


@triton.jit
def ticket_lock_kernel(next_ptr, serving_ptr, value_ptr):
    ticket = tl.atomic_add(next_ptr, 1, sem="relaxed")
    while tl.atomic_add(serving_ptr, 0, sem="acquire") != ticket:
        pass
    tl.store(value_ptr, tl.load(value_ptr) * 2 + ticket)
    tl.atomic_add(serving_ptr, 1, sem="release")


def ticket_lock() -> None:
    """First come, first served."""
    ticket_lock_kernel[(5,)](zeros(1), zeros(1), zeros(1))


@triton.jit
def scan_kernel(x_ptr, sum_ptr, flag_ptr, out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    before = 0.0
    if program > 0:
        while tl.atomic_add(flag_ptr + program - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sum_ptr + program - 1)
    tl.store(sum_ptr + program, before + tl.sum(x))
    tl.atomic_xchg(flag_ptr + program, 1, sem="release")
    tl.store(out_ptr + offsets, before + tl.cumsum(x, 0))


def scan_that_looks_back() -> None:
    """Each program waits for the sum of the one before."""
    x = numbers(128)
    out = torch.zeros(128)
    scan_kernel[(4,)](x, torch.zeros(4), zeros(4), out, BLOCK=32)
    assert torch.equal(out, x.cumsum(0))


@triton.jit
def joined_kernel(x_ptr, total_ptr, arrived_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.atomic_add(total_ptr, tl.sum(x))
    tl.atomic_add(arrived_ptr, 1)
    while tl.atomic_add(arrived_ptr, 0) < tl.num_programs(0):
        pass
    tl.store(out_ptr + offsets, x / tl.load(total_ptr))


def total_behind_a_grid_barrier() -> None:
    """A plain load of what all have added to, after all have arrived."""
    joined_kernel[(4,)](torch.ones(128), torch.zeros(1), zeros(1), torch.zeros(128), BLOCK=32)


@triton.jit
def last_kernel(x_ptr, bins_ptr, ticket_ptr, out_ptr, BINS: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(bins_ptr + x, 1, sem="relaxed")
    tl.debug_barrier()
    if tl.atomic_add(ticket_ptr, 1) == tl.num_programs(0) - 1:
        place = tl.arange(0, BINS)
        tl.store(out_ptr + place, tl.load(bins_ptr + place))


def last_program_loads_the_counts() -> None:
    """The last ticket has seen all others."""
    last_kernel[(4,)](torch.arange(128, dtype=torch.int32) % 16, zeros(16), zeros(1), zeros(16), BINS=16, BLOCK=32)


@triton.jit
def exchange_kernel(total_ptr, out_ptr):
    tl.atomic_add(total_ptr, 1.0, sem="relaxed")
    tl.store(out_ptr + tl.program_id(0), tl.atomic_add(total_ptr, 0.0, sem="relaxed"))


def atomics_on_both_sides() -> None:
    """Whatever the order: an atomic that adds nothing is a load that takes its turn."""
    exchange_kernel[(4,)](torch.zeros(1), torch.zeros(4))


@triton.jit
def progress_kernel(done_ptr, seen_ptr):
    tl.atomic_add(done_ptr, 1, sem="relaxed")
    tl.store(seen_ptr + tl.program_id(0), tl.load(done_ptr, volatile=True))


def volatile_look_at_a_counter() -> None:
    """A volatile load is a relaxed atomic one; what it sees may be anything, and is only shown."""
    progress_kernel[(4,)](zeros(1), zeros(4))


@triton.jit
def own_kernel(x_ptr, part_ptr, out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(part_ptr + program, tl.sum(x))
    tl.store(out_ptr + program, tl.load(part_ptr + program))


def atomics_that_nobody_shares() -> None:
    """A program loads what it alone has updated, and one thread does both."""
    own_kernel[(4,)](numbers(128), torch.zeros(4), torch.zeros(4), BLOCK=32)


@triton.jit
def keep_kernel(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + row * COLUMNS + column)
    sums = tl.sum(x, 1, keep_dims=True)
    tl.store(out_ptr + row + 0 * column, tl.broadcast_to(sums, (ROWS, COLUMNS)))


def broadcast_sums() -> None:
    """All lanes of a row store the row's sum to one element."""
    keep_kernel[(1,)](numbers(32), torch.zeros(4), ROWS=4, COLUMNS=8)


@triton.jit
def one_lane_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    tl.store(out_ptr + lane // BLOCK, tl.cumsum(x, 0), mask=lane == BLOCK - 1)


def one_lane_of_many() -> None:
    """All lanes point to one element, and the mask lets one store."""
    one_lane_kernel[(1,)](numbers(32), torch.zeros(1), BLOCK=32)


@triton.jit
def softmax_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + offsets, mask=inside, other=float("-inf"))
    tl.store(x_ptr + offsets, tl.exp(x - tl.max(x)), mask=inside)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    tl.store(x_ptr + offsets, x / tl.sum(x), mask=inside)


def lane_by_lane_in_place() -> None:
    """Each lane loads what it has itself stored."""
    softmax_kernel[(3,)](torch.rand(3, 20), 20, BLOCK=32)


@triton.jit
def rotate_kernel(x_ptr, n, HALF: tl.constexpr):
    lane = tl.program_id(0) * n + tl.arange(0, HALF)
    one, two = tl.load(x_ptr + lane), tl.load(x_ptr + lane + HALF)
    tl.store(x_ptr + lane, one - two)
    tl.store(x_ptr + lane + HALF, one + two)


def halves_rotated_in_place() -> None:
    """Each lane has a pair for itself, as in rotary embeddings."""
    rotate_kernel[(2,)](numbers(64), 32, HALF=16)


@triton.jit
def permute_kernel(index_ptr, x_ptr, BLOCK: tl.constexpr):
    place = tl.load(index_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + place, tl.load(x_ptr + place) + 1)


def update_at_distinct_indices() -> None:
    """Load, add, store through a permutation."""
    permute_kernel[(1,)](torch.randperm(32, generator=torch.Generator().manual_seed(0)), numbers(32), BLOCK=32)


@triton.jit
def accumulate_kernel(x_ptr, sum_ptr, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    for turn in range(ROUNDS):
        x = tl.load(x_ptr + (program * ROUNDS + turn) * BLOCK + tl.arange(0, BLOCK))
        tl.store(sum_ptr + program, tl.load(sum_ptr + program) + tl.sum(x))


def scalar_kept_in_memory() -> None:
    """One thread stores a sum, and nobody else has a use for what is loaded."""
    accumulate_kernel[(2,)](numbers(192), torch.zeros(2), ROUNDS=3, BLOCK=32)


@triton.jit
def tiles_kernel(x_ptr, width, ROUNDS: tl.constexpr, SIZE: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    for turn in range(ROUNDS):
        tile = x_ptr + row * width + turn * SIZE + column
        inside = turn * SIZE + column < width
        tl.store(tile, tl.load(tile, mask=inside) * 2, mask=inside)


def tile_by_tile_in_place() -> None:
    """Tiles side by side in rows that are no multiple of them."""
    tiles_kernel[(1,)](numbers(160), 20, ROUNDS=3, SIZE=8)
    tiles_kernel[(1,)](numbers(192), 24, ROUNDS=3, SIZE=8)


@triton.jit
def loss_kernel(x_ptr, label_ptr, loss_ptr, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    label = tl.load(label_ptr + row)
    chosen = tl.load(x_ptr + row * n + label)
    x = tl.load(x_ptr + row * n + lane, mask=lane < n, other=float("-inf"))
    total = tl.sum(tl.exp(x))
    tl.store(x_ptr + row * n + lane, tl.exp(x) / total - (lane == label), mask=lane < n)
    tl.store(loss_ptr + row, tl.log(total) - chosen)


def gradient_over_the_logits() -> None:
    """The logit of the label is loaded by itself before a sum, which no thread leaves before all have entered it."""
    loss_kernel[(3,)](torch.rand(3, 20), torch.tensor([2, 0, 19]), torch.zeros(3), 20, BLOCK=32)


@triton.jit
def double_buffer_kernel(x_ptr, scratch_ptr, out_ptr, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for turn in range(ROUNDS):
        half = turn % 2 * BLOCK
        tl.store(scratch_ptr + half + lane, tl.load(x_ptr + turn * BLOCK + lane))
        tl.debug_barrier()
        tl.store(out_ptr + turn * BLOCK + lane, tl.load(scratch_ptr + half + BLOCK - 1 - lane))


def two_buffers_and_one_barrier() -> None:
    """Between the load of a round and the store over it lies the barrier of the next round."""
    double_buffer_kernel[(1,)](numbers(128), numbers(64), numbers(128), ROUNDS=4, BLOCK=32)


INNOCENTS: tuple[Callable[[], None], ...] = (
    sum_under_a_lock,
    ticket_lock,
    scan_that_looks_back,
    total_behind_a_grid_barrier,
    last_program_loads_the_counts,
    atomics_on_both_sides,
    volatile_look_at_a_counter,
    atomics_that_nobody_shares,
    broadcast_sums,
    one_lane_of_many,
    lane_by_lane_in_place,
    halves_rotated_in_place,
    update_at_distinct_indices,
    scalar_kept_in_memory,
    tile_by_tile_in_place,
    gradient_over_the_logits,
    two_buffers_and_one_barrier,
)
