"""Small kernels that tests of several targets launch; each takes another kind of argument."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=inside) * 2, mask=inside)


@triton.jit
def sum_pair(pair, y):
    tl.store(y, tl.load(pair[0]) + tl.load(pair[1]))


@triton.jit
def copy_block(source, target):
    target.store([0, 0], source.load([0, 0]))


@triton.jit
def load_through(table, y):
    tl.store(y, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))
