"""Stores that lose nothing, or what they are meant to, and lanes that nobody has loaded and nobody uses."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.lossy import constant_kernel, scale_kernel, scaled
from tests.planted.undefined import row_kernel


def whole_numbers_into_integers() -> None:
    """Floats that are whole, and fit."""
    scaled(torch.arange(100.0) - 50, torch.int8, 1.0)


def floats_into_narrow_floats() -> None:
    """What rounds to the next float is what floats do."""
    scaled(torch.rand(100), torch.bfloat16, 1 / 3)


def flags_of_fractions() -> None:
    """Whatever is not zero is true; Triton 3.6 takes the integer below for it."""
    scaled(torch.rand(100) + 1, torch.bool, 1.0)


def bytes_without_a_sign() -> None:
    """200 fits uint8, though its highest bit is set."""
    scaled(torch.arange(100, dtype=torch.int32), torch.uint8, 2)


def fraction_in_a_lane_that_is_off() -> None:
    """What is not stored is not lost."""
    x = torch.full((128,), 0.5)
    x[:70] = 2.0
    scale_kernel[(4,)](x, torch.zeros(128, dtype=torch.int32), 70, 1.0, BLOCK=32)


def whole_constant() -> None:
    """-2.0 is an integer."""
    constant_kernel[(2,)](torch.zeros(32, dtype=torch.int32), -2.0, BLOCK=16)


@triton.jit
def explicit_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    tl.store(out_ptr + lane, x.to(tl.int32))
    tl.store(out_ptr + BLOCK + lane, tl.cast(x, tl.int32))
    whole = (x * 100).to(tl.int32)
    tl.store(out_ptr + 2 * BLOCK + lane, whole)


def conversions_that_are_asked_for() -> None:
    """`.to` on the line of the store, and before it."""
    explicit_kernel[(1,)](torch.rand(16), torch.zeros(48, dtype=torch.int32), BLOCK=16)


@triton.jit
def pack_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + 2 * lane)
    tl.store(out_ptr + lane, x | (tl.load(x_ptr + 2 * lane + 1) << 4))


def two_halves_of_a_byte() -> None:
    """Packed bits are no number: 0xFF is -1 in int8."""
    pack_kernel[(1,)](torch.arange(32, dtype=torch.int32) % 16, torch.zeros(16, dtype=torch.int8), BLOCK=16)


@triton.jit
def mix_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane) * 0x9E3779B1)


def lower_half_of_a_hash() -> None:
    """Who multiplies by a large odd number wants the lowest bits."""
    mix_kernel[(1,)](torch.arange(16, dtype=torch.int64), torch.zeros(16, dtype=torch.int32), BLOCK=16)


# --- Lanes that the mask of a load turns off ---------------------------------------------------------


@triton.jit
def written_twice_kernel(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, 1.0 / x, mask=(offsets < n) & (offsets >= m))


def stored_under_a_narrower_mask() -> None:
    """The mask is written out twice, and the store's has one more condition."""
    written_twice_kernel[(4,)](torch.rand(50) + 1, torch.zeros(64), 50, 7, BLOCK=16)


@triton.jit
def chosen_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane, mask=lane < n)
    largest = tl.max(tl.where(lane < n, x, float("-inf")))
    e = tl.where(lane < n, tl.exp(x - largest), 0.0)
    tl.store(out_ptr + lane, e / tl.sum(e), mask=lane < n)


def thrown_out_by_where() -> None:
    """A softmax with `tl.where` instead of `other=`."""
    chosen_kernel[(1,)](torch.randn(20), torch.zeros(32), 20, BLOCK=32)


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, k, SIDE: tl.constexpr):
    i, j = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    a = tl.load(a_ptr + i * k + j, mask=j < k)
    b = tl.load(b_ptr + i * SIDE + j, mask=i < k, other=0.0)
    tl.store(out_ptr + i * SIDE + j, tl.dot(a, b))


def multiplied_by_zero() -> None:
    """One of the two blocks has zeros where the other has nothing."""
    product_kernel[(1,)](torch.rand(16, 10), torch.rand(10, 16), torch.zeros(16, 16), 10, SIDE=16)


def all_lanes_are_loaded() -> None:
    """The mask turns none off in this launch."""
    row_kernel[(4,)](
        torch.rand(4, 16),
        torch.zeros(4),
        torch.full((4,), 16, dtype=torch.int32),
        COLUMNS=16,
        OF="sum",
        OTHER=None,
    )


@triton.jit
def rows_that_end_kernel(x_ptr, out_ptr, rows, COLUMNS: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + row * COLUMNS + lane, mask=row < rows)
    tl.store(out_ptr + row, tl.sum(x), mask=row < rows)


def rows_that_nobody_stores() -> None:
    """Whole programs are off, and what they sum up goes nowhere."""
    rows_that_end_kernel[(6,)](torch.rand(4, 16), torch.zeros(4), 4, COLUMNS=16)


INNOCENT_STORES: tuple[Callable[[], None], ...] = (
    whole_numbers_into_integers,
    floats_into_narrow_floats,
    flags_of_fractions,
    bytes_without_a_sign,
    fraction_in_a_lane_that_is_off,
    whole_constant,
    conversions_that_are_asked_for,
    two_halves_of_a_byte,
    lower_half_of_a_hash,
    stored_under_a_narrower_mask,
    thrown_out_by_where,
    multiplied_by_zero,
    all_lanes_are_loaded,
    rows_that_nobody_stores,
)
