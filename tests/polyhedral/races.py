"""Small kernels with and without races between programs, each with a launch."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl


@dataclass(frozen=True)
class Case:
    """``races``: whether programs race. ``decided``: whether affine forms alone must tell."""

    run: Callable[[], None]
    races: bool
    decided: bool = True


CASES: dict[str, Case] = {}


def case(races: bool, decided: bool = True) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def enter(run: Callable[[], None]) -> Callable[[], None]:
        CASES[run.__name__] = Case(run, races, decided)
        return run

    return enter


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, step, shift, BLOCK: tl.constexpr, MASK: tl.constexpr):
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK)
    if MASK:
        tl.store(out_ptr + offsets + shift, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
    else:
        tl.store(out_ptr + offsets + shift, tl.load(x_ptr + offsets))


@case(races=False)
def blocks_side_by_side() -> None:
    copy_kernel[(5,)](numbers(70), numbers(70), 70, 16, 0, BLOCK=16, MASK=True)


@case(races=True)
def blocks_overlap() -> None:
    copy_kernel[(5,)](numbers(70), numbers(70), 70, 12, 0, BLOCK=16, MASK=True)


@case(races=False)
def blocks_with_gaps() -> None:
    copy_kernel[(3,)](numbers(70), numbers(70), 70, 20, 0, BLOCK=16, MASK=True)


@case(races=True)
def program_forgotten() -> None:
    copy_kernel[(5,)](numbers(16), numbers(16), 16, 0, 0, BLOCK=16, MASK=True)


@case(races=False)
def program_forgotten_but_alone() -> None:
    copy_kernel[(1,)](numbers(16), numbers(16), 16, 0, 0, BLOCK=16, MASK=True)


@case(races=False)
def in_place() -> None:
    x = numbers(70)
    copy_kernel[(5,)](x, x, 70, 16, 0, BLOCK=16, MASK=True)


@case(races=True)
def in_place_shifted_by_one() -> None:
    x = numbers(80)
    copy_kernel[(4,)](x, x, 64, 16, 1, BLOCK=16, MASK=True)


@case(races=True)
def two_views_of_one_storage() -> None:
    x = numbers(96)
    copy_kernel[(4,)](x[:64], x[8:72], 64, 16, 0, BLOCK=16, MASK=True)


@case(races=False)
def two_halves_of_one_storage() -> None:
    x = numbers(128)
    copy_kernel[(4,)](x[:64], x[64:], 64, 16, 0, BLOCK=16, MASK=True)


@case(races=True)
def last_block_hangs_over() -> None:
    x = numbers(144)
    copy_kernel[(5,)](x[64:], x[:64], 70, 16, 0, BLOCK=16, MASK=False)


@triton.jit
def rows_kernel(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * row_stride + column, row * 100.0 + column, mask=column < columns)


@case(races=False)
def rows() -> None:
    rows_kernel[(3,)](numbers(3, 20), 20, 20, BLOCK=32)


@case(races=True)
def rows_too_close() -> None:
    rows_kernel[(3,)](numbers(3, 20), 20, 18, BLOCK=32)


@case(races=True)
def mask_of_the_padded_width() -> None:
    rows_kernel[(3,)](numbers(4, 20), 32, 20, BLOCK=32)


@triton.jit
def tiles_kernel(x_ptr, out_ptr, rows, columns, TILE: tl.constexpr, KIND: tl.constexpr):
    y, x = tl.program_id(0), tl.program_id(1)
    row = (y * TILE + tl.arange(0, TILE))[:, None]
    column = (x * TILE + tl.arange(0, TILE))[None, :]
    mask = (row < rows) & (column < columns)
    value = tl.load(x_ptr + row * columns + column, mask=mask)
    if KIND == "copy":
        tl.store(out_ptr + row * columns + column, value, mask=mask)
    elif KIND == "transpose":
        tl.store(out_ptr + column * rows + row, value, mask=mask)
    elif KIND == "wrong stride":
        tl.store(out_ptr + column * columns + row, value, mask=mask)
    elif KIND == "one axis":
        tl.store(out_ptr + row * columns + tl.arange(0, TILE)[None, :], value, mask=mask)
    elif KIND == "broadcast":
        tl.store(out_ptr + row * columns + 0 * column, value, mask=mask)


def tiles(kind: str, rows: int = 10, columns: int = 14, same: bool = False) -> None:
    x = numbers(rows, columns)
    out = x if same else torch.zeros(max(rows, columns) ** 2)
    tiles_kernel[(triton.cdiv(rows, 4), triton.cdiv(columns, 4))](x, out, rows, columns, TILE=4, KIND=kind)


@case(races=False)
def tiles_copied() -> None:
    tiles("copy")


@case(races=False)
def tiles_in_place() -> None:
    tiles("copy", same=True)


@case(races=False)
def tiles_transposed() -> None:
    tiles("transpose")


@case(races=True)
def tiles_transposed_in_place() -> None:
    tiles("transpose", 8, 8, same=True)


@case(races=True)
def tiles_transposed_with_the_wrong_stride() -> None:
    tiles("wrong stride", 14, 10)


@case(races=True)
def tiles_of_a_forgotten_axis() -> None:
    tiles("one axis")


@case(races=True)
def broadcast_store() -> None:
    tiles("broadcast")


@triton.jit
def halo_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, HALO: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, 2 * BLOCK) - HALO
    mask = (offsets >= 0) & (offsets < n) & (tl.arange(0, 2 * BLOCK) < BLOCK + 2 * HALO)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@case(races=True)
def halo_written() -> None:
    halo_kernel[(4,)](numbers(60), numbers(60), 60, BLOCK=16, HALO=2)


@case(races=False)
def no_halo() -> None:
    halo_kernel[(4,)](numbers(60), numbers(60), 60, BLOCK=16, HALO=0)


@triton.jit
def stencil_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0.0)
    right = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(out_ptr + offsets, left + right, mask=offsets < n)


@case(races=False)
def stencil() -> None:
    stencil_kernel[(4,)](numbers(60), numbers(60), 60, BLOCK=16)


@case(races=True)
def stencil_in_place() -> None:
    x = numbers(60)
    stencil_kernel[(4,)](x, x, 60, BLOCK=16)


@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + n - 1 - offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@case(races=False)
def reversed_elsewhere() -> None:
    reverse_kernel[(4,)](numbers(50), numbers(50), 50, BLOCK=16)


@case(races=True)
def reversed_in_place() -> None:
    x = numbers(50)
    reverse_kernel[(4,)](x, x, 50, BLOCK=16)


@triton.jit
def cyclic_kernel(out_ptr, n, PERIOD: tl.constexpr, BLOCK: tl.constexpr, SHARE: tl.constexpr):
    program = tl.program_id(0)
    slot = program // SHARE if SHARE > 1 else program % PERIOD
    tl.store(out_ptr + slot * BLOCK + tl.arange(0, BLOCK), 1.0 * program)


@case(races=True)
def slots_shared_cyclically() -> None:
    cyclic_kernel[(6,)](numbers(128), 128, PERIOD=4, BLOCK=16, SHARE=1)


@case(races=False)
def slots_enough() -> None:
    cyclic_kernel[(6,)](numbers(128), 128, PERIOD=8, BLOCK=16, SHARE=1)


@case(races=True)
def slots_shared_by_neighbours() -> None:
    cyclic_kernel[(6,)](numbers(128), 128, PERIOD=1, BLOCK=16, SHARE=2)


@triton.jit
def persistent_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, STRIDED: tl.constexpr):
    program, programs = tl.program_id(0), tl.num_programs(0)
    blocks = tl.cdiv(n, BLOCK)
    step = programs if STRIDED else 1
    for block in range(program, blocks, step):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@case(races=False)
def persistent() -> None:
    persistent_kernel[(3,)](numbers(150), numbers(150), 150, BLOCK=16, STRIDED=True)


@case(races=True)
def persistent_with_the_wrong_step() -> None:
    persistent_kernel[(3,)](numbers(150), numbers(150), 150, BLOCK=16, STRIDED=False)


@triton.jit
def sum_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0))
    if KIND == "atomic":
        tl.atomic_add(total_ptr, total)
    elif KIND == "plain":
        tl.store(total_ptr, tl.load(total_ptr) + total)
    elif KIND == "first":
        if program == 0:
            tl.store(total_ptr, total)
    elif KIND == "cleared":
        if program == 0:
            tl.store(total_ptr, 0.0)
        tl.atomic_add(total_ptr, total, sem="relaxed")


@case(races=False)
def atomic_sum() -> None:
    sum_kernel[(4,)](numbers(60), numbers(1), 60, BLOCK=16, KIND="atomic")


@case(races=True)
def sum_without_atomics() -> None:
    sum_kernel[(4,)](numbers(60), numbers(1), 60, BLOCK=16, KIND="plain")


@case(races=False)
def only_the_first_stores() -> None:
    sum_kernel[(4,)](numbers(60), numbers(1), 60, BLOCK=16, KIND="first")


@case(races=True)
def cleared_by_the_first() -> None:
    sum_kernel[(4,)](numbers(60), numbers(1), 60, BLOCK=16, KIND="cleared")


@triton.jit
def guarded_kernel(out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    if program * BLOCK >= n:
        return
    offsets = tl.minimum(program * BLOCK, n - BLOCK) + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 1.0 * offsets)


@case(races=False)
def early_return() -> None:
    guarded_kernel[(9,)](numbers(64), 64, BLOCK=16)


@case(races=True)
def last_block_pulled_back() -> None:
    guarded_kernel[(5,)](numbers(70), 70, BLOCK=16)


@triton.jit
def scatter_kernel(index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(index_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + place, 1.0 * offsets, mask=offsets < n)


@case(races=False, decided=False)
def scattered_to_a_permutation() -> None:
    scatter_kernel[(4,)](torch.randperm(60, generator=torch.Generator().manual_seed(0)), numbers(60), 60, BLOCK=16)


@case(races=True, decided=False)
def scattered_to_one_place() -> None:
    scatter_kernel[(4,)](torch.arange(60) % 20, numbers(60), 60, BLOCK=16)


@triton.jit
def halves_kernel(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    pair = tl.reshape(tl.arange(0, BLOCK), [BLOCK // 2, 2])
    tl.store(out_ptr + program * STEP + tl.trans(pair), tl.trans(tl.load(x_ptr + program * BLOCK + pair)))


@case(races=False)
def reshaped_and_transposed() -> None:
    halves_kernel[(4,)](numbers(64), numbers(64), STEP=16, BLOCK=16)


@case(races=True)
def reshaped_and_transposed_too_close() -> None:
    halves_kernel[(4,)](numbers(64), numbers(64), STEP=14, BLOCK=16)
