"""Kernels that tests send away, beside those of `tests.kernels`."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def copy_turned(x, y, sx, sy, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + rows * sy + columns, tl.load(x + rows * sx + columns) + 1)


@triton.jit
def strays(x, n):
    offsets = tl.arange(0, 128)
    tl.store(x + offsets, 7.0)
    tl.store(x + n + offsets, 8.0)


@triton.jit
def says(x):
    tl.device_print("x", tl.load(x + tl.program_id(0)))


@triton.jit
def counts(x, n):
    for i in range(n):
        tl.store(x, tl.load(x) + i)


@triton.jit
def takes_memory(x, N: tl.constexpr):
    wide = tl.arange(0, N)[:, None] * tl.arange(0, N)[None, :] + tl.load(x).to(tl.int32)
    # All are held at once: what a process has left over is more than one of them.
    one, two, three, four = wide * wide, wide * 3 + 1, wide ^ 5, wide & 77
    five, six, seven, eight = one + two, two * three, three - four, four * one
    total = one + two * three + four * five + six * seven + eight * wide
    tl.store(x, tl.sum(total).to(tl.float32))


@triton.jit
def crashes(x):
    tl.store(x, 1.0)


@triton.jit
def goes_astray(x):
    tl.store(x, 1.0)


@triton.jit
def takes_much(x):
    tl.store(x, 1.0)


@triton.jit
def tallies(x, total, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total + offsets % 3, tl.load(x + offsets))
