"""Masks that are written twice are the same, and an `and` narrows one."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.ir import dataflow, effects
from triton_lab.ir.value_numbering import implies, same


@triton.jit
def masks_kernel(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane, mask=lane < n)
    tl.store(out_ptr + lane, x, mask=lane < n)
    tl.store(out_ptr + lane, x, mask=lane < m)
    tl.store(out_ptr + lane, x, mask=(lane > 2) & (lane < n))
    tl.store(out_ptr + lane, x, mask=(lane > 2) | (lane < n))
    tl.store(out_ptr + lane, x, mask=lane < tl.load(x_ptr).to(tl.int32))
    tl.store(out_ptr + lane, x, mask=lane < tl.load(x_ptr).to(tl.int32))


def test_what_is_computed_alike_is_the_same_but_for_what_memory_says() -> None:
    with triton_lab.record() as launches:
        masks_kernel[(1,)](torch.ones(32), torch.zeros(32), 20, 20, BLOCK=32)
    plan = launches[0].executable.plan
    flow = dataflow.Flow.of(plan)
    masks = [
        dataflow.Value(plan.kernel.name, op.operands[position])
        for op in plan.walk()
        if effects.is_access(op) and (position := effects.operands_of(op).mask) is not None
    ]
    load, again, other, narrowed, widened, by_memory, by_memory_again = masks
    assert load != again
    assert same(flow, load, again) and implies(flow, again, load)
    assert not same(flow, load, other) and not implies(flow, other, load)
    assert implies(flow, narrowed, load) and not implies(flow, load, narrowed)
    assert not implies(flow, widened, load)
    assert not same(flow, by_memory, by_memory_again)
