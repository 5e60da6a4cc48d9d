"""Lanes of one program that store to one element with one operation."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(1.0, torch.Size(shape).numel() + 1).reshape(shape)


def indices(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


TWICE = indices(0, 3, 3, 1, 6, 6, 6, 2)
ONCE = indices(0, 3, 4, 1, 6, 7, 5, 2)


@triton.jit
def halves_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + lane)
    place = lane if MENDED else lane // 2
    tl.store(out_ptr + tl.program_id(0) * BLOCK + place, x)  # BUG


@plant(halves_kernel, "lane-collision", "out_ptr", {0, 1})
def two_lanes_an_element(mended: bool) -> None:
    """`i // 2`: each element is stored by two lanes."""
    halves_kernel[(2,)](numbers(64), torch.zeros(64), BLOCK=32, MENDED=mended)


@triton.jit
def ring_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane % n, tl.load(x_ptr + lane))  # BUG


@plant(ring_kernel, "lane-collision", "out_ptr", {0})
def ring_that_is_too_small(mended: bool) -> None:
    """A ring buffer of 24 for a block of 32."""
    ring_kernel[(1,)](numbers(32), torch.zeros(32), 32 if mended else 24, BLOCK=32)


@triton.jit
def scatter_kernel(index_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    place = tl.load(index_ptr + lane)
    tl.store(out_ptr + place, tl.load(x_ptr + lane))  # BUG


@plant(scatter_kernel, "lane-collision", "out_ptr", {0})
def scatter_to_repeated_places(mended: bool) -> None:
    """Indices that were thought to be a permutation."""
    scatter_kernel[(1,)](ONCE if mended else TWICE, numbers(8), torch.zeros(8), BLOCK=8)


@triton.jit
def accumulate_kernel(index_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    place = out_ptr + tl.load(index_ptr + lane)
    x = tl.load(x_ptr + lane)
    if MENDED:
        tl.atomic_add(place, x, sem="relaxed")
    else:
        tl.store(place, tl.load(place) + x)  # BUG


@plant(accumulate_kernel, "lane-collision", "out_ptr", {0}, shown=True)
def gradients_of_an_embedding(mended: bool) -> None:
    """Load, add, store at repeated indices: of two tokens of one word, one is lost."""
    accumulate_kernel[(1,)](TWICE, numbers(8), torch.zeros(8), BLOCK=8, MENDED=mended)


@triton.jit
def count_kernel(index_ptr, counts_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    place = counts_ptr + tl.load(index_ptr + tl.arange(0, BLOCK))
    if MENDED:
        tl.atomic_add(place, 1)
    else:
        tl.store(place, tl.load(place) + 1)  # BUG


@plant(count_kernel, "lane-collision", "counts_ptr", {0})
def counted_once_however_often(mended: bool) -> None:
    """Lanes that all store the same number - and the count is wrong all the same."""
    count_kernel[(1,)](TWICE, torch.zeros(8, dtype=torch.int32), BLOCK=8, MENDED=mended)


@triton.jit
def largest_kernel(index_ptr, x_ptr, best_ptr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    place = best_ptr + tl.load(index_ptr + lane)
    x = tl.load(x_ptr + lane)
    if MENDED:
        tl.atomic_max(place, x)
    else:
        best = tl.load(place)
        tl.store(place, x, mask=x > best)  # BUG


@plant(largest_kernel, "lane-collision", "best_ptr", {0})
def largest_of_each_group(mended: bool) -> None:
    """Whoever is larger stores: of two that are larger, the smaller one may stay."""
    x = torch.arange(1, 9, dtype=torch.int32)
    largest_kernel[(1,)](TWICE, x, torch.zeros(8, dtype=torch.int32), BLOCK=8, MENDED=mended)


@triton.jit
def rows_kernel(x_ptr, out_ptr, row_stride, column_stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + row * COLUMNS + column)
    tl.store(out_ptr + row * row_stride + column * column_stride, x)  # BUG


def rows(row_stride: int, column_stride: int) -> None:
    rows_kernel[(1,)](numbers(4, 8), torch.zeros(64), row_stride, column_stride, ROWS=4, COLUMNS=8)


@plant(rows_kernel, "lane-collision", "out_ptr", {0})
def rows_closer_than_they_are_long(mended: bool) -> None:
    """Rows of 8 that begin every 6 elements."""
    rows(8 if mended else 6, 1)


@plant(rows_kernel, "lane-collision", "out_ptr", {0})
def expanded_output(mended: bool) -> None:
    """The strides of an expanded tensor: all columns are one."""
    rows(8, 1 if mended else 0)


@plant(rows_kernel, "lane-collision", "out_ptr", {0})
def strides_in_the_wrong_order(mended: bool) -> None:
    """The strides of (8, 4) for a block of (4, 8)."""
    rows(*((1, 4) if mended else (4, 1)))


@triton.jit
def clamp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    if MENDED:
        tl.store(out_ptr + lane, x, mask=lane < n)
    else:
        tl.store(out_ptr + tl.minimum(lane, n - 1), x)  # BUG


@plant(clamp_kernel, "lane-collision", "out_ptr", {0})
def clamped_instead_of_masked(mended: bool) -> None:
    """Offsets cut to the end: the last element gets whatever a lane beyond it had."""
    clamp_kernel[(1,)](numbers(32), torch.zeros(20), 20, BLOCK=32, MENDED=mended)


@triton.jit
def compact_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, BUG: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    keep = x % 3 != 0
    place = tl.cumsum(keep.to(tl.int32), 0) - 1
    if BUG == "not masked":
        tl.store(out_ptr + tl.maximum(place, 0), x)  # BUG
    elif BUG == "one slot for the rest":
        tl.store(out_ptr + tl.where(keep, place, BLOCK - 1), x)  # BUG
    else:
        tl.store(out_ptr + place, x, mask=keep)


def compact(bug: str) -> None:
    x = torch.arange(1, 33, dtype=torch.int32)
    compact_kernel[(1,)](x, torch.zeros(32, dtype=torch.int32), BLOCK=32, BUG=bug)


@plant(compact_kernel, "lane-collision", "out_ptr", {0})
def compacted_without_a_mask(mended: bool) -> None:
    """Lanes that are not kept have the place of the one before, and store there."""
    compact("" if mended else "not masked")


@plant(compact_kernel, "lane-collision", "out_ptr", {0})
def one_slot_for_the_rest(mended: bool) -> None:
    """What is not kept goes to a slot that was thought to be free for it."""
    compact("" if mended else "one slot for the rest")


@triton.jit
def put(place, value):
    tl.store(place, value)  # BUG


@triton.jit
def rounds_kernel(x_ptr, out_ptr, step, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for turn in range(ROUNDS):
        x = tl.load(x_ptr + turn * BLOCK + lane)
        put(out_ptr + turn * BLOCK * 2 + lane * (2 - turn * step), x)


@plant(put, "lane-collision", "out_ptr", {0})
def only_in_the_last_round(mended: bool) -> None:
    """In a helper, in the third round of a loop: steps of 2, 1 and 0."""
    rounds_kernel[(1,)](numbers(24), torch.zeros(64), 0 if mended else 1, ROUNDS=3, BLOCK=8)


@triton.jit
def buckets_kernel(key_ptr, x_ptr, table_ptr, SLOTS: tl.constexpr, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + lane
    key = tl.load(key_ptr + offsets)
    slot = tl.program_id(0) * SLOTS + (lane if MENDED else key % SLOTS)
    tl.store(table_ptr + slot, tl.load(x_ptr + offsets))  # BUG


@plant(buckets_kernel, "lane-collision", "table_ptr", {1})
def keys_of_one_bucket(mended: bool) -> None:
    """A hash table without a look at who is there: keys of one program fall together."""
    keys = torch.cat([torch.arange(16), torch.arange(16) * 5 % 11]).to(torch.int32)
    buckets_kernel[(2,)](keys, numbers(32), torch.zeros(32), SLOTS=16, BLOCK=16, MENDED=mended)
