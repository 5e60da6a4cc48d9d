"""Values that look wrong and are meant: infinities, wraps, narrow sums and garbage that nobody uses."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

INFINITY = float("inf")


@triton.jit
def tail_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + tl.program_id(0), tl.sum(tl.where(offsets < n, x, 0.0)))


def tail_discarded_by_where() -> None:
    """The buffer is padded to whole blocks; what the padding holds is never used."""
    x = torch.empty(128)
    x[:100] = 1.0
    tail_kernel[(4,)](x, torch.empty(4), 100, BLOCK=32)


def copied_tail_discarded_by_where() -> None:
    """The same after a copy by torch."""
    x = torch.empty(128)
    x[:100] = 1.0
    tail_kernel[(4,)](x.clone(), torch.empty(4), 100, BLOCK=32)


@triton.jit
def not_stored_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.exp(x) / x, mask=offsets < n)


def tail_that_is_not_stored() -> None:
    """Loaded without a mask and stored with one."""
    x = torch.empty(128)
    x[:100] = 1.0
    not_stored_kernel[(4,)](x, torch.empty(128), 100, BLOCK=32)


@triton.jit
def carried_kernel(x_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(STEPS):
        place = step * BLOCK + lane
        x = tl.load(x_ptr + place)
        if step * BLOCK < n:
            total += tl.where(place < n, x, 0.0)
    tl.store(out_ptr + lane, total)


def tail_discarded_in_a_loop() -> None:
    """Whole blocks of padding, and one that is half padding."""
    x = torch.empty(128)
    x[:50] = 1.0
    carried_kernel[(1,)](x, torch.empty(16), 50, STEPS=8, BLOCK=16)


@triton.jit
def flagged_kernel(value_ptr, valid_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    valid = tl.load(valid_ptr + lane)
    tl.store(out_ptr + lane, tl.where((valid > 0) & (tl.load(value_ptr + lane) > 0), 1.0, 0.0))


def comparison_that_a_flag_overrules() -> None:
    """What is compared is garbage where it is not valid, and `and` with false is false."""
    values, valid = torch.empty(16), torch.zeros(16)
    values[::2], valid[::2] = 1.0, 1.0
    flagged_kernel[(1,)](values, valid, torch.empty(16), BLOCK=16)


def copied_and_then_written() -> None:
    """A copy of an empty tensor that is filled before the launch."""
    x = torch.empty(128).clone().resize_(200)
    x.fill_(1.0)
    tail_kernel[(4,)](x, torch.empty(4), 100, BLOCK=32)


@triton.jit
def row_softmax_kernel(x_ptr, out_ptr, lse_ptr, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + lane, mask=lane < n, other=float("-inf"))
    largest = tl.max(x)
    weights = tl.exp(x - largest)
    total = tl.sum(weights)
    tl.store(out_ptr + row * n + lane, weights / total, mask=lane < n)
    tl.store(lse_ptr + row, largest + tl.log(total))


def softmax_over_masked_lanes() -> None:
    """exp(-inf) is 0, as everybody wants it to be."""
    row_softmax_kernel[(4,)](torch.randn(4, 10), torch.zeros(4, 10), torch.zeros(4), 10, BLOCK=16)


@triton.jit
def masked_rows_kernel(x_ptr, visible_ptr, lse_ptr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane, mask=lane < tl.load(visible_ptr + row), other=float("-inf"))
    largest = tl.max(x)
    safe = tl.where(largest == float("-inf"), 0.0, largest)
    tl.store(lse_ptr + row, largest + tl.log(tl.sum(tl.exp(x - safe))))


def empty_row_of_a_logsumexp() -> None:
    """The log of a sum over nothing is -inf, and the kernel's own -inf says so already."""
    visible = torch.tensor([16, 0, 3], dtype=torch.int32)
    masked_rows_kernel[(3,)](torch.randn(3, 16), visible, torch.zeros(3), BLOCK=16)


@triton.jit
def running_kernel(x_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    for step in range(STEPS):
        place = step * BLOCK + lane
        if place.shape[0] * step < n * row:
            largest = tl.maximum(largest, tl.load(x_ptr + place, mask=place < n * row, other=float("-inf")))
    tl.store(out_ptr + row * BLOCK + lane, largest)


def running_maximum_of_nothing() -> None:
    """A maximum begins at -inf, and of an empty row it stays there."""
    running_kernel[(3,)](torch.randn(64), torch.zeros(48), 20, STEPS=4, BLOCK=16)


@triton.jit
def clip_kernel(x_ptr, out_ptr, least, most, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.minimum(tl.maximum(tl.load(x_ptr + offsets), least), most))


def bounds_that_are_infinite() -> None:
    """Nothing is clipped."""
    clip_kernel[(2,)](torch.randn(32), torch.zeros(32), -INFINITY, INFINITY, BLOCK=16)


@triton.jit
def fill_kernel(out_ptr, value, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.zeros((BLOCK,), tl.float32) + value * 2 - 1)


def filled_with_infinity() -> None:
    """An argument is stored: what is made of it is meant, too."""
    fill_kernel[(2,)](torch.zeros(32), -INFINITY, BLOCK=16)


@triton.jit
def silu_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x / (1.0 + tl.exp(-x)))


def overflow_that_ends_as_zero() -> None:
    """exp(200) is infinite, and x / inf is 0, which is right."""
    silu_kernel[(2,)](torch.full((32,), -200.0), torch.zeros(32), BLOCK=16)


@triton.jit
def guarded_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    y = tl.where(x == 0, 0.0, 1.0 / x)
    tl.store(out_ptr + offsets, (y * 3).to(tl.int8), mask=offsets < n)


def division_by_zero_that_is_not_chosen() -> None:
    """1 / 0 is computed in every lane where it is not wanted."""
    x = torch.ones(30)
    x[3] = 0.0
    guarded_kernel[(2,)](x, torch.zeros(30, dtype=torch.int8), 30, BLOCK=16)


@triton.jit
def padded_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, (100.0 * x / x).to(tl.int8), mask=offsets < n)


def nan_in_lanes_that_are_not_stored() -> None:
    """0 / 0 in the masked lanes, as an int8 that goes nowhere."""
    padded_kernel[(2,)](torch.ones(30), torch.zeros(30, dtype=torch.int8), 30, BLOCK=16)


@triton.jit
def lottery_kernel(x_ptr, out_ptr, seed, p, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, offsets) > p
    x = tl.load(x_ptr + offsets, mask=keep, other=0.0)
    pick = tl.randint(seed, offsets) % 64
    tl.store(out_ptr + offsets, x + tl.load(x_ptr + tl.abs(pick)))


def random_masks_and_indices() -> None:
    """Philox wraps all the time."""
    lottery_kernel[(2,)](torch.ones(64), torch.zeros(64), 1234, 0.5, BLOCK=32)


@triton.jit
def congruence_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    draw = (offsets + 77) * 1_664_525 + 1_013_904_223
    x = tl.load(x_ptr + offsets, mask=draw > 0, other=0.0)
    tl.store(out_ptr + offsets, x)


def mask_from_a_congruence() -> None:
    """A linear congruential generator in int32 whose sign is a coin."""
    congruence_kernel[(2,)](torch.ones(64), torch.zeros(64), BLOCK=32)


@triton.jit
def unpack_kernel(packed_ptr, table_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + offsets)
    index, score = packed.to(tl.int32), (packed >> 32).to(tl.int32)
    tl.store(out_ptr + offsets, tl.load(table_ptr + index) + score)


def two_numbers_in_one_of_64_bits() -> None:
    """The lower half is an index: what is cut off is the other number."""
    packed = torch.arange(32) | (torch.arange(32) << 32)
    unpack_kernel[(2,)](packed, torch.ones(32), torch.zeros(32), BLOCK=16)


@triton.jit
def int4_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    low, high = (x << 4) >> 4, x >> 4
    tl.store(out_ptr + offsets * 2, low * high)
    tl.store(out_ptr + offsets * 2 + 1, (low * 16) | (high & 15))


def four_bits_at_a_time() -> None:
    """Two signed numbers of 4 bits in a byte, taken apart and put together again."""
    x = torch.arange(-128, 128, 8, dtype=torch.int8)
    int4_kernel[(2,)](x, torch.zeros(64, dtype=torch.int8), BLOCK=16)


@triton.jit
def byte_hash_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, (x * 37 ^ x) & 63)


def hash_of_a_byte() -> None:
    """A product in int8 that is mixed on."""
    byte_hash_kernel[(2,)](torch.full((32,), 99, dtype=torch.int8), torch.zeros(32, dtype=torch.int8), BLOCK=16)


@triton.jit
def small_products_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * tl.load(y_ptr + offsets))


def bytes_whose_products_fit() -> None:
    """-11 times 11 is -121; as uint8, 15 times 17 is 255."""
    x = torch.full((32,), 11, dtype=torch.int8)
    small_products_kernel[(2,)](x, -x, torch.zeros_like(x), BLOCK=16)
    y = torch.full((32,), 15, dtype=torch.uint8)
    small_products_kernel[(2,)](y, y + 2, torch.zeros_like(y), BLOCK=16)


@triton.jit
def ragged_kernel(length_ptr, x_ptr, out_ptr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, COUNT)
    length = tl.load(length_ptr + lane)
    start = tl.cumsum(length, 0) - length
    total = tl.sum(length)
    for place in range(0, total, BLOCK):
        inside = place + tl.arange(0, BLOCK)
        tl.store(out_ptr + inside, tl.load(x_ptr + inside, mask=inside < total), mask=inside < total)
    tl.debug_barrier()  # other threads have stored there
    tl.store(out_ptr + start, 0.0, mask=length > 0)


def lengths_that_fit() -> None:
    """Sums and running sums of lengths, as offsets, masks and the bound of a loop."""
    ragged_kernel[(1,)](torch.arange(8, dtype=torch.int32), torch.ones(32), torch.zeros(32), COUNT=8, BLOCK=16)


@triton.jit
def wide_kernel(x_ptr, out_ptr, start, BLOCK: tl.constexpr):
    place = (start.to(tl.int64) * 1_000_000_007 % 64).to(tl.int32) // BLOCK * BLOCK
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + place + lane))


def narrowed_after_a_remainder() -> None:
    """64 bits while it is large, 32 when it fits again."""
    wide_kernel[(1,)](torch.ones(64), torch.zeros(16), 123_456_789, BLOCK=16)


@triton.jit
def edge_kernel(x_desc, out_desc, SIDE: tl.constexpr):
    row = tl.program_id(0) * SIDE - SIDE // 2
    out_desc.store([row, 0], x_desc.load([row, -4]) + 1)


def coordinates_below_zero() -> None:
    """A descriptor's block may begin outside its tensor: that is no wrap."""
    x, out = (TensorDescriptor.from_tensor(torch.ones(40, 16), [16, 16]) for _ in range(2))
    edge_kernel[(4,)](x, out, SIDE=16)


@triton.jit
def short_sum_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float16)
    for step in range(STEPS):
        total += tl.load(x_ptr + step * BLOCK + lane)
    tl.store(out_ptr + lane, total + 1e-6)


def a_few_terms_in_float16() -> None:
    """16 terms cost less than their own rounding."""
    x = torch.rand(16, 16, generator=torch.Generator().manual_seed(0)).half()
    short_sum_kernel[(1,)](x, torch.zeros(16, dtype=torch.float16), STEPS=16, BLOCK=16)


@triton.jit
def long_sum_kernel(x_ptr, out_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(STEPS):
        total += tl.load(x_ptr + step * BLOCK + lane)
    tl.store(out_ptr + lane, total.to(tl.bfloat16))


def many_terms_in_float32() -> None:
    """Narrow terms, a wide sum, and one rounding at the end."""
    long_sum_kernel[(1,)](torch.rand(500, 16).bfloat16(), torch.zeros(16, dtype=torch.bfloat16), STEPS=500, BLOCK=16)


@triton.jit
def halving_kernel(out_ptr, steps):
    step, total = 1.0, 0.0
    for _ in range(steps):
        total += step
        step *= 0.5
    tl.store(out_ptr, total)


def a_series_that_converges() -> None:
    """1 + 1/2 + 1/4 + ...: late terms are too small to change anything, and that is no counter."""
    halving_kernel[(1,)](torch.zeros(1), 60)


@triton.jit
def whole_sum_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1 + lane, tl.cumsum(x, 0))


def sum_of_a_block_of_float16() -> None:
    """Added up in a tree."""
    whole_sum_kernel[(1,)](torch.rand(1024).half(), torch.zeros(1025, dtype=torch.float16), BLOCK=1024)


@triton.jit
def few_kernel(x_ptr, out_ptr):
    tl.atomic_add(out_ptr + tl.program_id(0) % 16, tl.load(x_ptr + tl.program_id(0)), sem="relaxed")


def a_few_atomic_additions_in_float16() -> None:
    """Four to each element."""
    few_kernel[(64,)](torch.rand(64).half(), torch.zeros(16, dtype=torch.float16))


@triton.jit
def reversed_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * BLOCK + lane)
    tl.store(out_ptr + row * BLOCK + lane, tl.gather(x, BLOCK - 1 - lane, 0))


def gather_within_its_block() -> None:
    """Every index is one of the block's."""
    reversed_kernel[(4,)](torch.randn(64), torch.zeros(64), BLOCK=16)


INNOCENT_VALUES: tuple[Callable[[], None], ...] = (
    tail_discarded_by_where,
    copied_tail_discarded_by_where,
    tail_that_is_not_stored,
    tail_discarded_in_a_loop,
    comparison_that_a_flag_overrules,
    copied_and_then_written,
    softmax_over_masked_lanes,
    empty_row_of_a_logsumexp,
    running_maximum_of_nothing,
    bounds_that_are_infinite,
    filled_with_infinity,
    overflow_that_ends_as_zero,
    division_by_zero_that_is_not_chosen,
    nan_in_lanes_that_are_not_stored,
    random_masks_and_indices,
    mask_from_a_congruence,
    two_numbers_in_one_of_64_bits,
    four_bits_at_a_time,
    hash_of_a_byte,
    bytes_whose_products_fit,
    lengths_that_fit,
    narrowed_after_a_remainder,
    coordinates_below_zero,
    a_few_terms_in_float16,
    many_terms_in_float32,
    a_series_that_converges,
    sum_of_a_block_of_float16,
    a_few_atomic_additions_in_float16,
    gather_within_its_block,
)
