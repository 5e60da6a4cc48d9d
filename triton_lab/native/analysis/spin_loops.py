"""Loops in which a program may wait for others, as far as the plan shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from triton_lab.ir import Op, Plan
from triton_lab.ir.effects import is_access, operands_of, waits
from triton_lab.ir.plan import Function
from triton_lab.ir.spin_wait import deciding, handed_on, varies


@dataclass(frozen=True, slots=True)
class Waiting:
    """A loop whose condition depends on memory, and on ``values`` that it computes.

    ``shared``: the kernel writes that memory, so the loop may wait for other programs. ``polls``: some of it is read at
    the same address in every round. A loop that reads another address each time searches, and need not wait.
    """

    values: frozenset[int]
    shared: bool
    polls: bool


def waiting(function: Function, conflicts: Callable[[Op], list[Op]]) -> Mapping[Op, Waiting]:
    """The loops of ``function`` in which a program may wait.

    ``conflicts`` gives the writes that may change what an access reads. ``tt.atomic_poll`` counts as a loop without a
    body.
    """
    candidates = [op for op in function.walk() if op.name == "scf.while" or waits(op)]
    if not candidates:
        return {}
    handed = handed_on(Plan({function.name: function}))
    found: dict[Op, Waiting] = {}
    for op in candidates:
        if waits(op):
            found[op] = Waiting(frozenset(), shared=True, polls=True)
            continue
        behind = deciding(function, op, handed)
        shared = [read for read in behind.ops if is_access(read) and conflicts(read)]
        polls = any(not varies(function, op, handed, _where(read)) for read in shared)
        if behind.ops:
            found[op] = Waiting(behind.values, bool(shared), polls)
    return found


def _where(read: Op) -> list[int]:
    at = operands_of(read)
    return [read.operands[k] for k in (at.address, *at.coordinates)]
