"""A launch that is replayed on several threads leaves in memory what it leaves one program after the other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.replay import parallel_replay
from triton_lab.launch.replay.parallel_replay import memory_after
from triton_lab.launch.replay.replay_run import replay

PROGRAMS, BLOCK = 40, 8


@triton.jit
def spaced(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    start = tl.program_id(0) * stride
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + lanes)
    tl.store(out_ptr + start + lanes, x * 2)


@triton.jit
def scattered(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    tl.store(out_ptr + (lanes * 7) % 320, x)


@pytest.mark.parametrize(
    ("kernel", "stride", "runs"),
    [(spaced, BLOCK, 12), (spaced, BLOCK - 1, 13), (spaced, 0, 13), (scattered, 0, 13)],
    ids=["apart", "overlapping", "at one place", "not affine"],
)
def test_memory_is_that_of_one_program_after_the_other(monkeypatch, kernel, stride, runs) -> None:
    x, out = torch.randn(PROGRAMS * BLOCK), torch.zeros(PROGRAMS * BLOCK)
    with lab.record() as launches:
        kernel[(PROGRAMS,)](x, out, stride, BLOCK)
    count = []
    monkeypatch.setattr(parallel_replay, "_LONG", -1.0)
    monkeypatch.setattr(parallel_replay, "processors", lambda: 4)
    monkeypatch.setattr(parallel_replay, "replay", lambda *given, **named: count.append(1) or replay(*given, **named))
    memory, expected = memory_after(launches[0]), replay(launches[0])
    assert len(count) == runs
    for one, other in zip(memory.regions, expected.regions, strict=True):
        assert np.array_equal(one.data, other.data)
