"""What may end a wait: the memory that decides, in some round of a loop, whether a program goes on waiting.

While a program waits it may write: how often it has looked, say. Where nothing that decides in a loop in which somebody
waits can depend on what is written so, that ends no wait, however often it changes.
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
    """``memory``: where a change may end a wait. ``carried``: of what each loop hands on from round to round, by its
    index, the positions of what may."""

    memory: frozenset[Memory]
    carried: Mapping[int, tuple[int, ...]]


def awaited(
    plan: Plan, loops: Collection[int], reach: Callable[[int], frozenset[Memory] | None]
) -> Awaited[Memory] | None:
    """What may end a wait in ``loops`` (see `waiting_loops`). None where that may be anything.

    ``reach`` says what an access may touch, by its index; None: anything.

    In a round of such a loop, control, addresses, masks, assertions and what is written to the memory found here are
    computed from nothing but what is found here. So if that has not changed in a round, the next one will do the same:
    go round again, write the same there, and anything elsewhere.
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
    """The values that decide what a round of ``loop`` does, but for those that it writes where that ends no wait."""
    for op in loop.walk():
        yield from op.operands if op.name == "tt.assert" else decisive(op)
        if effects.is_access(op):
            touched, value = reach(op.index), effects.operands_of(op).value
            elsewhere = touched is not None and touched.isdisjoint(ends)
            yield from (number for k, number in enumerate(op.operands) if k != value or not elsewhere)
