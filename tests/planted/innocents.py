"""Kernels that look suspicious and are right: no error and no warning may be raised on them."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl


@triton.jit
def hash_kernel(key_ptr, table_ptr, out_ptr, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(key_ptr + offsets).to(tl.uint32)
    slot = (key * 2654435761) >> 24  # multiplicative hashing wraps on purpose, and unsigned
    tl.store(out_ptr + offsets, tl.load(table_ptr + slot % SLOTS))


def unsigned_hash_as_index() -> None:
    """An index from arithmetic modulo 2^32."""
    keys = torch.arange(64, dtype=torch.int32) * 12_345_678
    hash_kernel[(2,)](keys, torch.ones(256), torch.zeros(64), SLOTS=256, BLOCK=32)


@triton.jit
def mix_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x * 1_103_515_245 + 12_345)


def signed_overflow_of_data() -> None:
    """int32 that wraps, but is no address: a random number generator."""
    mix_kernel[(2,)](torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32), BLOCK=32)


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)


def halves_of_one_buffer() -> None:
    """Input and output in one storage, without an element in common."""
    buffer = torch.ones(200)
    scale_kernel[(4,)](buffer[:100], buffer[100:], 100, BLOCK=32)


def interleaved_halves() -> None:
    """The same, element by element: their address ranges overlap, their elements do not."""
    buffer = torch.ones(64, 2)
    interleaved_kernel[(2,)](buffer[:, 0], buffer[:, 1], 2, BLOCK=32)


@triton.jit
def interleaved_kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * stride
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)


def not_finite_already() -> None:
    """NaN and infinity that were in the input."""
    x = torch.ones(100)
    x[3], x[70] = float("nan"), float("inf")
    scale_kernel[(4,)](x, torch.zeros(100), 100, BLOCK=32)


def output_from_empty() -> None:
    """An output that is only written may begin as anything."""
    scale_kernel[(4,)](torch.ones(100), torch.empty(100), 100, BLOCK=32)


def filled_by_torch() -> None:
    """An empty tensor that torch fills before the launch."""
    x = torch.empty(100)
    torch.add(torch.ones(100), 1, out=x)
    scale_kernel[(4,)](x, torch.empty(100), 100, BLOCK=32)


def filled_by_numpy() -> None:
    """An empty tensor that NumPy fills, behind torch's back."""
    x = torch.empty(100)
    x.numpy()[:] = 1.5
    scale_kernel[(4,)](x, torch.empty(100), 100, BLOCK=32)


@triton.jit
def dot_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + lane) * tl.load(y_ptr + lane)))


def read_through_two_arguments() -> None:
    """One tensor passed twice, and only read."""
    x = torch.ones(32)
    dot_kernel[(1,)](x, x, torch.zeros(1), BLOCK=32)


@triton.jit
def wild_lanes_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    wild = tl.where(offsets < n, offsets, -(1 << 60))
    tl.store(out_ptr + wild, tl.load(x_ptr + wild, mask=offsets < n), mask=offsets < n)


def wild_addresses_under_the_mask() -> None:
    """Masked lanes may point anywhere."""
    wild_lanes_kernel[(4,)](torch.ones(100), torch.zeros(100), 100, BLOCK=32)


@triton.jit
def count_kernel(count_ptr):
    tl.atomic_add(count_ptr, 1, sem="relaxed")


def atomics_on_one_element() -> None:
    """All programs add to one counter, atomically and in any order."""
    count_kernel[(50,)](torch.zeros(1, dtype=torch.int32))


@triton.jit
def same_lane_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program + tl.zeros((BLOCK,), dtype=tl.int32))
    tl.store(out_ptr + program + tl.zeros((BLOCK,), dtype=tl.int32), x)


def lanes_on_one_element() -> None:
    """All lanes of a program store the same to one element; that is no affair of other programs."""
    same_lane_kernel[(4,)](torch.ones(4), torch.zeros(4), BLOCK=16)


@triton.jit
def scratch_kernel(x_ptr, scratch_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(scratch_ptr + offsets, tl.load(x_ptr + offsets))
    tl.debug_barrier()
    mirrored = tl.program_id(0) * BLOCK + BLOCK - 1 - tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(scratch_ptr + mirrored))


def own_scratch_space() -> None:
    """A program reads in another order what it has itself written to memory that began empty."""
    scratch_kernel[(4,)](torch.ones(128), torch.empty(128), torch.empty(128), BLOCK=32)


@triton.jit
def lower_triangle_kernel(x_ptr, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + column, mask=column < row, other=0.0)
    tl.store(x_ptr + row * n + row, tl.sum(x))


def reads_what_was_filled() -> None:
    """Half of a matrix is never initialised, and never read."""
    x = torch.empty(8, 8)
    for row in range(8):
        x[row, :row] = 1.0
    lower_triangle_kernel[(8,)](x, 8, BLOCK=8)


@triton.jit
def odd_or_even_kernel(x_ptr, PHASE: tl.constexpr, n):
    place = 2 * tl.program_id(0) + PHASE
    if place + 1 < n:
        left, right = tl.load(x_ptr + place), tl.load(x_ptr + place + 1)
        tl.store(x_ptr + place, tl.minimum(left, right))
        tl.store(x_ptr + place + 1, tl.maximum(left, right))


def sorting_in_place() -> None:
    """Odd-even transposition sort: in place, every program on a pair of its own, ordered by launches."""
    x = torch.arange(8.0).flip(0).contiguous()
    for step in range(8):
        odd_or_even_kernel[(4,)](x, PHASE=step % 2, n=8)
    assert torch.equal(x, torch.arange(8.0))


INNOCENTS: tuple[Callable[[], None], ...] = (
    unsigned_hash_as_index,
    signed_overflow_of_data,
    halves_of_one_buffer,
    interleaved_halves,
    not_finite_already,
    output_from_empty,
    filled_by_torch,
    filled_by_numpy,
    read_through_two_arguments,
    wild_addresses_under_the_mask,
    atomics_on_one_element,
    lanes_on_one_element,
    own_scratch_space,
    reads_what_was_filled,
    sorting_in_place,
)
