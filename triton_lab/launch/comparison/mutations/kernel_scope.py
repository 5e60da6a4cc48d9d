"""`KernelScope`: the operations behind a kernel's wrong results, what each may take, and what users call values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab.ir import Op, Type, effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.plan import Function, Region
from triton_lab.launch.comparison.mutations.ir_query import constant, lines_of, makers, source
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


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

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What the user calls each value that has a name; what a loop leaves is called as within it.

        A loaded value without a name is called as the argument that it comes from.
        """
        names = {number: name for number, name in enumerate(self.function.names) if name}
        for op in self.function.walk():
            owner = self.launch.owner_of(op.index) if op.index in self.launch.kinds else None
            if owner is not None and op.results:
                names.setdefault(op.results[0], owner.name)
            if op.name == "scf.for":
                for number, argument in zip(op.results, op.regions[0].blocks[0].arguments[1:], strict=True):
                    names.setdefault(number, names.get(argument, ""))
        return {number: name for number, name in names.items() if name}

    @cached_property
    def stores(self) -> list[Op]:
        """The stores to the differing arguments."""
        found = []
        for op in self.function.walk():
            owner = self.launch.owner_of(op.index) if op.index in self.launch.kinds else None
            if effects.writes(op) and owner is not None and owner.name in self.arguments:
                found.append(op)
        return found

    @cached_property
    def ops(self) -> list[Op]:
        """The operations of the user's lines from which the differing elements are computed, the last ones first."""
        flow, name = Flow.of(self.launch.executable.plan), self.function.name
        behind = flow.behind(Value(name, number) for op in self.stores for number in op.operands)
        loops = [op for op in self.function.walk() if op.regions]
        behind |= flow.behind(Value(name, number) for op in loops for number in op.operands[:3])
        found = [
            op
            for op in self.function.walk()
            if op in self.stores or op in loops or any(Value(name, number) in behind for number in op.results)
        ]
        return [op for op in reversed(found) if self.launch.lines.get(op.index) is not None]

    @cached_property
    def scope(self) -> Mapping[int, Sequence[int]]:
        """The named values that each operation may take, the newest first, by the operation's index."""
        found = {}

        def within(region: Region, known: list[int]) -> None:
            for block in region.blocks:
                here = [*known, *block.arguments]
                for op in block.ops:
                    found[op.index] = [number for number in reversed(here) if number in self.names]
                    for inner in op.regions:
                        within(inner, here)
                    here += op.results

        within(self.function.body, [])
        return found

    def type(self, number: int) -> Type:
        """The type of a value."""
        return self.function.types[number]

    def where(self, *ops: Op) -> str:
        """The lines of operations, as the end of a title."""
        return lines_of(self.launch, *ops)

    def called(self, number: int) -> str:
        """What the user calls a value."""
        name = self.names.get(number) or self.names.get(source(self.made, number))
        held = constant(self.made, number)
        return name or ("" if held is None else f"{held:g}") or _("what stands there")
