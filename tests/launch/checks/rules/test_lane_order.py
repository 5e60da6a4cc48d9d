"""Threads that meet in memory are found however that memory is cut, numbered or sorted."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.checks.race import thread_conflicts

LANES = 32


@triton.jit
def reaching_kernel(x_ptr, out_ptr, few_ptr, SCATTERED: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    """Accesses that begin and end at other places; the last reads what its neighbour stored."""
    lane = tl.arange(0, BLOCK)
    place = tl.load(few_ptr + lane) if SCATTERED else lane
    tl.store(x_ptr + place + 8, 1.0, mask=lane < 4)
    tl.debug_barrier()
    tl.store(x_ptr + place * WIDE, 2.0)
    shifted = tl.load(few_ptr + lane + 1, mask=lane + 1 < BLOCK) if SCATTERED else lane + 1
    tl.store(out_ptr + lane, tl.load(x_ptr + shifted * WIDE, mask=lane + 1 < BLOCK))


WAYS = {
    "as it is": {},
    "cell by cell": {"_CELLS": 1},
    "in windows of seven": {"_CELLS": 7},
    "sorted": {"_FEW": 0},
    "numbered": {"_SPARSE": -(1 << 20)},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("wide", [1, 3])
def test_each_lane_that_meets_another_is_found(
    way: str, scattered: bool, wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in WAYS[way].items():
        monkeypatch.setattr(thread_conflicts, name, value)
    few = torch.arange(LANES, dtype=torch.int32)
    with lab.record() as launches:
        reaching_kernel[(1,)](
            torch.zeros(3 * LANES), torch.zeros(LANES), few, SCATTERED=scattered, WIDE=wide, BLOCK=LANES
        )
    found: Any = [one for one in launches[0].findings if one.kind == "lane-order"]
    (only,) = found
    assert only.argument == "x_ptr" and only.count == LANES - 1
    assert sorted(only.elements.tolist()) == [wide * k for k in range(1, LANES)]
    assert sorted(only.lanes.tolist()) == list(range(LANES - 1))
    assert "x_ptr[" in only.message and "has stored to" in only.message
