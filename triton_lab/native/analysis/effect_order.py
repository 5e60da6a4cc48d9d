"""The order in which a program reads, writes and checks: what may be delayed, and what must be known before.

A guard that fails hands its program to NumPy. That is correct only if the program has changed nothing yet. If guards
come after writes, the program is *rehearsed*: it runs once for its guards alone, with all that they depend on and
without its writes, and then for real. If the guards depend on what programs write, that is impossible. Then the launch
is a *transaction*: the old contents of written memory are saved, and restored if a guard fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from triton_lab.ir import Op, Plan
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.effects import brings_in, is_access, operands_of, waits
from triton_lab.ir.plan import Function
from triton_lab.ir.spin_wait import deciding, handed_on, varies
from triton_lab.ir.value_flow import LOOPS, Value, decisive
from triton_lab.localization import _
from triton_lab.native.analysis.value_uses import Analysis
from triton_lab.native.function_contract import Signature
from triton_lab.native.lowering.pure_operations import PURE
from triton_lab.native.unsupported import Unsupported

# Operations with their own guards, besides accesses and address arithmetic -> the operands that the guard depends on
# and that are no addresses.
_GUARDED: dict[str, Callable[[Op], Sequence[int]]] = {
    "scf.for": lambda op: (),
    "tt.assert": lambda op: op.operands,
    "tt.gather": lambda op: op.operands[1:2],
}


class EffectOrder:
    """What follows from the order of a function's operations. Raises Unsupported if there is no valid order."""

    def __init__(self, analysis: Analysis, signature: Signature) -> None:
        self.analysis = analysis
        self.group = signature.group
        for op in analysis.places:
            if is_access(op) and op.index not in self.group:
                raise Unsupported(_("{name} of memory that is not known before the launch").format(name=op.name))
        self.waits = waiting(analysis.function, self.conflicts)
        self.needs_rehearsal = self.is_transaction = False
        # In a transaction: the operations that write, and those that contain one.
        self.writing: frozenset[Op] = frozenset()
        self._rehearsed: set[int] = set()
        why = _("its programs wait for one another") if any(each.shared for each in self.waits.values()) else ""
        if not why and self._needs_rehearsal():
            try:
                self._rehearsed = self._behind_guards()
                self.needs_rehearsal = True
            except Unsupported as unsupported:
                why = str(unsupported)
        if why:
            self._keep_writes(why)

    def _keep_writes(self, why: str) -> None:
        """Make it a transaction, for the reason ``why``. Raises Unsupported if it is not known what it writes."""
        places, writes = self.analysis.places, self.analysis.writes
        if not all(self.group[op.index] for op in places if is_access(op)):
            raise Unsupported(
                _("{why}, and it uses addresses that it has loaded or computed from integers").format(why=why)
            )
        if any(len(self.group[op.index]) > 1 for op in writes):
            raise Unsupported(
                _("{why}, and it writes through a pointer that may lead to several tensors").format(why=why)
            )
        self.is_transaction = True
        self.writing = frozenset(op for op in places if not set(writes).isdisjoint(op.walk()))

    def conflicts(self, op: Op) -> list[Op]:
        """The writes that may change what the access ``op`` reads."""
        return [write for write in self.analysis.writes if self._may_meet(op, write)]

    def _may_meet(self, one: Op, other: Op) -> bool:
        """Whether two accesses may touch the same memory. One to any memory never touches what belongs to others."""
        here, there = self.group[one.index], self.group[other.index]
        return not set(here).isdisjoint(there) or not (here or there)

    def is_rehearsed(self, op: Op) -> bool:
        """Whether a rehearsal must run ``op``: it contains a guard, or a guard depends on it."""
        if is_access(op) or op.name in _GUARDED or any(value in self._rehearsed for value in op.results):
            return True
        return any(self.is_rehearsed(inner) for region in op.regions for block in region.blocks for inner in block.ops)

    def is_needed(self, value: int) -> bool:
        """Whether a guard depends on ``value``."""
        return value in self._rehearsed

    def _needs_rehearsal(self) -> bool:
        places, writes = self.analysis.places, self.analysis.writes
        if not writes:
            return False
        if any(place.loops for place in map(places.__getitem__, writes)):
            return True
        first = min(places[write].position for write in writes)
        return any(place.position > first and self._may_guard(op) for op, place in places.items())

    def _may_guard(self, op: Op) -> bool:
        if is_access(op) or op.name in _GUARDED:
            return True
        result = op.results[0] if op.results else None
        if op.name not in PURE or result is None or not self.analysis.types[result].shape:
            return False
        return self.analysis.one(result) in self.analysis.addressing

    def _behind_guards(self) -> set[int]:
        """The values that guards depend on. Raises Unsupported if what the kernel writes is among them."""
        function = self.analysis.function
        guarded = [op for op in function.walk() if op.name in _GUARDED]
        asked = {value for op in guarded for value in _GUARDED[op.name](op)}
        addressed = self._behind(self._addressed())
        behind = addressed | self._behind(asked)
        for op in function.walk():
            if brings_in(op) and behind.intersection(op.results) and self.conflicts(op):  # also an atomic's own write
                here = addressed.intersection(op.results)
                what = _("where the kernel reads or writes") if here else _("what the kernel asserts or looks up")
                raise Unsupported(_("{what} depends on memory that it has written itself").format(what=what))
        return behind

    def _addressed(self) -> set[int]:
        """The values that decide whether an access is valid, and whether it runs."""
        function = self.analysis.function
        start = set(self.analysis.addressing)
        for op in function.walk():
            start.update(decisive(op))
            if is_access(op):
                at = operands_of(op)
                start.update(op.operands[k] for k in (at.address, at.mask, *at.coordinates) if k is not None)
            if op.name in LOOPS and op.name != "scf.for":
                start.update(op.regions[0].blocks[0].ops[-1].operands[:1])
        return start

    def _behind(self, start: set[int]) -> set[int]:
        """All values that ``start`` are computed from."""
        function = self.analysis.function
        flow = Flow.of(Plan({function.name: function}))
        behind = {value.number for value in flow.behind(Value(function.name, number) for number in start)}
        return behind | {self.analysis.one(value) for value in behind}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A loop whose condition depends on memory, and on ``values`` that it computes.

    ``shared``: the kernel writes that memory, so the loop may wait for other programs. ``polls``: some of it is read at
    the same address in every round. A loop that reads another address each time searches, and need not wait.
    """

    values: frozenset[int]
    shared: bool
    polls: bool


def waiting(function: Function, conflicts: Callable[[Op], list[Op]]) -> Mapping[Op, Waiting]:
    """The loops of ``function`` in which a program may wait.

    ``conflicts`` gives the writes that may change what an access reads. ``tt.atomic_poll`` counts as a loop without a
    body.
    """
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
