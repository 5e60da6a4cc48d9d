"""The memory that may end a wait: a waiting loop's condition depends on it.

A program may write while it waits, for example to count its rounds. If nothing that decides a waiting loop can depend
on that memory, writing to it ends no wait, however often it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from triton_lab.ir import effects
from triton_lab.ir.plan import Function, Op, Plan
from triton_lab.ir.spin_wait import behind, handed_on
from triton_lab.ir.value_flow import decisive

Memory = TypeVar("Memory")


@dataclass(frozen=True, slots=True)
class Awaited(Generic[Memory]):
    """What may end a wait.

    ``memory``: where a change may end one. ``carried``: for each loop, by its index, the positions of the loop-carried
    values whose change may end one.
    """

    memory: frozenset[Memory]
    carried: Mapping[int, tuple[int, ...]]


def awaited(
    plan: Plan, loops: Collection[int], reach: Callable[[int], frozenset[Memory] | None]
) -> Awaited[Memory] | None:
    """What may end a wait in ``loops`` (see `waiting_loops`). None if that may be anything.

    ``reach`` gives the memory that an access may touch, by the access's index; None means anything.

    In a round of such a loop, these are computed only from the memory and values found here: control, addresses, masks,
    assertions, and what is written to the memory found here. So if these do not change in one round, the next round
    does the same: it goes round again and writes the same there; elsewhere it may write anything.
    """
    handed = handed_on(plan)
    ends: set[Memory] = set()
    whiles: list[tuple[Function, Op]] = []
    for function in plan.functions.values():
        for op in function.walk():
            if effects.waits(op):
                touched = reach(op.index)
                if touched is None:
                    return None
                ends |= touched
            elif op.index in loops:
                whiles.append((function, op))
    while True:
        size, carried = len(ends), {}
        for function, loop in whiles:
            if any(op.name == "tt.call" for op in loop.walk()):
                return None
            found = behind(function, loop, handed, _deciding(loop, ends, reach))
            for op in found.ops:
                touched = reach(op.index)
                if touched is None:
                    return None
                ends |= touched
            arguments = loop.regions[0].blocks[0].arguments
            carried[loop.index] = tuple(k for k, value in enumerate(arguments) if value in found.values)
        if len(ends) == size:
            return Awaited(frozenset(ends), carried)


def _deciding(loop: Op, ends: set[Memory], reach: Callable[[int], frozenset[Memory] | None]) -> Iterator[int]:
    """The values that decide what a round of ``loop`` does. Values written where no change ends a wait do not count."""
    for op in loop.walk():
        yield from op.operands if op.name == "tt.assert" else decisive(op)
        if effects.is_access(op):
            touched, value = reach(op.index), effects.operands_of(op).value
            elsewhere = touched is not None and touched.isdisjoint(ends)
            yield from (number for k, number in enumerate(op.operands) if k != value or not elsewhere)
