"""`KernelScope`: the operations behind a kernel's wrong results, what each may take, and what a change costs there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from triton_lab.ir import Op, effects, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.plan import Region
from triton_lab.ir.plan_edits import Edit
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import conditions
from triton_lab.launch.comparison.mutations.ir_query import constant, source, unread
from triton_lab.launch.comparison.mutations.value_names import ValueNames
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers

EXCHANGED = 1.6  # what it costs to write two names or numbers anew, each in the place of the other
# What it costs to write a value in place of a number that stands in the kernel, and of one for masked-off lanes.
_FOR_NUMBER, _FOR_FILL = 1.6, 3.0
# And of one in place of a difference from the greatest number, before an exponential.
_FOR_SCALED = 3.0
# What a change costs more of a number that a right kernel does not depend on, in a function that the kernel calls, and
# if it leaves a variable unread.
_STABILISES, _HELPS, _LEAVES = 2.0, 1.0, 1.0


def switch_of(name: str, cause: str, op: Op | Sequence[Op], edit: Edit, cost: float = 1) -> Switch:
    """A switch that edits one operation, or each of several."""
    ops = [op] if isinstance(op, Op) else op
    edits = tuple((one.index, edit) for one in ops)
    return Switch(name, cause, edits=edits, ops=frozenset(one.index for one in ops), cost=cost)


@dataclass(frozen=True)
class KernelScope(ValueNames):
    """The kernel of a launch whose ``arguments`` differ from what was expected."""

    @cached_property
    def stores(self) -> list[Op]:
        """The stores to the differing arguments."""
        every = [op for op in self.function.walk() if effects.writes(op)]
        return [op for op in every if not set(self.owners(op)).isdisjoint(self.arguments)]

    @cached_property
    def ops(self) -> list[Op]:
        """The operations of the user's lines from which the differing elements are computed, the last ones first.

        What decides whether and how often these run belongs to them.
        """
        loops, behind = self._loops, self._behind(lambda op: True)
        found = [
            op
            for op in self.function.walk()
            if op in self.stores or op in loops or not behind.isdisjoint(self._results(op))
        ]
        hidden = self.combining & self.library
        return [op for op in reversed(found) if op.index not in hidden and self.launch.lines.get(op.index) is not None]

    @property
    def _loops(self) -> list[Op]:
        return [op for op in self.function.walk() if op.regions and op.name not in traits.FOLDS]

    def _results(self, op: Op) -> set[Value]:
        return {Value(self.function.name, number) for number in op.results}

    def _behind(self, through: Callable[[Op], bool]) -> set[Value]:
        """What the stores, the loops and the branches take, and what that is computed from; see `Flow.behind`."""
        start = {
            *(one for op in self.stores for one in op.operands),
            *(one for op in self._loops for one in op.operands[:3]),
        }
        values = {Value(self.function.name, number) for number in start}
        plan = self.launch.executable.plan
        return Flow.of(plan).behind(values | set(conditions(plan)), through)

    @cached_property
    def stabilising(self) -> frozenset[int]:
        """The operations, by index, that only compute a greatest number which is subtracted before an exponential.

        Whatever it is, a right kernel computes the same: it keeps numbers small.
        """
        greatest = set()
        for op in self.function.walk():
            taken = self._greatest_before(op.operands[0]) if op.name in traits.EXPONENTIALS else None
            greatest |= {taken.index} if taken is not None else set()
        behind = self._behind(lambda op: op.index not in greatest)
        inner = [op for op in self.ops if op.results and op not in self.stores and op not in self._loops]
        return frozenset(op.index for op in inner if op.index in greatest or behind.isdisjoint(self._results(op)))

    @cached_property
    def helpers(self) -> frozenset[int]:
        """The operations, by index, of functions that the kernel calls; not of those that combine two elements."""
        found = {op.index for op in self.ops if (line := self.line(op)) is not None and line.call is not None}
        return frozenset(found - self.combining)

    def extra_cost(self, switch: Switch) -> float:
        """What a change costs more for its place: helpers, and what only keeps numbers small, are seldom wrong.

        And for leaving a variable unread that nothing reads: what it was computed for is missing.
        """
        places = ((self.stabilising, _STABILISES), (self.helpers, _HELPS))
        cost = sum(cost for ops, cost in places if switch.ops and switch.ops <= ops)
        leaves = self.unread and self.unread.isdisjoint(re.findall(r"\w+", switch.name))
        return cost + (_LEAVES if leaves else 0)

    @cached_property
    def own(self) -> list[Op]:
        """Those of `ops` that the user wrote."""
        return [op for op in self.ops if op.index not in self.library]

    def uses(self) -> Iterator[tuple[Op, int]]:
        """The operands of `ops` that the user gave: of functions of the library those that come from outside of it."""
        for op in self.ops:
            if op.regions and op.name != "scf.for" and op.name not in traits.FOLDS:
                continue
            for k, number in enumerate(op.operands):
                maker = self.made.get(number)
                if op.index not in self.library or maker is None or maker.index not in self.library:
                    yield op, k

    def together(self) -> Iterator[list[tuple[Op, int]]]:
        """The operands on one line that take one value, where there are several."""
        found: dict[tuple[int, int], list[tuple[Op, int]]] = {}
        for op, k in self.uses():
            line = self.launch.lines.get(op.index)
            if line is not None and op.operands[k] in self.names:
                found.setdefault((line.line, op.operands[k]), []).append((op, k))
        yield from (group for group in found.values() if len({op.index for op, _k in group}) > 1)

    @cached_property
    def scope(self) -> Mapping[int, Sequence[int]]:
        """The named values that each operation may take, the newest first, by the operation's index."""
        return self._in_scope(self.names)

    @cached_property
    def unnamed(self) -> Mapping[int, Sequence[int]]:
        """What each operation may take of the values without a name.

        They are comparisons, what they compare, such as ``x + 1`` of ``x + 1 < n``, and products of whole numbers, such
        as ``program * BLOCK``.
        """
        found = set()
        for op in self.function.walk():
            if op.index in self.library or self.line(op) is None:
                continue
            if traits.of(op.name).kind is Kind.COMPARES:
                found |= {*op.operands, *op.results}
            elif op.name == "arith.muli" and not self.type(op.results[0]).shape:
                found |= {*op.results}
        found = {one for one in found - self.names.keys() if constant(self.made, one) is None}
        return self._in_scope({one for one in found if self._written(one)[0]})

    @cached_property
    def unread(self) -> frozenset[str]:
        """The names that the kernel's text gives a value and never reads."""
        return unread(self.launch)

    def _in_scope(self, wanted: Collection[int]) -> Mapping[int, Sequence[int]]:
        found = {}

        def within(region: Region, known: list[int]) -> None:
            for block in region.blocks:
                here = [*known, *block.arguments]
                for op in block.ops:
                    found[op.index] = [number for number in reversed(here) if number in wanted]
                    for inner in op.regions:
                        within(inner, here)
                    here += op.results
                known = here if block is region.blocks[0] else known  # the first block runs before all others

        within(self.function.body, [])
        return found

    @cached_property
    def place(self) -> Mapping[int, int]:
        """The place of each operation in the order of the program, by index."""
        return {op.index: k for k, op in enumerate(self.function.walk())}

    def reaches(self, ops: Collection[int]) -> bool:
        """Whether a change of these operations, by index, may reach what is wrong."""
        return True

    @cached_property
    def bounding(self) -> frozenset[int]:
        """The values from which the bounds and steps of loops are computed, and whether they go on."""
        name, flow = self.function.name, Flow.of(self.launch.executable.plan)
        start = set(conditions(self.launch.executable.plan))
        start |= {Value(name, one) for op in self.ops if op.name == "scf.for" for one in op.operands[:3]}
        return frozenset(one.number for one in flow.behind(start) if one.function == name)

    def decides(self, indices: Collection[int]) -> bool:
        """Whether these operations, by index, compute addresses, masks or loop ends: all give integers or pointers."""
        ops = [op for op in self.ops if op.index in indices]
        return all(
            op.name == "scf.for" or (op.results and not any(self.type(one).is_float for one in op.results))
            for op in ops
        )

    def cost_of_value(self, op: Op, position: int) -> float:
        """How much is written anew if an operand is another value: a number is seldom meant to be one."""
        held = constant(self.made, op.operands[position])
        if op.name in traits.EXPONENTIALS and self._greatest_before(op.operands[position]) is not None:
            return _FOR_SCALED
        if held is None or held in numbers(self.launch).values():
            return 1
        fills = effects.is_access(op) and effects.operands_of(op).other == position
        return _FOR_FILL if fills else _FOR_NUMBER

    def _greatest_before(self, number: int) -> Op | None:
        """What gives the greatest number of a block that a value is less, as a softmax takes it; None if it is not."""
        maker = self.made.get(source(self.made, number))
        if maker is None or maker.name != "arith.subf":
            return None
        taken = self._last_maker(maker.operands[1])
        if taken is None:
            return None
        # Of a reduction what combines two elements decides: a sum is no greatest number.
        ops = [one for one in taken.walk() if one is not taken] if taken.name in traits.FOLDS else [taken]
        return taken if any(traits.of(one.name).extreme == 1 for one in ops) else None

    def _last_maker(self, number: int) -> Op | None:
        """What gives a value; of one that a loop leaves, what gives it in each iteration."""
        number = source(self.made, number)
        maker = self.made.get(number)
        if maker is None or maker.name != "scf.for":
            return maker
        return self._last_maker(maker.regions[0].blocks[0].ops[-1].operands[maker.results.index(number)])

    def summands(self, number: int) -> set[int]:
        """The values of which a value is the sum or difference, and that value itself."""
        found, maker = {number, source(self.made, number)}, self.made.get(source(self.made, number))
        if maker is not None and traits.of(maker.name).sums and len(maker.operands) == 2 and not maker.regions:
            for one in maker.operands:
                found |= self.summands(one)
        return found
