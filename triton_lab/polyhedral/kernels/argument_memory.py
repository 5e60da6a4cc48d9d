"""Which arguments share memory, so that accesses to them can conflict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_lab.polyhedral.core.affine_conditions import Formula, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.access_domain import symbol_domain
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.element_coordinates import elements
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class MemoryReach:
    """One way in which a statement accesses memory.

    ``place`` counts ``unit`` bytes from the start of ``memory``; the access covers ``size`` units from there on.
    """

    statement: KernelStatement
    argument: Argument
    memory: int
    place: AffineExpr
    unit: int
    size: int
    domain: Formula

    @property
    def touch(self) -> SymbolicAccess:
        assert self.statement.touch is not None
        return self.statement.touch


def memories(launch: Launch) -> dict[str, int]:
    """For each tensor, the start of the memory that it shares with others; overlapping storages count as one memory."""
    tensors = [a for a in launch.arguments if a.kind in ("tensor", "descriptor")]
    spans = sorted({(a.storage_address, a.storage_address + a.storage_bytes) for a in tensors})
    starts: dict[int, int] = {}
    begin, end = 0, -1
    for low, high in spans:
        if low >= end:
            begin, end = low, high
        end = max(end, high)
        starts[low] = begin
    return {a.name: starts[a.storage_address] for a in tensors}


def reaches(launch: Launch, statements: tuple[KernelStatement, ...], grid: Formula) -> list[MemoryReach]:
    """How all statements access memory.

    Places count elements where all tensors in a memory have the same element, else bytes.
    """
    starts = memories(launch)
    found = list(_reaches(launch, statements, starts, grid))
    result = []
    for memory in dict.fromkeys(r.memory for r in found):
        group = [r for r in found if r.memory == memory]
        units = {r.size for r in group}
        unit = units.pop() if len(units) == 1 else 1
        places = [elements(r.place, unit) for r in group]
        if any(place is None for place in places):
            unit, places = 1, [r.place for r in group]
        for reach, place in zip(group, places, strict=True):
            assert place is not None
            size = reach.size // unit
            result.append(MemoryReach(reach.statement, reach.argument, memory, place, unit, size, reach.domain))
    return result


def _reaches(
    launch: Launch, statements: tuple[KernelStatement, ...], starts: dict[str, int], grid: Formula
) -> Iterator[MemoryReach]:
    for statement in statements:
        touch = statement.touch
        assert touch is not None and isinstance(touch.pointer, SymbolicNumber)
        domain = symbol_domain(touch, grid)
        for piece in touch.pointer.pieces:
            assert piece.root is not None
            argument = launch.plan_arguments[piece.root]
            memory = starts.get(argument.name, argument.address)
            place = piece.value + (argument.address - memory)
            yield MemoryReach(statement, argument, memory, place, 1, touch.itemsize, conjunction(domain, (piece.when,)))
