"""Edits of a plan: the edited kernel computes what the edit says, and the plan it came from is as it was."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.launch.comparison.kernels import recorded
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import Op
from triton_lab.ir.plan_edits import (
    Edit,
    edited,
    exchanged,
    followed_by,
    renamed,
    with_attributes,
    with_computed,
    with_constant,
    with_operand,
)
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay

N = 16


@triton.jit
def loop_of_differences(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + k), tl.load(y_ptr + k)
    for _ in range(3):
        x = x - y
    tl.store(out_ptr + k, x, mask=k < 10)


X, Y = np.arange(N, dtype=np.float32), np.arange(N, dtype=np.float32) * 0.5 + 1


def launched() -> Launch:
    x, y = torch.from_numpy(X.copy()), torch.from_numpy(Y.copy())
    return recorded(lambda: loop_of_differences[(1,)](x, y, torch.zeros(N), BLOCK=N))


def only(launch: Launch, name: str) -> Op:
    (op,) = [op for op in launch.executable.plan.walk() if op.name == name]
    return op


def result(launch: Launch, *edits: tuple[int, Edit]) -> np.ndarray:
    plan = edited(launch.executable.plan, edits)
    indices = [op.index for op in plan.walk()]
    assert len(indices) == len(set(indices))
    return read(replay(launch, executable=Executable.of(plan)), launch.argument("out_ptr"))


def stepped(step) -> np.ndarray:
    value = X
    for _ in range(3):
        value = step(value)
    return np.where(np.arange(N) < 10, value, np.float32(0)).astype(np.float32)


@pytest.mark.parametrize(
    ("edit", "step"),
    [
        (renamed("arith.addf"), lambda v: v + Y),
        (exchanged(0, 1), lambda v: Y - v),
        (with_constant(1, 0.25), lambda v: v - np.float32(0.25)),
        (with_computed(1, "arith.negf"), lambda v: v + Y),
        (with_computed(0, "arith.mulf", other=2.0), lambda v: v * 2 - Y),
        (followed_by("math.absf"), lambda v: np.abs(v - Y)),
        (followed_by("arith.addf", other=1.0), lambda v: (v - Y) + 1),
    ],
)
def test_an_operation_in_a_loop_is_edited_in_each_iteration(edit: Edit, step) -> None:
    launch = launched()
    before = result(launch)
    np.testing.assert_array_equal(result(launch, (only(launch, "arith.subf").index, edit)), stepped(step))
    np.testing.assert_array_equal(result(launch), before)
    np.testing.assert_array_equal(before, stepped(lambda v: v - Y))


def test_edits_of_several_operations_and_of_one_are_done_together() -> None:
    launch = launched()
    minus, below = only(launch, "arith.subf").index, only(launch, "arith.cmpi").index
    found = result(
        launch, (minus, renamed("arith.mulf")), (below, with_attributes(predicate=5)),
        (minus, with_constant(1, 3.0)),
    )  # fmt: skip
    np.testing.assert_array_equal(found, np.where(np.arange(N) >= 10, X * 27, 0))


def test_an_operand_may_be_another_value_that_is_visible() -> None:
    launch = launched()
    minus = only(launch, "arith.subf")
    found = result(launch, (minus.index, with_operand(0, minus.operands[1])))
    np.testing.assert_array_equal(found, np.zeros(N))
