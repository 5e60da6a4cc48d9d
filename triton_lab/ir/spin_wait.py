"""Loops whose condition depends on memory: programs may wait for one another there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from triton_lab.ir import effects
from triton_lab.ir.plan import Function, Op, Plan
from triton_lab.ir.value_flow import Value, decisive, edges, endings

# For each value, the values of its function that it may be.
Handed = Mapping[Value, set[int]]


@dataclass(frozen=True, slots=True)
class Deciding:
    """What decides whether a loop goes round again.

    ``values`` are those that the loop computes. ``ops`` read memory, or call a function that may.
    """

    values: frozenset[int]
    ops: tuple[Op, ...]


def waiting_loops(plan: Plan) -> frozenset[int]:
    """The indices of loops whose condition depends on a value that the loop reads from memory, and of polls."""
    handed = handed_on(plan)
    return frozenset(
        op.index
        for function in plan.functions.values()
        for op in function.walk()
        if effects.waits(op) or (op.name == "scf.while" and deciding(function, op, handed).ops)
    )


def handed_on(plan: Plan) -> Handed:
    """For each value of ``plan``, the values of its function that it may be, unchanged."""
    handed: dict[Value, set[int]] = {}
    for source, target in edges(plan):
        if source.function == target.function:
            handed.setdefault(target, set()).add(source.number)
    return handed


def deciding(function: Function, loop: Op, handed: Handed) -> Deciding:
    """The values and operations that decide whether ``loop``, a ``while``, goes round again."""
    return behind(function, loop, handed, (number for end in endings(loop.regions[0]) for number in decisive(end)))


def varies(function: Function, loop: Op, handed: Handed, values: Iterable[int]) -> bool:
    """Whether some of ``values`` may change from one round of ``loop`` to the next."""
    found = behind(function, loop, handed, values)
    return bool(found.ops) or bool(found.values & _arguments(loop))


def _arguments(loop: Op) -> set[int]:
    return {
        number for op in loop.walk() for region in op.regions for block in region.blocks for number in block.arguments
    }


def behind(function: Function, loop: Op, handed: Handed, start: Iterable[int]) -> Deciding:
    """The values and operations in ``loop`` that ``start`` are computed from."""
    makers = {result: op for op in loop.walk() for result in op.results if op is not loop}
    arguments = _arguments(loop)
    seen: set[int] = set()
    ops: dict[Op, None] = {}
    todo = list(start)
    while todo:
        value = todo.pop()
        if value in seen or not (value in makers or value in arguments):
            continue  # seen already, or from outside the loop
        seen.add(value)
        todo.extend(handed.get(Value(function.name, value), ()))
        for op in makers[value].walk() if value in makers else ():
            if op.name == "tt.call" or effects.brings_in(op) or effects.waits(op):
                ops[op] = None
            todo.extend(op.operands)
    return Deciding(frozenset(seen), tuple(ops))
