"""Out of bounds because an index is wrong: neighbours, tables, strides, ends of ranges."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

N, BLOCK = 100, 32


def numbers(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


@triton.jit
def right_neighbour_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    has_right = offsets + 1 < n if MENDED else mask
    right = tl.load(x_ptr + offsets + 1, mask=has_right, other=0.0)  # BUG
    tl.store(out_ptr + offsets, right, mask=mask)


@plant(right_neighbour_kernel, "out-of-bounds", "x_ptr", {3})
def right_neighbour(mended: bool) -> None:
    """The mask is about the element itself; its right neighbour may not exist."""
    right_neighbour_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def left_neighbour_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    has_left = mask & (offsets > 0) if MENDED else mask
    left = tl.load(x_ptr + offsets - 1, mask=has_left, other=0.0)  # BUG
    tl.store(out_ptr + offsets, left, mask=mask)


@plant(left_neighbour_kernel, "out-of-bounds", "x_ptr", {0})
def left_neighbour(mended: bool) -> None:
    """Element 0 has no left neighbour: one element before the tensor."""
    left_neighbour_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets)
    known = (index >= 0) & (index < n)
    if MENDED:
        x = tl.load(x_ptr + index, mask=known, other=0.0)
    else:
        x = tl.load(x_ptr + index)  # BUG
    tl.store(out_ptr + offsets, x)


@plant(gather_kernel, "out-of-bounds", "x_ptr", {1})
def gather_far(mended: bool) -> None:
    """One index of the table is a million."""
    index = torch.arange(64)
    index[40] = 1_000_000
    gather_kernel[(2,)](numbers(64), index, numbers(64), 64, BLOCK=BLOCK, MENDED=mended)


@plant(gather_kernel, "out-of-bounds", "x_ptr", {0})
def gather_sentinel(mended: bool) -> None:
    """-1 stands for 'none' in the table, and is used as an index."""
    index = torch.arange(64)
    index[5] = -1
    gather_kernel[(2,)](numbers(64), index, numbers(64), 64, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def scatter_kernel(x_ptr, place_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    place = tl.load(place_ptr + offsets)
    if not MENDED:
        place += 1  # the table counts from 0 already
    tl.store(out_ptr + place, x)  # BUG


@plant(scatter_kernel, "out-of-bounds", "out_ptr", {0})
def scatter_from_one(mended: bool) -> None:
    """Places counted from 1 in a table that counts from 0: the largest is one too far."""
    scatter_kernel[(2,)](numbers(64), torch.arange(63, -1, -1), numbers(64), 64, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    last = n - 1 if MENDED else n
    tl.store(out_ptr + last - offsets, x, mask=mask)  # BUG


@plant(reverse_kernel, "out-of-bounds", "out_ptr", {0})
def reverse_by_one(mended: bool) -> None:
    """Counting back from n instead of n - 1."""
    reverse_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def row_lengths_kernel(starts_ptr, length_ptr):
    row = tl.program_id(0)
    length = tl.load(starts_ptr + row + 1) - tl.load(starts_ptr + row)  # BUG
    tl.store(length_ptr + row, length)


@plant(row_lengths_kernel, "out-of-bounds", "starts_ptr", {5})
def starts_without_end(mended: bool) -> None:
    """Row starts need one entry more than there are rows: the end of the last."""
    starts = torch.arange(7 if mended else 6)
    row_lengths_kernel[(6,)](starts, torch.zeros(6, dtype=torch.int64))


@triton.jit
def sum_rows_kernel(x_ptr, total_ptr, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    places = x_ptr + row * row_stride + column * column_stride
    x = tl.load(places, mask=column < columns, other=0.0)  # BUG
    tl.store(total_ptr + row, tl.sum(x))


@plant(sum_rows_kernel, "out-of-bounds", "x_ptr", {0, 1, 2})
def strides_swapped(mended: bool) -> None:
    """The launch passes the two strides in the wrong order."""
    x = numbers(3, 40)
    strides = x.stride() if mended else x.stride()[::-1]
    sum_rows_kernel[(3,)](x, numbers(3), 40, *strides, BLOCK=64)


@plant(sum_rows_kernel, "out-of-bounds", "x_ptr", {3})
def stride_of_another(mended: bool) -> None:
    """The row stride of a wider tensor: rows drift, and the last leaves the storage."""
    x, wider = numbers(4, 40), numbers(4, 50)
    sum_rows_kernel[(4,)](x, numbers(4), 40, (x if mended else wider).stride(0), 1, BLOCK=64)


@triton.jit
def smooth_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(-2, 3):
        place = offsets + tap
        inside = (place >= 0) & (place < n) if MENDED else place < n
        total += tl.load(x_ptr + place, mask=inside, other=0.0)  # BUG
    tl.store(out_ptr + offsets, total, mask=offsets < n)


@plant(smooth_kernel, "out-of-bounds", "x_ptr", {0})
def halo(mended: bool) -> None:
    """The window hangs over both ends; the mask guards one."""
    smooth_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def segment_sum_kernel(x_ptr, ends_ptr, total_ptr, MENDED: tl.constexpr):
    segment = tl.program_id(0)
    end = tl.load(ends_ptr + segment)
    place = segment * 10
    total = 0.0
    if MENDED:
        end -= 1
    while place <= end:
        total += tl.load(x_ptr + place)  # BUG
        place += 1
    tl.store(total_ptr + segment, total)


@plant(segment_sum_kernel, "out-of-bounds", "x_ptr", {2})
def end_included(mended: bool) -> None:
    """A `while` that includes the end: harmless in all segments but the last."""
    segment_sum_kernel[(3,)](numbers(30), torch.tensor([10, 20, 30]), numbers(3), MENDED=mended)


@triton.jit
def summary_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x)
    if program == tl.num_programs(0) - 1:
        place = n - 1 if MENDED else n
        tl.store(out_ptr + place, tl.sum(x))  # BUG


@plant(summary_kernel, "out-of-bounds", "out_ptr", {3})
def only_the_last_program(mended: bool) -> None:
    """A branch that one program takes writes one element past the end."""
    summary_kernel[(4,)](numbers(128), numbers(128), 128, BLOCK=32, MENDED=mended)


@triton.jit
def ring_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    turn = n if MENDED else n + 1
    x = tl.load(x_ptr + offsets % turn)  # BUG
    tl.store(out_ptr + offsets, x)


@plant(ring_kernel, "out-of-bounds", "x_ptr", {2})
def ring_too_long(mended: bool) -> None:
    """A ring buffer taken modulo its length plus one."""
    ring_kernel[(4,)](numbers(64), numbers(128), 64, BLOCK=32, MENDED=mended)


@triton.jit
def bytes_for_elements_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    size = 1 if MENDED else 4
    x = tl.load(x_ptr + offsets * size, mask=offsets < n)  # BUG
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@plant(bytes_for_elements_kernel, "out-of-bounds", "x_ptr", {0, 1, 2, 3})
def bytes_for_elements(mended: bool) -> None:
    """Offsets count elements already; times 4 they are four times too far."""
    bytes_for_elements_kernel[(4,)](numbers(N), numbers(N), N, BLOCK=BLOCK, MENDED=mended)


@triton.jit
def load_row(x_ptr, row, columns, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    column = tl.arange(0, BLOCK)
    if MENDED:
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    else:
        x = tl.load(x_ptr + row * columns + column)  # BUG
    return x


@triton.jit
def sum_by_helper_kernel(matrix_ptr, total_ptr, columns, BLOCK: tl.constexpr, MENDED: tl.constexpr):
    row = tl.program_id(0)
    tl.store(total_ptr + row, tl.sum(load_row(matrix_ptr, row, columns, BLOCK, MENDED)))


@plant(load_row, "out-of-bounds", "matrix_ptr", {2})
def in_a_helper(mended: bool) -> None:
    """The mistake is in a helper; the argument is the kernel's."""
    sum_by_helper_kernel[(3,)](numbers(3, 20), numbers(3), 20, BLOCK=32, MENDED=mended)
