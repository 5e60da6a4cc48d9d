"""`KernelScope`: the operations behind a kernel's wrong results, what each may take, and what users call values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.plan import Function, Region
from triton_lab.ir.plan_edits import Edit
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import conditions
from triton_lab.launch.comparison.mutations.ir_query import (
    constant,
    lines_of,
    makers,
    on_lines,
    parameters_at,
    sign_of,
    source,
    unread,
    users,
)
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.source_lines import UserLine

EXCHANGED = 1.6  # what it costs to write two names or numbers anew, each in the place of the other
_LONGEST = 48  # characters of an expression that is written in a title
_PROGRAM = "tl.program_id({})"
# What it costs to write a value in place of a number that stands in the kernel, and of one for masked-off lanes.
_FOR_NUMBER, _FOR_FILL = 1.6, 3.0
# And of one in place of a difference from the greatest number, before an exponential.
_FOR_SCALED = 3.0
# What a change costs more of a number that a right kernel does not depend on, and in a function that the kernel calls.
_STABILISES, _HELPS = 2.0, 1.0


def switch_of(name: str, cause: str, op: Op | Sequence[Op], edit: Edit, cost: float = 1) -> Switch:
    """A switch that edits one operation, or each of several."""
    ops = [op] if isinstance(op, Op) else op
    edits = tuple((one.index, edit) for one in ops)
    return Switch(name, cause, edits=edits, ops=frozenset(one.index for one in ops), cost=cost)


@dataclass(frozen=True)
class KernelScope:
    """The kernel of a launch whose ``arguments`` differ from what was expected."""

    launch: Launch
    arguments: Collection[str]

    @cached_property
    def function(self) -> Function:
        """The kernel itself."""
        return self.launch.executable.plan.kernel

    @cached_property
    def made(self) -> Mapping[int, Op]:
        """The operation that computes each value."""
        return makers(self.function)

    def owners(self, op: Op) -> list[str]:
        """The names of the arguments that the pointer of an access may come from."""
        flat = self.launch.plan_arguments
        roots = self.launch.executable.roots.get(op.index)
        return [one.name for one in flat if one.kind != "scalar"] if roots is None else [flat[k].name for k in roots]

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What the user calls each value that has a name; what a loop leaves is called as within it.

        A loaded value without a name is called as the argument that it comes from.
        """
        names = {number: name for number, name in enumerate(self.function.names) if name}
        last: dict[tuple[int, str], int] = {}
        lowest = 0
        for op in self.function.walk():
            line = self.line(op)
            if op.index in self.combining:
                for number in op.results:
                    names.pop(number, None)
                continue
            if line is not None and op.name != "arith.constant":  # which stand before all others
                if line.line < lowest:  # the next iteration of an unrolled loop
                    last.clear()
                lowest = line.line
            for number in op.results if line is not None and op.name != "scf.for" else ():
                # The parts of what a line assigns are named as the variable, which only the last of them is.
                if number in names and line is not None:
                    names.pop(last.get((line.line, names[number]), -1), None)
                    last[line.line, names[number]] = number
            if effects.is_access(op) and op.results and len(owners := self.owners(op)) == 1:
                names.setdefault(op.results[0], owners[0])
            if op.name == "scf.for":
                block = op.regions[0].blocks[0]
                for number, argument, last_one in zip(
                    op.results, block.arguments[1:], block.ops[-1].operands, strict=True
                ):
                    # A loop that leaves several values has them all under the name of one.
                    names[number] = names.get(argument) or names.get(last_one) or names.get(number, "")
            if op.name in traits.FOLDS:
                names |= self.parameters(op)
        return {number: name for number, name in names.items() if name and not re.fullmatch(r"arg\d+", name)}

    @cached_property
    def combining(self) -> frozenset[int]:
        """The operations, by index, that combine two elements in a reduction or a scan."""
        folds = [op for op in self.function.walk() if op.name in traits.FOLDS]
        return frozenset(one.index for op in folds for one in op.walk()) - {op.index for op in folds}

    def parameters(self, fold: Op) -> Mapping[int, str]:
        """What the user's function that combines two elements calls them; nothing for one of the library."""
        block = fold.regions[0].blocks[0]
        places = [op.location for op in block.ops[:-1] if op.index not in self.library and op.location is not None]
        named = parameters_at(self.launch, places[0]) if places else []
        return dict(zip(block.arguments, named, strict=True)) if len(named) == len(block.arguments) else {}

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
        """What a change costs more for its place: helpers, and what only keeps numbers small, are seldom wrong."""
        places = ((self.stabilising, _STABILISES), (self.helpers, _HELPS))
        return sum(cost for ops, cost in places if switch.ops and switch.ops <= ops)

    @cached_property
    def users(self) -> Mapping[int, Sequence[tuple[Op, int]]]:
        """The operands that take each value."""
        return users(self.function)

    @cached_property
    def library(self) -> frozenset[int]:
        """The operations, by index, that stand in functions of Triton's library, such as those of random numbers."""
        return frozenset(
            op.index for op in self.function.walk() if op.location is not None and is_tritons(op.location.file)
        )

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

    def decides(self, indices: Collection[int]) -> bool:
        """Whether these operations, by index, compute addresses, masks or loop ends: all give integers or pointers."""
        ops = [op for op in self.ops if op.index in indices]
        return all(
            op.name == "scf.for" or (op.results and not any(self.type(one).is_float for one in op.results))
            for op in ops
        )

    def type(self, number: int) -> Type:
        """The type of a value."""
        return self.function.types[number]

    def where(self, *ops: Op) -> str:
        """The lines of operations, as the end of a title."""
        return lines_of(self.launch, *ops)

    def where_given(self, op: Op, position: int, *others: Op) -> str:
        """The line on which a loop's accumulator gets its start value; of other operands that of the operation.

        And the lines of ``others``.
        """
        line = self.launch.lines.get(op.index)
        if op.name == "scf.for" and position > 2 and line is not None:
            name = self.names.get(op.regions[0].blocks[0].arguments[position - 2], "")
            before = [each for each in self.assigned.get(name, ()) if each < line.line]
            if before:
                return on_lines([max(before), *(one.line for one in map(self.line, others) if one is not None)])
        return lines_of(self.launch, op, *others)

    def where_taken(self, op: Op, position: int) -> str:
        """The line that takes an operand; and the one where that gets its name, if it gets it for this use alone."""
        number, line = op.operands[position], self.line(op)
        if line is not None and line.call is not None:
            return self.where(op)
        while number not in self.names and number in self.made and source(self.made, number) != number:
            if len(self.users[number]) > 1:
                break
            (number,) = self.made[number].operands
        maker = self.made.get(number)
        loops = maker is not None and bool(maker.regions) and maker.name not in traits.FOLDS
        made = line if loops or maker is None else self.line(maker)
        last = 0 if made is None or maker is None else made.line - loops
        before = [one for one in self.assigned.get(self.names.get(number, ""), ()) if one <= last]
        if len(self.users[number]) == 1 and before and line is not None:
            return on_lines([max(before), line.line])
        return self.where_given(op, position)

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
        is_greatest = taken is not None and (taken.name in traits.FOLDS or traits.of(taken.name).extreme == 1)
        return taken if is_greatest else None

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

    def line(self, op: Op) -> UserLine | None:
        """The user's line of an operation."""
        return self.launch.lines.get(op.index)

    @cached_property
    def assigned(self) -> Mapping[str, Sequence[int]]:
        """The lines on which each variable gets a value; none for a launch of a file."""
        found: dict[str, list[int]] = {}
        for variable in self.launch.variables if self.launch.compiled[0] is not None else ():
            found.setdefault(variable.name, []).append(variable.line)
        return found

    def called(self, number: int) -> str:
        """What the user calls a value: its name, its number, or what is written there, if that is short."""
        return self._written(number)[0] or _("what stands there")

    def _written(self, number: int) -> tuple[str, bool]:
        """A value as it is written, and whether it needs parentheses in a longer expression; "" if that is long."""
        name = self.names.get(number) or self.names.get(source(self.made, number))
        held = constant(self.made, number)
        if name or held is not None:
            return name or f"{held:g}", False
        op = self.made.get(source(self.made, number))
        trait = None if op is None else traits.of(op.name)
        if op is None or trait is None or (op.index in self.library and op.name not in traits.FOLDS):
            return "", False
        parts, sign = [self._written(one) for one in op.operands], trait.symbol or sign_of(op)
        if op.name in traits.FOLDS and len(parts) == 1:
            inner = [traits.of(one.name) for one in op.regions[0].blocks[0].ops[:-1]]
            sums = len(inner) == 1 and inner[0].symbol == "+"
            extreme = inner[0].extreme if len(inner) == 1 else 0
            told = "tl.sum" if sums else {1: "tl.max", -1: "tl.min"}.get(extreme, "")
            if op.name == "tt.scan":
                told = "tl.cumsum" if sums else ""
            written, whole = (f"{told}({parts[0][0]})" if told and parts[0][0] else ""), True
        elif len(parts) == 2 and (sign or trait.extreme) and trait.kind in (Kind.ELEMENTWISE, Kind.COMPARES):
            sides = [f"({part})" if joined else part for part, joined in parts]
            called = {1: "tl.maximum", -1: "tl.minimum"}.get(trait.extreme, "")
            told = f"{called}({parts[0][0]}, {parts[1][0]})" if called else f"{sides[0]} {sign} {sides[1]}"
            written, whole = (told if parts[0][0] and parts[1][0] else ""), bool(called)
        elif len(parts) == 1 and op.name.startswith("math."):
            written, whole = (f"tl.{op.name.partition('.')[2]}({parts[0][0]})" if parts[0][0] else ""), True
        elif op.name == "tt.get_program_id":
            written, whole = _PROGRAM.format(op.attributes["axis"]), True
        else:
            return "", False
        return (written, not whole) if len(written) <= _LONGEST else ("", False)
