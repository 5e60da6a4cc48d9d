"""What must be known of a function before code is written: which values are equal, who uses them, and where."""

from __future__ import annotations

from dataclasses import dataclass, field

from triton_lab.ir import Op, traits
from triton_lab.ir.effects import is_access, operands_of, writes
from triton_lab.ir.plan import Block, Function
from triton_lab.ir.value_flow import LOOPS
from triton_lab.native.lowering.pure_operations import COSTS, MOVES, PURE


@dataclass(slots=True)
class OperationPlace:
    """The place of an operation: its number in the text, and the loops around it."""

    position: int
    loops: tuple[Op, ...]


@dataclass(slots=True)
class ValueUses:
    """Where the elements of a value are needed: by operations that are not lazy.

    ``wide``: through a broadcast, that is, more often than there are elements. ``moved``: not lane by lane.
    """

    sinks: set[Op] = field(default_factory=set)
    wide: bool = False
    moved: bool = False


class Analysis:
    """Facts about ``function``, computed once."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.types = function.types
        self._same: dict[int, int] = {}
        self.users: dict[int, list[Op]] = {}
        self.maker: dict[int, Op] = {}
        self.places: dict[Op, OperationPlace] = {}
        self.writes: list[Op] = []
        self._uses: dict[int, ValueUses] = {}
        for block in function.body.blocks:
            self._walk(block, {}, ())
        # Users come later in the text, so in this order the recursion stays shallow.
        for value in reversed(self.maker):
            self.uses(value)
        self.addressing = self._addressing()

    def one(self, value: int) -> int:
        """The value that represents all values computed alike."""
        return self._same.get(value, value)

    def repeats(self, op: Op) -> bool:
        """Whether an earlier operation has computed the same."""
        return bool(op.results) and op.results[0] in self._same

    def _walk(self, block: Block, seen: dict[object, int], loops: tuple[Op, ...]) -> None:
        seen = dict(seen)
        for op in block.ops:
            self.places[op] = OperationPlace(len(self.places), loops)
            operands = tuple(self.one(value) for value in op.operands)
            if op.name in PURE and len(op.results) == 1 and not op.regions:
                key = (op.name, operands, repr(sorted(op.attributes.items())), self.types[op.results[0]])
                if key in seen:
                    self._same[op.results[0]] = seen[key]
                    continue
                seen[key] = op.results[0]
            for value in operands:
                self.users.setdefault(value, []).append(op)
            for value in op.results:
                self.maker[value] = op
            if writes(op):
                self.writes.append(op)
            for region in op.regions:
                for inner in region.blocks:
                    self._walk(inner, seen, (*loops, op) if op.name in LOOPS else loops)

    def uses(self, value: int) -> ValueUses:
        """Where the elements of ``value`` are needed, directly or through lazy operations."""
        if value in self._uses:
            return self._uses[value]
        found = self._uses[value] = ValueUses()
        for op in self.users.get(value, ()):
            if op.name not in PURE:
                found.sinks.add(op)
                continue
            result = op.results[0]
            inner = self.uses(result)
            found.sinks |= inner.sinks
            found.wide |= inner.wide or self.types[result].size > self.types[value].size
            found.moved |= inner.moved or op.name in MOVES
        return found

    def beneath(self, value: int) -> set[int]:
        """The values, ``value`` included, from which its elements are computed on demand."""
        found: set[int] = set()
        todo = [value]
        while todo:
            value = self.one(todo.pop())
            maker = self.maker.get(value)
            if value not in found and maker is not None and maker.name in PURE:
                todo += maker.operands
            found.add(value)
        return found

    def is_renewed(self, argument: int, value: int, end: Op) -> bool:
        """Whether the blocks ``argument`` and ``value`` can share one buffer in a loop.

        That is so if a round, which ``end`` ends, reads each element of ``argument`` only for the same element of
        ``value``, which replaces it in the next round.
        """
        uses, maker = self.uses(argument), self.maker.get(value)
        if uses.wide or uses.moved:
            return False
        if uses.sinks == {end}:
            readers = [self.one(each) for each in end.operands if argument in self.beneath(each)]
            return readers == [value] and not any(map(self._starts_again, self.beneath(value)))
        if maker is None or maker.name != "tt.dot" or uses.sinks != {maker} or self._starts_again(value):
            return False
        return not any(argument in self.beneath(factor) for factor in maker.operands[:2])

    def _starts_again(self, value: int) -> bool:
        """Whether ``value`` is a product that may have to be computed again from its start."""
        maker = self.maker.get(value)
        if maker is None or maker.name not in traits.DOTS:
            return False
        return maker.name == "tt.dot_scaled" or self.types[maker.operands[0]].element == "bf16"

    def cost(self, op: Op) -> int:
        """The cost of one element of the operation alone, in operations."""
        return COSTS.get(op.name, 0 if op.name in MOVES or op.name == "arith.constant" else 1)

    def is_deeper(self, user: Op, maker: Op) -> bool:
        """Whether ``user`` runs more often than ``maker``."""
        return len(self.places[user].loops) > len(self.places[maker].loops)

    def changes_between(self, op: Op, others: list[Op], *, but: Op | None = None) -> bool:
        """Whether one of the writes ``others`` may come after ``op`` and before the last use of its value.

        ``but`` is a store that may change what it has itself read.
        """
        start = self.places[op]
        sinks = [self.places[sink] for sink in self.uses(self.one(op.results[0])).sinks]
        for write in others:
            here = self.places[write]
            for sink in sinks:
                if write is but and sink is here:
                    continue
                again = any(loop in sink.loops and loop not in start.loops for loop in here.loops)
                if again or start.position < here.position <= sink.position:
                    return True
        return False

    def _addressing(self) -> set[int]:
        """The integers that addresses, masks, and the remainders in them are computed from."""
        todo = []
        for op in self.places:
            if op.name == "tt.addptr" or (traits.of(op.name).symbol == "%" and traits.of(op.name).numbers == "integer"):
                todo += list(op.operands)
            elif is_access(op):
                at = operands_of(op)
                todo += [op.operands[k] for k in (at.address, at.mask) if k is not None]
            elif op.name == "scf.for":
                todo += [value for value in op.results if self.types[value].is_pointer]
        found: set[int] = set()
        carried = _carried(self.places)
        while todo:
            value = self.one(todo.pop())
            if value in found or not (self.types[value].is_integer or self.types[value].is_pointer):
                continue
            found.add(value)
            todo += carried.get(value, ())
            maker = self.maker.get(value)
            if maker is not None and maker.name in PURE:
                todo += list(maker.operands)
        return found


def _carried(ops: dict[Op, OperationPlace]) -> dict[int, tuple[int, ...]]:
    """For each result and argument of a loop: the values that it may take from, at first and then."""
    found: dict[int, tuple[int, ...]] = {}
    for op in ops:
        if op.name != "scf.for":
            continue
        body = op.regions[0].blocks[0]
        arguments = body.arguments[1:]
        for at, (argument, result) in enumerate(zip(arguments, op.results, strict=True)):
            found[argument] = found[result] = (op.operands[3 + at], body.ops[-1].operands[at], argument)
    return found
