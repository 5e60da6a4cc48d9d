"""A kernel reduced to what decides which addresses it touches: all of them, or those in the memory that it writes.

What is left is integer arithmetic on program ids and arguments, and the loops and branches around the accesses. A mark
replaces each access; its operands are the pointers and the mask, if one is known, or the descriptor and coordinates of
the access. The NumPy engine runs the result very quickly: see `launch_footprint` and `observed_launch`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.ops.print_and_assert import MARK
from triton_lab.ir import Op, Plan, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.effects import ACCESSES, Role, is_access, operands_of, role_of, writes
from triton_lab.ir.plan import Block, Function, Region, Successor
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import BRANCHES, HANDS_ON, Value, decisive
from triton_lab.native.analysis.inlining import flattened
from triton_lab.native.analysis.unordered_sums import atomic_sums
from triton_lab.native.llvm.element_types import width_of

Groups: TypeAlias = "Iterable[tuple[int, tuple[int, ...]]]"
_CONTROL = HANDS_ON - {"tt.call"}


@dataclass(frozen=True, slots=True)
class SliceAccess:
    """An access in the outline: the kernel's operation, the group of its memory, its role, and an element's bytes."""

    op: Op
    group: int
    role: Role
    size: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The reduced kernel. ``accesses`` are by the index of their marks; ``arguments`` are the positions of those it
    uses.
    """

    executable: Executable
    accesses: Mapping[int, SliceAccess]
    arguments: tuple[int, ...]


def outline(plan: Plan, groups: Groups, besides_sums: bool = False) -> Outline | None:
    """The outline of ``plan``; ``groups`` are those of its `Signature`.

    None if addresses depend on memory, or if programs must run one after another: those with atomics.
    ``besides_sums``: without atomics that may run in any batches, each the only access to its memory.
    """
    function = flattened(plan)
    accesses = [op for op in function.walk() if is_access(op)]
    group = _joined(groups)
    if besides_sums:
        alone = Counter(group.get(op.index) for op in accesses)
        sums = {op for op in atomic_sums(function) if op.index in group and alone[group[op.index]] == 1}
        accesses = [op for op in accesses if op not in sums]
    # An access to any memory may only read memory that no other access writes.
    written = {group.get(op.index) for op in accesses if writes(op)}
    shared = {op: group[op.index] for op in accesses if op.index in group and group[op.index] in written}
    for op in shared:
        by_rows = any(function.types[op.operands[k]].shape for k in operands_of(op).coordinates)
        if ACCESSES[op.name].kind == "atomic" or by_rows:
            return None
    return None if None in written else _Outlining(function, shared).outline()


def whole_outline(plan: Plan) -> Outline | None:
    """The outline of ``plan`` with all of its accesses and their masks, in the order in which they run.

    None if an address, a mask or a branch depends on memory, or if more than plain loads, stores, sums by atomics and
    arithmetic runs: calls, other atomics, barriers, descriptors, assertions and output.
    """
    if len(plan.functions) > 1 or any(traits.of(op.name).kind in (Kind.ORDERS, Kind.REPORTS) for op in plan.walk()):
        return None
    accesses, sums = [op for op in plan.kernel.walk() if is_access(op)], atomic_sums(plan.kernel)
    if not accesses or not all(ACCESSES[op.name].plain or op in sums for op in accesses):
        return None
    return _Outlining(plan.kernel, dict.fromkeys(accesses, 0)).outline(masks=True)


def _joined(groups: Groups) -> dict[int, int]:
    """For each access that may not touch all memory, the number of its memory: equal if two accesses may share some."""
    parents: dict[int, int] = {}

    def root(number: int) -> int:
        while (parent := parents.setdefault(number, number)) != number:
            number = parent
        return number

    for _, numbers in groups:
        for number in numbers:
            parents[root(number)] = root(numbers[0])
    return {op: root(numbers[0]) for op, numbers in groups if numbers}


class _Unknown(Exception):
    pass


class _Outlining:
    def __init__(self, function: Function, accesses: Mapping[Op, int]) -> None:
        self.function, self.groups = function, accesses
        self.flow = Flow.of(Plan({function.name: function}))
        self.masks: dict[Op, int] = {}
        self.needed: set[int] = set()
        self.found: dict[int, SliceAccess] = {}
        self._numbers = itertools.count()

    def outline(self, masks: bool = False) -> Outline | None:
        """The outline; None if addresses, or with ``masks`` one of the masks, cannot be known."""
        try:
            self._need([value for op in self.groups for value in _address(op)])
        except _Unknown:
            return None
        for op in self.groups:
            at = operands_of(op).mask
            if at is not None:
                before = set(self.needed)
                try:
                    self._need([op.operands[at]])
                    self.masks[op] = op.operands[at]
                except _Unknown:  # then all lanes count as on
                    if masks:
                        return None
                    self.needed = before
        function = self.function
        blocks = tuple(self._block(block, whole=not k) for k, block in enumerate(function.body.blocks))
        executable = Executable.of(Plan({function.name: replace(function, body=Region(blocks))}))
        arguments = tuple(k for k, value in enumerate(function.arguments) if value in self.needed)
        if any(function.types[function.arguments[k]].is_descriptor for k in arguments):
            return None  # launches are known by numbers alone
        return Outline(executable, self.found, arguments)

    # What to keep.

    def _need(self, values: Iterable[int]) -> None:
        """Add ``values``, what they are computed from, and what decides the control flow. Raises _Unknown."""
        todo, name = set(values), self.function.name
        while True:
            self.needed |= {value.number for value in self.flow.behind(Value(name, number) for number in todo)}
            kept = [op for op in self.function.walk() if self._is_kept(op)]
            todo = {value for op in kept for value in (*decisive(op), *_conditions(op))}
            if todo <= self.needed:
                break
        for op in self.function.walk():
            if self.needed.intersection(op.results) and op.name not in _CONTROL and _is_opaque(op):
                raise _Unknown

    def _is_kept(self, op: Op) -> bool:
        if op.name in _CONTROL:
            return bool(self.needed.intersection(op.results)) or any(inner in self.groups for inner in op.walk())
        return op.name == "cf.cond_br"

    # The reduced kernel.

    def _block(self, block: Block, *, whole: bool = False, kept: Iterable[int] = ()) -> Block:
        arguments = tuple(v for v in block.arguments if whole or v in self.needed or v in kept)
        ops = [made for op in block.ops[:-1] for made in self._op(op)]
        return Block(arguments, (*ops, self._end(block.ops[-1])))

    def _end(self, op: Op) -> Op:
        """The end of a function's block. The ends of other regions are made with these."""
        if op.name not in BRANCHES:
            return replace(op, operands=() if op.name == "tt.return" else op.operands, index=next(self._numbers))
        successors = []
        for successor in op.successors:
            arguments = self.function.body.blocks[successor.block].arguments
            pairs = zip(successor.operands, arguments, strict=True)
            successors.append(Successor(successor.block, tuple(v for v, to in pairs if to in self.needed)))
        return replace(op, successors=tuple(successors), index=next(self._numbers))

    def _op(self, op: Op) -> Iterator[Op]:
        if op in self.groups:
            yield self._mark(op)
        elif op.name in _CONTROL:
            if self._is_kept(op):
                yield {"scf.for": self._for, "scf.while": self._while, "scf.if": self._if}[op.name](op)
        elif self.needed.intersection(op.results):
            yield replace(op, index=next(self._numbers))

    def _mark(self, op: Op) -> Op:
        at = operands_of(op)
        number = next(self._numbers)
        value = op.operands[at.value] if at.value is not None else op.results[0]
        self.found[number] = SliceAccess(op, self.groups[op], role_of(op), width_of(self.function.types[value].element))
        operands = (*_address(op), self.masks[op]) if op in self.masks else _address(op)
        return Op("tt.print", operands, (), {"prefix": MARK, "hex": False}, (), (), op.location, number)

    def _inner(self, region: Region, kept: Iterable[int], yields: Iterable[int]) -> Region:
        """A region of one block that takes ``kept`` and yields ``yields``."""
        (block,) = region.blocks
        made = self._block(block, kept=kept)
        return Region((replace(made, ops=(*made.ops[:-1], replace(made.ops[-1], operands=tuple(yields)))),))

    def _for(self, op: Op) -> Op:
        (block,) = op.regions[0].blocks
        counter, *arguments = block.arguments
        slots = [k for k, v in enumerate(arguments) if v in self.needed or op.results[k] in self.needed]
        region = self._inner(
            op.regions[0], (counter, *(arguments[k] for k in slots)), (block.ops[-1].operands[k] for k in slots)
        )
        operands = (*op.operands[:3], *(op.operands[3 + k] for k in slots))
        return self._with(op, operands, (op.results[k] for k in slots), region)

    def _while(self, op: Op) -> Op:
        (condition,), (body,) = (region.blocks for region in op.regions)
        slots = [k for k, v in enumerate(condition.arguments) if v in self.needed]
        passed = [k for k, v in enumerate(op.results) if v in self.needed or body.arguments[k] in self.needed]
        end = condition.ops[-1].operands
        first = self._inner(
            op.regions[0], (condition.arguments[k] for k in slots), (end[0], *(end[1 + k] for k in passed))
        )
        second = self._inner(
            op.regions[1], [body.arguments[k] for k in passed], (body.ops[-1].operands[k] for k in slots)
        )
        return self._with(op, (op.operands[k] for k in slots), (op.results[k] for k in passed), first, second)

    def _if(self, op: Op) -> Op:
        slots = [k for k, v in enumerate(op.results) if v in self.needed]
        regions = []
        for region in op.regions:
            if region.blocks:
                (block,) = region.blocks
                region = self._inner(region, (), (block.ops[-1].operands[k] for k in slots))
            regions.append(region)
        return self._with(op, op.operands, (op.results[k] for k in slots), *regions)

    def _with(self, op: Op, operands: Iterable[int], results: Iterable[int], *regions: Region) -> Op:
        number = next(self._numbers)
        return replace(op, operands=tuple(operands), results=tuple(results), regions=regions, index=number)


def _address(op: Op) -> tuple[int, ...]:
    """The pointers of an access, or its descriptor and the coordinates of its block."""
    at = operands_of(op)
    return op.operands[at.address], *(op.operands[k] for k in at.coordinates)


def _conditions(op: Op) -> tuple[int, ...]:
    """The values that decide how often a ``while`` loops."""
    return decisive(op.regions[0].blocks[0].ops[-1]) if op.name == "scf.while" else ()


def _is_opaque(op: Op) -> bool:
    """Whether an operation depends on memory or on where memory lies, or is not plain arithmetic."""
    return is_access(op) or op.name == "tt.ptr_to_int" or bool(op.regions)
