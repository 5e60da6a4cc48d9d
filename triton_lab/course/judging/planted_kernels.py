"""Right and wrong kernels of one function each: a learner's test must tell them apart.

A wrong kernel has one mistake, which many inputs do not show. ``NORMS`` take a matrix and return each row divided by
the root of the mean of its squares. ``ADDS`` take values, an index for each of them and a size, and return the sums of
the values by index.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

EPSILON = 1e-6


@triton.jit
def _norm_kernel(x_ptr, out_ptr, rows, columns, s0, s1, HOW: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, j = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    there = (row < rows)[:, None] & ((j >= 0) if HOW == "every lane" else (j < columns))[None, :]
    if HOW == "contiguous":
        at = row[:, None] * columns + j[None, :]
    elif HOW == "square":
        at = row[:, None] * rows + j[None, :]
    else:
        at = row[:, None] * s0 + j[None, :] * s1
    there = there & (at < rows * columns) if HOW == "every lane" or HOW == "square" else there
    x = tl.load(x_ptr + at, mask=there, other=1.0 if HOW == "other" else 0.0)
    wide = x if HOW == "half" else x.to(tl.float32)
    if HOW == "first row":
        squares = tl.sum(tl.where(row[:, None] == tl.program_id(0) * ROWS, wide * wide, 0.0))
    elif HOW == "absolute":
        squares = tl.sum(tl.abs(wide), axis=1)[:, None]
    else:
        squares = tl.sum(wide * wide, axis=1)[:, None]
    mean = squares / (BLOCK if HOW == "block" else columns - 1 if HOW == "one less" else columns)
    found = wide / tl.sqrt(mean.to(tl.float32) + (0.0 if HOW == "no epsilon" else 1e-6))
    found = tl.abs(found) if HOW == "sign" else found
    found = found.to(tl.bfloat16).to(tl.float32) if HOW == "narrow" else found
    there = (row < rows)[:, None] & (j < columns)[None, :]
    tl.store(out_ptr + row[:, None] * columns + j[None, :], found, mask=there)


def _norm(how: str, rows: int = 4, block: int = 0) -> Callable[[torch.Tensor], torch.Tensor]:
    """A launcher; ``rows`` are those of a program, and ``block`` the columns of its block, by default all."""

    def norm(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(x.shape, dtype=x.dtype)
        wide = block or triton.next_power_of_2(max(1, x.shape[1]))
        programs = len(x) // rows if how == "rounded down" else triton.cdiv(len(x), rows)
        if programs and x.shape[1]:
            _norm_kernel[(programs,)](x, out, *x.shape, *x.stride(), HOW=how, ROWS=rows, BLOCK=wide)
        return out

    return norm


@triton.jit
def _add_kernel(values_ptr, index_ptr, out_ptr, n, size, HOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(values_ptr + i, mask=mask, other=0.0)
    at = tl.load(index_ptr + i, mask=mask, other=0)
    if HOW == "below last":
        mask = mask & (at < size - 1)
    elif HOW == "not zero":
        mask = mask & (at > 0)
    elif HOW == "positive":
        mask = mask & (value > 0)
    elif HOW == "next":
        at = (at + 1) % size
    elif HOW == "backwards":
        at = size - 1 - at
    if HOW == "store":
        tl.store(out_ptr + at, value, mask=mask)
    elif HOW == "largest":
        tl.atomic_max(out_ptr + at, value, mask=mask)
    elif HOW == "counts":
        tl.atomic_add(out_ptr + at, tl.where(mask, 1.0, 0.0), mask=mask)
    elif HOW == "whole":
        tl.atomic_add(out_ptr + at, value.to(tl.int32).to(tl.float32), mask=mask)
    else:
        tl.atomic_add(out_ptr + at, value, mask=mask)


def _add(how: str, block: int = 64) -> Callable[..., torch.Tensor]:
    def add(values: torch.Tensor, index: torch.Tensor, size: int) -> torch.Tensor:
        out = torch.ones(size) if how == "ones" else torch.zeros(size)
        n = len(values)
        programs = 1 if how == "one block" else n // block if how == "rounded down" else triton.cdiv(n, block)
        if programs and n:
            _add_kernel[(programs,)](values, index, out, n, size, HOW=how, BLOCK=block)
        return out

    return add


NORMS = {
    "right": _norm("right"),
    "right by rows": _norm("right", rows=1),
    "right, wide": _norm("right", rows=2, block=1024),
    "block": _norm("block"),
    "every lane": _norm("every lane"),
    "other": _norm("other"),
    "fixed": _norm("fixed", block=64),
    "rounded down": _norm("rounded down"),
    "first row": _norm("first row"),
    "contiguous": _norm("contiguous"),
    "square": _norm("square"),
    "half": _norm("half"),
    "sign": _norm("sign"),
    "absolute": _norm("absolute"),
    "no epsilon": _norm("no epsilon"),
    "one less": _norm("one less"),
    "narrow": _norm("narrow"),
}
ADDS = {
    "right": _add("right"),
    "right, small": _add("right", block=16),
    **{
        how: _add(how)
        for how in (
            "store",
            "largest",
            "counts",
            "whole",
            "below last",
            "not zero",
            "positive",
            "ones",
            "one block",
            "rounded down",
            "next",
            "backwards",
        )
    },
}
