"""Kernels on which the engines once differed, as `python -m tests.native.fuzz` left them."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.native.launches import on_both


@triton.jit
def last_of_a_loop(x, out, turns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i
    if tl.program_id(0) > 0:
        for j in range(0, turns):
            at = tl.load(x + j + i)
    tl.store(out + 12, 1)
    tl.store(out + tl.program_id(0) * BLOCK + i, tl.load(x + at))


def test_what_a_loop_leaves_behind_and_no_round_reads_may_be_an_address() -> None:
    x, out = torch.arange(20, dtype=torch.int32).flip(0).contiguous(), torch.zeros(13, dtype=torch.int32)
    error, ran = on_both(lambda: last_of_a_loop[(3,)](x, out, 5, BLOCK=4), out)
    assert not error and ran.engine == "native"
