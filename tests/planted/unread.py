"""Inputs of which some elements are read by no program; and inputs of which a part is meant."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    last = n if MENDED else n - 1
    y = tl.load(y_ptr + at, mask=at < last, other=0.0)  # BUG
    tl.store(out_ptr + at, x + y, mask=at < n)


@plant(add_kernel, "unread", "y_ptr", shown=True)
def mask_that_ends_one_too_early(mended: bool) -> None:
    """The last element of y is taken for 0."""
    add_kernel[(4,)](torch.ones(60), torch.ones(60), torch.zeros(60), 60, MENDED=mended, BLOCK=16)


@triton.jit
def norm_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + column, mask=column < n, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(x * x))


@plant(norm_kernel, "unread", "x_ptr")
def row_longer_than_its_block(mended: bool) -> None:
    """20 columns, and a block of 16."""
    norm_kernel[(6,)](torch.ones(6, 20), torch.zeros(6), 20, BLOCK=32 if mended else 16)


@triton.jit
def frames_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + column, mask=column < n, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(x))


@plant(frames_kernel, "unread", "x_ptr")
def stride_of_another_tensor(mended: bool) -> None:
    """Rows of 10 elements are taken 8 apart: some elements are read twice, and the last ones never."""
    frames_kernel[(6,)](torch.ones(6, 10), torch.zeros(6), 10, 10 if mended else 8, BLOCK=16)


@triton.jit
def steps_kernel(x_ptr, out_ptr, n, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    steps = tl.cdiv(n, BLOCK) if MENDED else n // BLOCK
    for k in range(steps):
        at = k * BLOCK + lane
        total += tl.load(x_ptr + at, mask=at < n, other=0.0)  # BUG
    tl.store(out_ptr, tl.sum(total))


@plant(steps_kernel, "unread", "x_ptr")
def steps_rounded_down(mended: bool) -> None:
    """n // BLOCK leaves the last block out."""
    steps_kernel[(1,)](torch.ones(100), torch.zeros(1), 100, MENDED=mended, BLOCK=16)


# --- A part is meant --------------------------------------------------------------------------------------


@triton.jit
def part_kernel(x_ptr, out_ptr, rows, columns, row_stride, first, WAY: tl.constexpr, SIDE: tl.constexpr):
    i, j = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    mask = (i < rows) & (j < columns)
    if WAY == "lower":
        mask &= j <= i
    if WAY == "upper":
        mask &= j > i
    if WAY == "even":
        mask &= (i + j) % 4 > 0
    x = tl.load(x_ptr + (first + i) * row_stride + j, mask=mask, other=0.0)
    tl.store(out_ptr + i * columns + j, x, mask=(i < rows) & (j < columns))


def _part(
    name: str,
    part: tuple[int, int],
    shape: tuple[int, int] = (10, 12),
    first: int = 0,
    way: str = "",
    view: tuple[int, int] | None = None,
) -> Callable[[], None]:
    def run() -> None:
        x = torch.ones(shape)
        if view is not None:
            x = x[: view[0], : view[1]]
        part_kernel[(1,)](x, torch.zeros(part), *part, x.stride(0), first, WAY=way, SIDE=16)

    run.__name__ = name
    return run


@triton.jit
def gathered_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, tl.load(x_ptr + index, mask=at < n), mask=at < n)


@triton.jit
def lengths_kernel(x_ptr, length_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    length = tl.load(length_ptr + row)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * n + column, mask=column < length, other=0.0)))


@triton.jit
def until_kernel(x_ptr, out_ptr, count_ptr, BLOCK: tl.constexpr):
    total = 0.0
    for k in range(tl.load(count_ptr)):
        total += tl.sum(tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK)))
    tl.store(out_ptr, total)


@triton.jit
def table_kernel(x_ptr, table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    at = row * n + column
    x = tl.load(x_ptr + at, mask=column < n)
    tl.store(out_ptr + at, x * tl.load(table_ptr + at, mask=column < n), mask=column < n)


@triton.jit
def in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


def chosen_by_indices() -> None:
    """A gather reads what the indices say."""
    index = torch.tensor([0, 5, 5, 7, 30, 31, 33, 38, 1, 2, 3, 4, 6, 8, 9, 10], dtype=torch.int32)
    gathered_kernel[(1,)](torch.ones(20 + 20), index, torch.zeros(16), 16, BLOCK=16)


def most_are_chosen_by_indices() -> None:
    """A permutation of all except one."""
    gathered_kernel[(1,)](torch.ones(16), torch.arange(15, 0, -1).int(), torch.zeros(15), 15, BLOCK=16)


def rows_of_other_lengths() -> None:
    """Padding behind each row, whose length is in memory."""
    lengths_kernel[(4,)](torch.ones(4, 16), torch.tensor([16, 15, 12, 14]), torch.zeros(4), 16, BLOCK=16)


def loop_as_long_as_memory_says() -> None:
    """Three of four blocks, since a number in memory says so."""
    until_kernel[(1,)](torch.ones(64), torch.zeros(1), torch.tensor([3], dtype=torch.int32), BLOCK=16)


def table_for_longer_sequences() -> None:
    """Ten rows of sines, of which a sequence of eight needs eight."""
    table_kernel[(8,)](torch.ones(8, 16), torch.ones(10, 16), torch.zeros(8, 16), 16, BLOCK=16)


def updated_in_part() -> None:
    """What the kernel stores to is no input alone."""
    in_place_kernel[(3,)](torch.ones(50), 48, BLOCK=16)


def one_launch_for_each_part() -> None:
    """Three launches, each of a third."""
    x, out = torch.ones(48), torch.zeros(48)
    for k in range(3):
        part_kernel[(1,)](x[k * 16 :], out[k * 16 :], 1, 16, 16, 0, WAY="", SIDE=16)


INNOCENTS: tuple[Callable[[], None], ...] = (
    _part("all_of_it", (10, 12)),
    _part("first_columns", (10, 9)),
    _part("all_columns_but_one", (10, 11)),
    _part("first_rows", (7, 12)),
    _part("all_rows_but_one", (9, 12)),
    _part("last_rows", (8, 12), first=2),
    _part("rows_in_the_middle", (8, 12), first=1),
    _part("corner", (9, 10)),
    _part("one_row", (1, 12)),
    _part("one_column", (10, 1)),
    _part("lower_triangle", (12, 12), (12, 12), way="lower"),
    _part("upper_triangle", (12, 12), (12, 12), way="upper"),
    _part("three_of_four", (10, 12), way="even"),
    _part("padding_behind_a_view", (10, 12), (12, 16), view=(10, 12)),
    _part("padding_of_rows_behind_a_view", (10, 16), (12, 16), view=(10, 16)),
    chosen_by_indices,
    most_are_chosen_by_indices,
    rows_of_other_lengths,
    loop_as_long_as_memory_says,
    table_for_longer_sequences,
    updated_in_part,
    one_launch_for_each_part,
)
