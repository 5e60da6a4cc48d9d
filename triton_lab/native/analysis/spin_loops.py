"""Loops in which a program may wait for others, as far as can be told before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from triton_lab.ir import Op, Plan
from triton_lab.ir.effects import is_access, operands_of, waits
from triton_lab.ir.plan import Function
from triton_lab.ir.spin_wait import deciding, handed_on, varies


@dataclass(frozen=True, slots=True)
class Waiting:
    """A loop whose condition depends on memory, and on ``values`` that are made in it.

    ``shared``: on memory that the kernel writes, so that other programs may be waited for. ``polls``: some of that is
    read at one place in every round; who looks at another one each time looks for something, and need not wait.
    """

    values: frozenset[int]
    shared: bool
    polls: bool


def waiting(function: Function, conflicts: Callable[[Op], list[Op]]) -> Mapping[Op, Waiting]:
    """The loops of ``function`` in which a program may wait; ``conflicts`` are the writes that may change what an
    access reads. ``tt.atomic_poll`` is a loop that has no inside."""
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
