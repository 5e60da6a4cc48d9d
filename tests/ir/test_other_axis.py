"""Operations turned to the other axis: the plan runs, and rounding is bounded, as if it had been written so."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from tests.launch.comparison.kernels import recorded
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir.other_axis import along_other_axis
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.replay.replay_run import replay


@triton.jit
def shares(x_ptr, out_ptr, AXIS: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    x = tl.exp(x - tl.expand_dims(tl.max(x, AXIS), AXIS))
    tl.store(out_ptr + at, x / (tl.expand_dims(tl.sum(x, AXIS), AXIS) + 1e-6))


def test_a_softmax_along_the_other_axis_runs_and_rounds_as_one_written_so() -> None:
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((16, 16), np.float32))
    columns = recorded(lambda: shares[(1,)](x, torch.zeros(16, 16), AXIS=0, N=16))
    rows = recorded(lambda: shares[(1,)](x, torch.zeros(16, 16), AXIS=1, N=16))
    plan = columns.executable.plan
    ops = {op.index for op in plan.walk() if op.name == "tt.reduce"}
    reduced = {number for op in plan.walk() if op.index in ops for number in op.results}
    ops |= {op.index for op in plan.walk() if op.name == "tt.expand_dims" and op.operands[0] in reduced}
    assert len(ops) == 4
    turned = Executable.of(along_other_axis(plan, ops))
    assert along_other_axis(turned.plan, ops).kernel.types == plan.kernel.types
    made = read(replay(columns, executable=turned), columns.argument("out_ptr"))
    assert np.array_equal(made, read(replay(rows), rows.argument("out_ptr")))
    found, right = bounds(columns, False, turned)["out_ptr"], bounds(rows, False)["out_ptr"]
    assert np.array_equal(found.below, right.below) and np.array_equal(found.above, right.above)
    assert np.array_equal(np.broadcast_to(found.kind, (16, 16)), np.broadcast_to(right.kind, (16, 16)))
