"""Integers where processors differ: shifted by as many bits as they have."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native.launches import on_both


@triton.jit
def shifted_by(x, by, left, right, B: tl.constexpr):
    """Elements of a block, or one number by each program."""
    i = tl.arange(0, B) if B else tl.program_id(0)
    tl.store(left + i, tl.load(x + i) << tl.load(by + i))
    tl.store(right + i, tl.load(x + i) >> tl.load(by + i))


@pytest.mark.parametrize("length", [0, 8])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_shifts_by_all_bits_and_more_leave_nothing_but_the_sign(dtype: torch.dtype, length: int) -> None:
    bits = torch.iinfo(dtype).bits
    by = torch.tensor([0, 1, bits - 1, bits, bits + 1, 127, 2, 3], dtype=dtype)
    x = torch.tensor([-3, 5, -1, -1, -1, -5, 7, -7], dtype=dtype)
    left, right = torch.zeros_like(x), torch.zeros_like(x)
    error, ran = on_both(lambda: shifted_by[(1 if length else 8,)](x, by, left, right, B=length), left, right)
    with lab.limits(engine="native"):
        shifted_by[(1 if length else 8,)](x, by, left, right, B=length)
    exact = [(int(a) << int(b), int(a) >> int(b)) for a, b in zip(x, by, strict=True)]
    wrapped = [(a + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for a, _ in exact]
    assert not error and ran.engine == "native"
    assert left.tolist() == wrapped and right.tolist() == [b for _, b in exact]
