"""Grids that do not fit their kernels: too few programs, or an axis for which the kernel does not ask."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def matrix_kernel(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offsets = rows[:, None] * N + columns[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)  # BUG


@plant(matrix_kernel, "small-grid", "out_ptr")
def too_few_columns_of_programs(mended: bool) -> None:
    """60 // 16 programs along axis 1: the last 12 columns have none."""
    columns = triton.cdiv(60, 16) if mended else 60 // 16
    matrix_kernel[(5, columns)](torch.ones(40, 60), torch.empty(40, 60), 40, 60, BLOCK_M=8, BLOCK_N=16)


@plant(matrix_kernel, "small-grid", "out_ptr")
def too_few_rows_of_programs(mended: bool) -> None:
    """The last rows have no program."""
    rows = triton.cdiv(43, 8) if mended else 43 // 8
    matrix_kernel[(rows, 3)](torch.ones(43, 96), torch.empty(43, 96), 43, 96, BLOCK_M=8, BLOCK_N=32)


@plant(matrix_kernel, "small-grid", "out_ptr")
def one_program_where_two_are_needed(mended: bool) -> None:
    """24 // 16 is 1 along axis 1, and all rows are in one block, too."""
    columns = triton.cdiv(24, 16) if mended else 24 // 16
    matrix_kernel[(1, columns)](torch.ones(8, 24), torch.empty(8, 24), 8, 24, BLOCK_M=8, BLOCK_N=16)


@triton.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)  # BUG
    tl.atomic_add(total_ptr, tl.sum(x))


@plant(total_kernel, "small-grid", "x_ptr")
def end_of_an_input_without_programs(mended: bool) -> None:
    """The kernel is told of 100 elements, and 3 programs add 96."""
    programs = triton.cdiv(100, 32) if mended else 100 // 32
    total_kernel[(programs,)](torch.rand(100), torch.zeros(1), 100, BLOCK=32)


@triton.jit
def small_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@plant(small_kernel, "small-grid", None, [])
def no_programs_at_all(mended: bool) -> None:
    """100 // 128 is 0."""
    programs = triton.cdiv(100, 128) if mended else 100 // 128
    small_kernel[(programs,)](torch.rand(100), torch.empty(100), 100, BLOCK=128)


@triton.jit
def second_axis_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    AXIS: tl.constexpr = 0 if MENDED else 1
    offsets = tl.program_id(AXIS) * BLOCK + tl.arange(0, BLOCK)  # BUG
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@plant(second_axis_kernel, "unused-grid-axis", None)
def second_axis_of_a_grid_with_one(mended: bool) -> None:
    """tl.program_id(1) is 0 in all seven programs."""
    second_axis_kernel[(7,)](torch.rand(100), torch.zeros(100), 100, BLOCK=16, MENDED=mended)


@triton.jit
def rows_kernel(x_ptr, out_ptr, N: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0)  # BUG
    if MENDED:
        row = row * tl.num_programs(1) + tl.program_id(1)
    columns = tl.arange(0, N)
    tl.store(out_ptr + row * N + columns, tl.load(x_ptr + row * N + columns))


@plant(rows_kernel, "unused-grid-axis", None)
def rows_of_one_axis_alone(mended: bool) -> None:
    """A grid of rows times heads, of which the kernel knows only the rows."""
    rows_kernel[(4, 3)](torch.rand(12, 16), torch.zeros(12, 16), N=16, MENDED=mended)


@triton.jit
def flat_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def _flat(n: int, block: int, spare: int) -> Callable[[], None]:
    def run() -> None:
        flat_kernel[(triton.cdiv(n, block),)](torch.rand(n), torch.empty(n + spare)[:n], n, BLOCK=block)

    run.__name__ = f"grid for {n} in blocks of {block}, {spare} spare"
    return run


def _matrix(rows: int, columns: int) -> Callable[[], None]:
    def run() -> None:
        grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 16))
        x, out = torch.ones(rows, columns), torch.empty(rows, columns)
        matrix_kernel[grid](x, out, rows, columns, BLOCK_M=8, BLOCK_N=16)

    run.__name__ = f"grid for {rows} by {columns}"
    return run


@triton.jit
def counted_kernel(total_ptr):
    tl.atomic_add(total_ptr, 1)


def programs_that_count_themselves() -> None:
    """No program asks for its number: each adds one."""
    counted_kernel[(3, 4)](torch.zeros(1, dtype=torch.int32))


def sum_of_a_part() -> None:
    """The launch says that 96 of 100 elements are to be added."""
    total_kernel[(3,)](torch.rand(100), torch.zeros(1), 96, BLOCK=32)


@triton.jit
def columns_kernel(x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + column, mask=column < columns)
    tl.store(out_ptr + row * columns + column, x, mask=column < columns)


def columns_of_a_wider_matrix() -> None:
    """The width of the matrix is its stride, and 64 of its 70 columns are copied."""
    columns_kernel[(5, 2)](torch.rand(5, 70), torch.empty(5, 64), 64, 70, BLOCK=32)


def buffer_larger_than_its_use() -> None:
    """The workspace has room for more."""
    flat_kernel[(3,)](torch.rand(90), torch.empty(1000), 90, BLOCK=32)


def nothing_to_do() -> None:
    """No elements, no programs."""
    flat_kernel[(0,)](torch.rand(0), torch.empty(0), 0, BLOCK=32)


def half_of_a_tensor() -> None:
    """Another launch writes the rest."""
    x, out = torch.rand(128), torch.empty(128)
    flat_kernel[(4,)](x, out[:64], 64, BLOCK=16)
    flat_kernel[(4,)](x[64:], out[64:], 64, BLOCK=16)


INNOCENTS = [
    *(_flat(n, block, spare) for n in (60, 100, 128) for block in (16, 32) for spare in (0, 7)),
    *(_matrix(rows, columns) for rows in (8, 20, 33) for columns in (16, 40)),
    programs_that_count_themselves,
    nothing_to_do,
    sum_of_a_part,
    columns_of_a_wider_matrix,
    half_of_a_tensor,
]
