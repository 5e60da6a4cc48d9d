"""Bounds of integers hold in every example: whatever a value turns out to be lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.examples import Example, all_examples
from triton_lab.interpreter import runtime_values
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.int32_overflow import suspects
from triton_lab.launch.checks.analysis.integer_bounds import IntegerBounds
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay


class Bounded(Watcher):
    """Holds every integer that is computed to its bounds."""

    def __init__(self, launch: Launch) -> None:
        self.reach = IntegerBounds(launch, Flow.of(launch.executable.plan))
        self.seen = 0

    def after(self, frame: Frame, op: Op, operands: Sequence[Any], result: Any) -> None:
        results = result if isinstance(result, tuple) else (result,)
        for number, value in zip(op.results, results, strict=False):
            type = frame.type(number)
            if not type.is_integer or type.bits == 1:
                continue
            array = runtime_values.elements(value, type)
            if array.size:
                least, most = self.reach.bounds(Value(frame.routine.function.name, number))
                assert least <= int(np.min(array)) and int(np.max(array)) <= most, (op.name, op.location)
                self.seen += 1


def hold(launch: Launch) -> int:
    watcher = Bounded(launch)
    replay(launch, observer=watcher)
    return watcher.seen


@pytest.mark.parametrize("example", all_examples(), ids=lambda each: each.name)
def test_bounds_hold_in_every_example(example: Example) -> None:
    with triton_lab.record() as launches:
        example.check()
    assert sum(hold(launch) for launch in launches)


@triton.jit
def arithmetic_kernel(x_ptr, out_ptr, a, b, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane)
    y = tl.program_id(0) * a - lane
    for k in range(b, 40, 7):
        y = tl.maximum(y // 3, k) + (x % 5) * tl.minimum(a, k)
        x = (x << 2) + (y & 15) - (x >> 1)
    tl.store(out_ptr + lane, tl.where(y > 3, x * y, y % b))


@pytest.mark.parametrize(("a", "b"), [(1, 3), (-7, 5), (2_000_000, 16), (2**31 - 1, 2)])
def test_bounds_hold_for_all_kinds_of_arithmetic(a: int, b: int) -> None:
    x = torch.randint(-(2**31), 2**31, (64,), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    with triton_lab.record() as launches:
        arithmetic_kernel[(9,)](x, torch.zeros(64, dtype=torch.int32), a, b, BLOCK=64)
    assert hold(launches[0]) > 50


@triton.jit
def offset_kernel(x_ptr, out_ptr, start, far, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    offset = tl.program_id(0) * far + start + lane
    tl.store(out_ptr + lane, tl.load(x_ptr + offset, mask=lane < 0, other=0.0))


@pytest.mark.parametrize(
    ("start", "far", "wraps"),
    [
        (0, 32, set()),
        (2**31 - 8, 0, set()),  # the last lane is 2^31 - 1
        (2**31 - 7, 0, {"arith.addi"}),
        (-(2**31), 0, set()),
        (-(2**31) + 8, -4, set()),
        (-(2**31) + 7, -4, {"arith.addi"}),
        (0, 2**30 - 4, set()),
        (0, 2**30, {"arith.muli"}),
    ],
)
def test_only_what_may_leave_its_type_is_watched(start: int, far: int, wraps: set[str]) -> None:
    with triton_lab.record() as launches:
        offset_kernel[(3,)](torch.zeros(8), torch.zeros(8), start, far, BLOCK=8)
    launch = launches[0]
    found = suspects(Evidence(launch, launch.tape))
    ops = {op.index: op.name for op in launch.executable.plan.walk()}
    assert {ops[index] for index in found} >= wraps
    assert bool(found) == bool(wraps)
