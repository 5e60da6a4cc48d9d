"""Functions of elements: the regions of reductions, scans and maps, in which lanes take the place of programs."""

from __future__ import annotations

from triton_lab.ir import Plan
from triton_lab.ir.value_flow import ELEMENT_FUNCTIONS


def inside_of_others(plan: Plan) -> set[int]:
    """The indices of the operations inside functions of elements."""
    return {inner.index for op in plan.walk() if op.name in ELEMENT_FUNCTIONS for inner in list(op.walk())[1:]}
