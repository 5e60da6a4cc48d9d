"""The mask of an access, and whether the kernel's author wrote it."""

from __future__ import annotations

from triton_lab.ir.effects import by_descriptor, is_access, operands_of
from triton_lab.ir.plan import Op, Plan


def mask_operand(op: Op) -> int | None:
    """The value that masks the access. None if ``op`` has no mask, or is no access."""
    position = operands_of(op).mask if is_access(op) else None
    return None if position is None else op.operands[position]


def constant_masks(plan: Plan) -> set[tuple[int, int]]:
    """Accesses whose mask is a constant, as pairs of operation index and mask. The front end gives atomics
    such a mask.
    """
    found = set()
    for function in plan.functions.values():
        ops = list(function.walk())
        constant = {value for op in ops if op.name == "arith.constant" for value in op.results}
        constant |= {op.results[0] for op in ops if op.name == "tt.splat" and op.operands[0] in constant}
        found |= {(op.index, mask) for op in ops if (mask := mask_operand(op)) in constant and mask is not None}
    return found


def is_masked(op: Op, plan: Plan) -> bool:
    """Whether ``op`` has a mask that may turn lanes off."""
    mask = mask_operand(op)
    return mask is not None and (op.index, mask) not in constant_masks(plan)


def guard(op: Op, plan: Plan) -> str:
    """What should keep the lanes of ``op`` within its tensor: ``"mask"``, ``"descriptor"`` or ``""``."""
    if by_descriptor(op):
        return "descriptor"
    return "mask" if is_masked(op, plan) else ""
