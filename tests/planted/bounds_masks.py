"""Out of bounds because a mask is missing, too wide, or about something else."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

N, BLOCK = 100, 32  # four programs; the last has 4 elements


def numbers(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


@triton.jit
def tail_load_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MENDED:
        x = tl.load(x_ptr + offsets, mask=offsets < n)
    else:
        x = tl.load(x_ptr + offsets)  # BUG
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@plant(tail_load_kernel, "out-of-bounds", "x_ptr", {3}, shown=True)
def tail_load(mended: bool) -> None:
    """The last block reaches past the end, and its load has no mask."""
    tail_load_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def tail_store_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    if MENDED:
        tl.store(out_ptr + offsets, x, mask=offsets < n)
    else:
        tl.store(out_ptr + offsets, x)  # BUG


@plant(tail_store_kernel, "out-of-bounds", "out_ptr", {3})
def tail_store(mended: bool) -> None:
    """The load is masked, the store is not."""
    tail_store_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def at_most_n_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n if MENDED else offsets <= n
    x = tl.load(x_ptr + offsets, mask=inside)  # BUG
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@plant(at_most_n_kernel, "out-of-bounds", "x_ptr", {3})
def at_most_n(mended: bool) -> None:
    """`<=` for `<`: one element too many."""
    at_most_n_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def rounded_length_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    length = n if MENDED else tl.cdiv(n, BLOCK) * BLOCK
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x, mask=offsets < length)  # BUG


@plant(rounded_length_kernel, "out-of-bounds", "out_ptr", {3})
def rounded_length(mended: bool) -> None:
    """The mask compares with the length rounded up to whole blocks."""
    rounded_length_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def where_is_no_mask_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    if MENDED:
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    else:
        x = tl.where(mask, tl.load(x_ptr + offsets), 0.0)  # BUG
    tl.store(out_ptr + offsets, x, mask=mask)


@plant(where_is_no_mask_kernel, "out-of-bounds", "x_ptr", {3})
def where_is_no_mask(mended: bool) -> None:
    """`where` chooses among values that have all been loaded already."""
    where_is_no_mask_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def columns_unmasked_kernel(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr, MENDED: tl.constexpr):
    row, column = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    mask = (row < rows) & (column < columns)
    if MENDED:
        x = tl.load(x_ptr + row * columns + column, mask=mask)
    else:
        x = tl.load(x_ptr + row * columns + column, mask=row < rows)  # BUG
    tl.store(out_ptr + row * columns + column, x, mask=mask)


@plant(columns_unmasked_kernel, "out-of-bounds", "x_ptr", {0})
def columns_unmasked(mended: bool) -> None:
    """Lanes past the last column read the next row, and those of the last row one element past the end."""
    columns_unmasked_kernel[(1,)](numbers(5, 3), numbers(5, 3), 5, 3, R=8, C=4, MENDED=mended)


@triton.jit
def rows_unmasked_kernel(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr, MENDED: tl.constexpr):
    row = (tl.program_id(0) * R + tl.arange(0, R))[:, None]
    column = tl.arange(0, C)[None, :]
    mask = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0)
    if MENDED:
        tl.store(out_ptr + row * columns + column, x, mask=mask)
    else:
        tl.store(out_ptr + row * columns + column, x, mask=column < columns)  # BUG


@plant(rows_unmasked_kernel, "out-of-bounds", "out_ptr", {1})
def rows_unmasked(mended: bool) -> None:
    """The mask of the store knows the columns and forgets the rows."""
    rows_unmasked_kernel[(2,)](numbers(5, 3), numbers(5, 3), 5, 3, R=4, C=4, MENDED=mended)


@triton.jit
def loop_tail_kernel(x_ptr, total_ptr, columns, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        if MENDED:
            total += tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
        else:
            total += tl.load(x_ptr + row * columns + column)  # BUG
    tl.store(total_ptr + row, tl.sum(total))


@plant(loop_tail_kernel, "out-of-bounds", "x_ptr", {2})
def loop_tail(mended: bool) -> None:
    """The last step of the loop hangs over the row's end: only the last row's lanes leave the tensor."""
    loop_tail_kernel[(3,)](numbers(3, 50), numbers(3), 50, BLOCK=16, MENDED=mended)


@triton.jit
def one_step_more_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    steps = n // BLOCK if MENDED else n // BLOCK + 1
    for step in range(steps):
        total += tl.load(x_ptr + step * BLOCK + tl.arange(0, BLOCK))  # BUG
    tl.store(total_ptr, tl.sum(total))


@plant(one_step_more_kernel, "out-of-bounds", "x_ptr", {0})
def one_step_more(mended: bool) -> None:
    """A loop of n // BLOCK + 1 steps where BLOCK divides n."""
    one_step_more_kernel[(1,)](numbers(64), numbers(1), 64, BLOCK=16, MENDED=mended)


@triton.jit
def whole_blocks_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # BUG
    tl.store(out_ptr + offsets, x)


@plant(whole_blocks_kernel, "out-of-bounds", "x_ptr", {3})
def one_program_more(mended: bool) -> None:
    """No mask is needed, BLOCK divides n; but the grid is n // BLOCK + 1."""
    whole_blocks_kernel[(3 if mended else 4,)](numbers(96), numbers(96), BLOCK=32)


@triton.jit
def padded_row_kernel(x_ptr, largest_ptr, columns, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    if MENDED:
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf"))
    else:
        x = tl.load(x_ptr + row * columns + column)  # BUG
    tl.store(largest_ptr + row, tl.max(x))


@plant(padded_row_kernel, "out-of-bounds", "x_ptr", {2})
def padded_row(mended: bool) -> None:
    """Rows of 20 in blocks of 32, the next power of two."""
    padded_row_kernel[(3,)](numbers(3, 20), numbers(3), 20, BLOCK=32, MENDED=mended)


@triton.jit
def shorter_operand_kernel(x_ptr, y_ptr, out_ptr, n, m, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    known = m if MENDED else n
    y = tl.load(y_ptr + offsets, mask=offsets < known, other=0.0)  # BUG
    tl.store(out_ptr + offsets, x + y, mask=offsets < n)


@plant(shorter_operand_kernel, "out-of-bounds", "y_ptr", {2, 3})
def shorter_operand(mended: bool) -> None:
    """One mask for two operands, of which one is shorter."""
    shorter_operand_kernel[(4,)](numbers(N), numbers(90), numbers(N), N, 90, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def wide_guard_kernel(x_ptr, out_ptr, blocks, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    last = blocks - 1 if MENDED else blocks
    if program > last:
        return
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # BUG
    tl.store(out_ptr + offsets, x)


@plant(wide_guard_kernel, "out-of-bounds", "x_ptr", {4})
def wide_guard(mended: bool) -> None:
    """The early return lets one program through that has no block."""
    wide_guard_kernel[(6,)](numbers(128), numbers(128), 4, BLOCK=32, MENDED=mended)


@triton.jit
def grid_rows_kernel(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr, MENDED: tl.constexpr):
    row = (tl.program_id(1) * R + tl.arange(0, R))[:, None]
    column = (tl.program_id(0) * C + tl.arange(0, C))[None, :]
    if MENDED:
        x = tl.load(x_ptr + row * columns + column, mask=row < rows)
    else:
        x = tl.load(x_ptr + row * columns + column)  # BUG
    tl.store(out_ptr + row * columns + column, x, mask=row < rows)


@plant(grid_rows_kernel, "out-of-bounds", "x_ptr", {4, 5})
def grid_rows(mended: bool) -> None:
    """On a two-dimensional grid the columns divide, the rows do not: both programs of the last row go too far."""
    grid_rows_kernel[(2, 3)](numbers(5, 8), numbers(5, 8), 5, 8, R=2, C=4, MENDED=mended)
