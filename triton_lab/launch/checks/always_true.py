"""Masks that never turned a lane off."""

from __future__ import annotations

import math
from collections.abc import Iterator

from triton_lab.interpreter.box import Box
from triton_lab.ir import Op, Plan
from triton_lab.launch.access import Event
from triton_lab.launch.checks.evidence import Evidence
from triton_lab.launch.checks.words import finding
from triton_lab.launch.finding import Finding

_MEND = "Keep it if other sizes need it; if none does, the access is cheaper without."


def check(evidence: Evidence) -> Iterator[Finding]:
    """One for each access with such a mask."""
    if not evidence.complete:
        return
    launch = evidence.launch
    constants = _constants(launch.executable.plan)
    for index, events in sorted(evidence.tape.events.items()):
        op = evidence.ops[index]
        mask = mask_operand(op)
        if mask is None or (index, mask) in constants or not events:
            continue
        if all(_is_full(event) for event in events):
            argument = evidence.owner(op)
            yield finding(
                launch,
                "always-true-mask",
                "the mask was true in every lane of every program that came here",
                _MEND,
                op=op,
                argument=argument,
                count=sum(len(event.programs) * math.prod(event.shape) for event in events),
            )


def mask_operand(op: Op) -> int | None:
    """The value that is the access's mask; None if it has none of its own."""
    if op.name == "tt.load":
        sizes = op.attributes.get("operandSegmentSizes", (1, len(op.operands) > 1, 0))
        return op.operands[1] if sizes[1] else None
    if op.name == "tt.atomic_load":
        return op.operands[1] if len(op.operands) > 1 else None
    if op.name in ("tt.store", "tt.atomic_rmw", "tt.atomic_store"):
        return op.operands[2] if len(op.operands) > 2 else None
    return None


def _is_full(event: Event) -> bool:
    mask = event.mask
    if mask is None:
        return True
    return mask.is_full() if isinstance(mask, Box) else bool(mask.all())


def _constants(plan: Plan) -> set[tuple[int, int]]:
    """Accesses, by index, with masks that are constants: the front end gives atomics such a mask."""
    found = set()
    for function in plan.functions.values():
        ops = list(function.walk())
        constant = {value for op in ops if op.name == "arith.constant" for value in op.results}
        constant |= {op.results[0] for op in ops if op.name == "tt.splat" and op.operands[0] in constant}
        found |= {(op.index, mask) for op in ops if (mask := mask_operand(op)) in constant and mask is not None}
    return found
