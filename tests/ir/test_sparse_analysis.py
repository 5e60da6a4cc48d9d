"""A small analysis of a kernel's values: whether they depend on the program's id."""

from __future__ import annotations

from collections.abc import Sequence

import triton
import triton.language as tl

from tests.ir.test_parse import plan_of
from triton_lab.ir import Op, effects
from triton_lab.ir.sparse_analysis import SparseAnalysis
from triton_lab.ir.value_flow import Value


class DependsOnProgram(SparseAnalysis[bool]):
    bottom = False

    def joined(self, one: bool, other: bool) -> bool:
        return one or other

    def transferred(self, function: str, op: Op, operands: Sequence[bool]) -> Sequence[bool]:
        return [op.name == "tt.get_program_id" or any(operands)] * len(op.results)


def test_it_settles_through_loops_branches_and_calls():
    @triton.jit(noinline=True)
    def same(value):
        return value + 1

    @triton.jit
    def kernel(x, n):
        here, there = 0, 0
        for _ in range(n):
            there = here
            here = tl.program_id(0)
        if n > 3:
            there = same(there)
        tl.store(x + there, 1)
        tl.store(x + n, 2)

    kernel.__globals__["same"] = same
    plan = plan_of(kernel, {"x": "*i32", "n": "i32"}, {})
    analysis = DependsOnProgram(plan)
    analysis.settle()
    stores = [op for op in plan.walk() if effects.writes(op)]
    assert [analysis.of(Value(plan.kernel.name, op.operands[0])) for op in stores] == [True, False]
