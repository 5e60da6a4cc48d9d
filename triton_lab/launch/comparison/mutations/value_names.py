"""`ValueNames`: what users call the values of a kernel, and on which lines these are made and taken."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.plan import Function
from triton_lab.ir.traits import Kind
from triton_lab.launch.checks.analysis.source_nodes import further_names, nodes_of
from triton_lab.launch.comparison.mutations.ir_query import (
    constant,
    lines_of,
    makers,
    on_lines,
    parameters_at,
    sign_of,
    source,
    users,
)
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.source_lines import UserLine

_LONGEST = 48  # characters of an expression that is written in a title
_PROGRAM = "tl.program_id({})"


@dataclass(frozen=True)
class ValueNames:
    """The values of the kernel of a launch whose ``arguments`` differ from what was expected."""

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

    def type(self, number: int) -> Type:
        """The type of a value."""
        return self.function.types[number]

    def line(self, op: Op) -> UserLine | None:
        """The user's line of an operation."""
        return self.launch.lines.get(op.index)

    @cached_property
    def library(self) -> frozenset[int]:
        """The operations, by index, that stand in functions of Triton's library, such as those of random numbers."""
        return frozenset(
            op.index for op in self.function.walk() if op.location is not None and is_tritons(op.location.file)
        )

    def owners(self, op: Op) -> list[str]:
        """The names of the arguments that the pointer of an access may come from."""
        flat = self.launch.plan_arguments
        roots = self.launch.executable.roots.get(op.index)
        return [one.name for one in flat if one.kind != "scalar"] if roots is None else [flat[k].name for k in roots]

    @cached_property
    def filled(self) -> frozenset[str]:
        """The names of the arguments that the kernel only stores to."""
        accesses = [op for op in self.function.walk() if effects.is_access(op)]
        held = {name for op in accesses if effects.reads(op) for name in self.owners(op)}
        return frozenset(name for op in accesses for name in self.owners(op)) - held

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
        further = further_names(self.launch.source)
        for number, op in self.made.items() if further else ():
            names[number] = self._first_name(names.get(number, ""), op, further)
        return {number: name for number, name in names.items() if name and not re.fullmatch(r"arg\d+", name)}

    def _first_name(self, name: str, maker: Op, further: Sequence[tuple[str, str, int]]) -> str:
        """The name that a value got where it was made, if ``name`` is one that a later ``name = first`` gave it."""
        line = self.line(maker)
        if line is None or line.call is not None:
            return name
        for new, old, at in further:
            before = [one for one in self.assigned.get(old, ()) if one <= line.line]
            if new == name and before and max(before) == line.line < at + self.launch.first_line - 1:
                return old
        return name

    @cached_property
    def enclosing(self) -> Mapping[int, Op]:
        """The operation that each one stands in, by the index of the inner one."""
        return {
            one.index: op
            for op in self.function.walk()
            for region in op.regions
            for block in region.blocks
            for one in block.ops
        }

    @cached_property
    def users(self) -> Mapping[int, Sequence[tuple[Op, int]]]:
        """The operands that take each value."""
        return users(self.function)

    @cached_property
    def assigned(self) -> Mapping[str, Sequence[int]]:
        """The lines on which each variable gets a value; none for a launch of a file."""
        found: dict[str, list[int]] = {}
        for variable in self.launch.variables if self.launch.compiled[0] is not None else ():
            found.setdefault(variable.name, []).append(variable.line)
        return found

    def called(self, number: int) -> str:
        """What the user calls a value: its name, its number, or what is written there, if that is short."""
        return self.written(number) or _("what stands there")

    def written(self, number: int) -> str:
        """A value as it is written: its name, its number or a short expression; "" if there is none."""
        return self._written(number)[0]

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
        inner = None if others else self._line_in_call(op, op.operands[position])
        return lines_of(self.launch, op, *others) if inner is None else on_lines([inner])

    def where_taken(self, op: Op, position: int) -> str:
        """The line that takes an operand; and the one where that gets its name, if it gets it for this use alone."""
        number, line = op.operands[position], self.line(op)
        if line is not None and line.call is not None:
            return self.where(op)
        inner = self._line_in_call(op, number)
        if inner is not None:
            return on_lines([inner])
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

    def _line_in_call(self, op: Op, number: int) -> int | None:
        """The line on which a value is named, if the operation stands where a call of several lines begins.

        All that such a call is given stands there. None if the value is named on no line of the call, or on several.
        """
        line, name = self.line(op), self.names.get(source(self.made, number))
        call = None if line is None or line.call is not None else self._long_calls.get(line.line)
        if call is None or name is None:
            return None
        parts = call.args[:1] if op.name == "tt.addptr" else [*call.args, *call.keywords]
        nodes = (one for part in parts for one in ast.walk(part))
        found = {one.lineno for one in nodes if isinstance(one, ast.Name) and one.id == name}
        return self.launch.first_line - 1 + found.pop() if len(found) == 1 else None

    @cached_property
    def _long_calls(self) -> Mapping[int, ast.Call]:
        """The outermost calls that stand on several lines, by the first of these."""
        found: dict[int, ast.Call] = {}
        for node in nodes_of(self.launch.source):
            if isinstance(node, ast.Call) and node.end_lineno not in (None, node.lineno):
                found.setdefault(self.launch.first_line - 1 + node.lineno, node)
        return found
