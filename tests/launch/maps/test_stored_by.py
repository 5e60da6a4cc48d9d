"""Which lane stored each element, against running the stores one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.maps.stored_by import stored_by


@triton.jit
def overlapping(x_ptr, n, turns, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    for turn in range(turns):
        offsets = (program * 3 + turn * 2) + tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets * 2, program * 100 + turn * 10 + tl.arange(0, BLOCK), mask=offsets < n)


def recorded() -> Any:
    x = torch.full((24,), -1)[::2]
    with lab.record() as launches:
        overlapping[(3,)](x, 11, 2, BLOCK=4)
    return launches[0]


def test_the_last_lane_by_iteration_and_then_program_is_told() -> None:
    launch = recorded()
    (store,) = launch.accesses
    found = stored_by(store, (12,), 3)
    last: dict[int, tuple[int, int, int]] = {}
    for turn in range(2):
        for program in range(3):
            for lane in range(4):
                element = program * 3 + turn * 2 + lane
                if element < 11:
                    last[element] = program, lane, turn
    told = np.stack([found.program, found.lane, found.iteration], axis=1).tolist()
    assert told == [list(last.get(element, (-1, -1, -1))) for element in range(12)]
    assert found.first.tolist() == [0, 3, 6]


def test_a_program_that_stores_nothing_has_no_first_element() -> None:
    x = torch.zeros(4, dtype=torch.int64)
    with lab.record() as launches:
        overlapping[(3,)](x, 2, 1, BLOCK=4)
    found = stored_by(launches[0].accesses[0], (4,), 3)
    assert found.first.tolist() == [0, -1, -1]
