"""Bounds of integers hold in every example: whatever a value turns out to be lies between them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab
from triton_lab.examples import Example, all_examples
from triton_lab.interpreter import runtime_values
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.checks.analysis import integer_bounds
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.integer_bounds import IntegerBounds
from triton_lab.launch.checks.rules.int32_overflow import suspects
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


bounds = st.tuples(st.integers(-20, 20), st.integers(-20, 70)).map(lambda pair: (min(pair), max(pair)))
EXACTLY = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.shli": operator.lshift,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.divsi": lambda x, y: int(x / y),
    "arith.divui": operator.floordiv,
    "arith.remsi": lambda x, y: int(math.fmod(x, y)),
    "arith.remui": lambda x, y: (x % (1 << 32)) % y,
    "arith.andi": operator.and_,
    "arith.shrui": operator.rshift,
}


# Where nothing is said, and where no more than this: of single bits and remainders not every number is tried.
SILENT = {
    "arith.shli": lambda one, by: by[0] < 0 or by[1] >= 64,
    "arith.divsi": lambda one, by: by[0] <= 0,
    "arith.divui": lambda one, by: one[0] < 0 or by[0] <= 0,
    "arith.remsi": lambda one, by: by[0] <= 0,
    "arith.remui": lambda one, by: by[0] <= 0,
    "arith.andi": lambda one, other: one[0] < 0 and other[0] < 0,
    "arith.shrui": lambda one, by: one[0] < 0 or by[0] < 0,
}
WIDEST = {
    "arith.remsi": lambda one, by: (0 if one[0] >= 0 else 1 - by[1], by[1] - 1),
    "arith.remui": lambda one, by: (0, by[1] - 1),
    "arith.andi": lambda one, other: (0, min(high for low, high in (one, other) if low >= 0)),
    "arith.shrui": lambda one, by: (0, one[1]),
}


@pytest.mark.parametrize("name", EXACTLY)
@given(one=bounds, other=bounds)
@settings(deadline=None, max_examples=60)
def test_bounds_of_arithmetic_hold_for_all_numbers_within_those_of_the_operands(name, one, other) -> None:
    found = integer_bounds._arithmetic(name, [one, other])
    assert (found is None) == SILENT.get(name, lambda one, by: False)(one, other)
    if found is None:
        return
    results = [EXACTLY[name](x, y) for x in range(one[0], one[1] + 1) for y in range(other[0], other[1] + 1)]
    assert found[0] <= min(results) and max(results) <= found[1]
    if name not in WIDEST:
        assert found == (min(results), max(results))
    elif "rem" in name and one[0] >= 0:
        assert found == (0, min(one[1], other[1] - 1))
    else:
        assert found == WIDEST[name](one, other)


@pytest.mark.parametrize(("least", "most"), [(0, 63), (0, 64), (-1, 3), (1, 2)])
def test_shifts_by_what_64_bits_have_not_are_not_followed(least: int, most: int) -> None:
    found = integer_bounds._arithmetic("arith.shli", [(-3, 5), (least, most)])
    assert found == (None if least < 0 or most > 63 else (-3 << most, 5 << most))


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
