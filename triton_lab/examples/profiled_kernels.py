"""Kernels whose profiles the course shows: three as they should be, and three with one fault each and mended.

``PROFILED`` names them. On a GPU, ``tests/gpu/course_profiles.py`` records what Proton and Nsight Compute say of them;
``triton_lab.examples.profiles`` reads these recordings. Without a GPU, the small launches can be compiled and counted.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from triton_lab.examples.matmul import matmul_kernel


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def follow_kernel(next_ptr, out_ptr, steps, BLOCK: tl.constexpr):
    """From each number the next, so many times: each load waits for the load before it."""
    start = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = start
    for _ in range(steps):
        at = tl.load(next_ptr + at)
    tl.store(out_ptr + start, at)


@triton.jit
def softmax_of_a_block_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """A program has a row, in one block."""
    j = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + j
    x = tl.load(x_ptr + at, mask=j < columns, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, e / tl.sum(e, axis=0), mask=j < columns)


@triton.jit
def row_sums_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """A program has a row, and walks along it."""
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + tl.program_id(0) * columns + j, mask=j < columns, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def column_sums_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    """A program has a column, and walks down."""
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, rows, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i * columns + tl.program_id(0), mask=i < rows, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def parts_of_rows_kernel(x_ptr, out_ptr, columns, PART: tl.constexpr, BLOCK: tl.constexpr):
    """A program has a part of a row, and adds its sum to that of the row."""
    total = tl.zeros((BLOCK,), tl.float32)
    first = tl.program_id(1) * PART
    for start in range(first, tl.minimum(first + PART, columns), BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + tl.program_id(0) * columns + j, mask=j < columns, other=0.0)
    tl.atomic_add(out_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def tiles_of_columns_kernel(x_ptr, out_ptr, rows, columns, PART: tl.constexpr, TI: tl.constexpr, TJ: tl.constexpr):
    """A program has some columns and PART rows of them: neighbours lie side by side."""
    j = tl.program_id(0) * TJ + tl.arange(0, TJ)
    total = tl.zeros((TI, TJ), tl.float32)
    first = tl.program_id(1) * PART
    for start in range(first, tl.minimum(first + PART, rows), TI):
        i = start + tl.arange(0, TI)
        mask = (i < rows)[:, None] & (j < columns)[None, :]
        total += tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + j, tl.sum(total, axis=0), mask=j < columns)


Launcher = Callable[[], object]


@dataclass(frozen=True)
class Profiled:
    """One launch that is profiled. ``prepare(device, small)`` makes its tensors and returns a function that launches.

    ``bytes`` and ``flops`` are what it must move and compute at least, at its full size; float32, but for ``half``.
    """

    name: str
    prepare: Callable[[str, bool], Launcher]
    bytes: float
    flops: float = 0.0
    half: bool = False


_COPIED, _STARTS, _STEPS, _SIZE = 1 << 25, 1 << 14, 64, 4096
_ROWS, _COLUMNS = 1024, 32768
_LONG_ROWS, _LONG = 8, 1 << 22
_TALL, _ACROSS = 16384, 2048


def _copy(device: str, small: bool) -> Launcher:
    n = 4096 if small else _COPIED
    x = torch.rand(n, device=device)
    out = torch.empty_like(x)
    return lambda: copy_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


def _follow(device: str, small: bool) -> Launcher:
    """Jumps in 256 MiB, more than a cache holds."""
    n, starts, steps = (4096, 1024, 4) if small else (1 << 26, _STARTS, _STEPS)
    following = torch.randint(0, n, (n,), dtype=torch.int32, device=device)
    out = torch.empty(starts, dtype=torch.int32, device=device)
    return lambda: follow_kernel[(starts // 128,)](following, out, steps, BLOCK=128)


def _product(device: str, small: bool) -> Launcher:
    size = 1024 if small else _SIZE  # 1024: already limited by arithmetic
    a, b = (torch.randn(size, size, device=device).half() for _ in range(2))
    c = torch.empty_like(a)
    blocks = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 3}
    strides = (*a.stride(), *b.stride(), *c.stride())
    grid = (triton.cdiv(size, 128) ** 2,)
    return lambda: matmul_kernel[grid](a, b, c, size, size, size, *strides, **blocks)


def _softmax(warps: int) -> Callable[[str, bool], Launcher]:
    def prepare(device: str, small: bool) -> Launcher:
        rows, columns = (4 if small else _ROWS), _COLUMNS
        x = torch.randn(rows, columns, device=device)
        out = torch.empty_like(x)
        return lambda: softmax_of_a_block_kernel[(rows,)](x, out, columns, BLOCK=columns, num_warps=warps)

    return prepare


def _row_sums(part: int) -> Callable[[str, bool], Launcher]:
    """The sums of long rows: by a program for each row, or for each ``part`` elements of a row."""

    def prepare(device: str, small: bool) -> Launcher:
        rows, columns = (_LONG_ROWS, 4096) if small else (_LONG_ROWS, _LONG)
        x, out = torch.rand(rows, columns, device=device), torch.zeros(rows, device=device)
        if not part:
            return lambda: row_sums_kernel[(rows,)](x, out, columns, BLOCK=1024)
        grid = (rows, triton.cdiv(columns, part))
        return lambda: parts_of_rows_kernel[grid](x, out, columns, PART=part, BLOCK=1024)

    return prepare


def _column_sums(tile: int) -> Callable[[str, bool], Launcher]:
    """The sums of columns: by a program for each column, or for ``tile`` columns and 512 rows."""

    def prepare(device: str, small: bool) -> Launcher:
        rows, columns = (1024, 64) if small else (_TALL, _ACROSS)
        x, out = torch.rand(rows, columns, device=device), torch.zeros(columns, device=device)
        if not tile:
            return lambda: column_sums_kernel[(columns,)](x, out, rows, columns, BLOCK=256)
        grid = (triton.cdiv(columns, tile), triton.cdiv(rows, 512))
        return lambda: tiles_of_columns_kernel[grid](x, out, rows, columns, PART=512, TI=16, TJ=tile)

    return prepare


PROFILED = {
    one.name: one
    for one in (
        Profiled("copy", _copy, 8.0 * _COPIED),
        Profiled("follow", _follow, 4.0 * _STARTS * (_STEPS + 1)),
        Profiled("product", _product, 6.0 * _SIZE**2, 2.0 * _SIZE**3, half=True),
        Profiled("softmax_4_warps", _softmax(4), 8.0 * _ROWS * _COLUMNS),
        Profiled("softmax_16_warps", _softmax(16), 8.0 * _ROWS * _COLUMNS),
        Profiled("row_sums", _row_sums(0), 4.0 * _LONG_ROWS * (_LONG + 1), 1.0 * _LONG_ROWS * _LONG),
        Profiled("parts_of_rows", _row_sums(1 << 15), 4.0 * _LONG_ROWS * (_LONG + 1), 1.0 * _LONG_ROWS * _LONG),
        Profiled("column_sums", _column_sums(0), 4.0 * _ACROSS * (_TALL + 1), 1.0 * _TALL * _ACROSS),
        Profiled("tiles_of_columns", _column_sums(64), 4.0 * _ACROSS * (_TALL + 1), 1.0 * _TALL * _ACROSS),
    )
}
"""By name, in the order in which the course comes to them."""
