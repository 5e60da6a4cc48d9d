"""The accesses of a kernel on symbols: address, mask and path of each load, store and atomic."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.ir import Op, effects
from triton_lab.ir.effects import Operands
from triton_lab.polyhedral.core.affine_conditions import TRUE
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic as arithmetic
from triton_lab.polyhedral.kernels.symbolic.control_path import Path
from triton_lab.polyhedral.kernels.symbolic.rule_table import Scene, rule
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts, lane
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicDescriptor,
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
    both,
)


@dataclass(frozen=True)
class SymbolicAccess:
    """One access operation, reached along one path. ``mask`` is the operation's own, without the path."""

    op: Op
    kind: str
    pointer: SymbolicNumber | Unknown
    mask: Truth
    shape: tuple[int, ...]
    itemsize: int
    facts: Facts
    path: Path | None = None

    @property
    def root(self) -> int | None:
        """The only argument that the pointer comes from; None if there are others, or it is not known."""
        roots = {piece.root for piece in self.pointer.pieces} if isinstance(self.pointer, SymbolicNumber) else {None}
        return roots.pop() if len(roots) == 1 else None


def touches(scene: Scene, op: Op, operands: list[Value]) -> SymbolicAccess | None:
    """The access of ``op``; None for operations without one."""
    if not effects.is_access(op):
        return None
    at = effects.operands_of(op)
    described = scene.type(op.operands[at.address])
    pointee = described.pointee
    assert pointee is not None
    size = max(1, pointee.bits // 8)
    if described.is_descriptor:
        shape = _by_rows(scene, op, at) or pointee.shape
        facts = scene.facts.block(shape)
        pointer, mask = _described(scene, op, operands, facts, size)
    else:
        shape = described.shape
        facts = scene.facts.block(shape)
        found = operands[at.address]
        assert isinstance(found, (SymbolicNumber, Unknown))
        pointer = found
        mask = Truth(TRUE) if at.mask is None else _mask(operands[at.mask])
    return SymbolicAccess(op, effects.ACCESSES[op.name].kind, pointer, mask, shape, size, facts)


def _by_rows(scene: Scene, op: Op, at: Operands) -> tuple[int, ...] | None:
    """The shape of an access that takes a block of row numbers; None for other accesses."""
    if not any(scene.type(op.operands[position]).shape for position in at.coordinates):
        return None
    return scene.type(op.results[0] if at.value is None else op.operands[at.value]).shape


def _mask(mask: Value) -> Truth:
    return mask if isinstance(mask, Truth) else Truth(TRUE, mask if isinstance(mask, Unknown) else None)


def _described(
    scene: Scene, op: Op, operands: list[Value], facts: Facts, size: int
) -> tuple[SymbolicNumber | Unknown, Truth]:
    """The address and mask of a block of a descriptor's tensor; the mask turns off lanes outside it."""
    at = effects.operands_of(op)
    descriptor = operands[at.address]
    if isinstance(descriptor, Unknown):
        return descriptor, Truth(TRUE)
    assert isinstance(descriptor, SymbolicDescriptor)
    rank = len(descriptor.extents)
    corner = [operands[position] for position in at.coordinates]
    inside = [SymbolicNumber.of(lane(axis)) for axis in range(rank)]
    if _by_rows(scene, op, at) is not None:
        inside[0] = SymbolicNumber.of(0)  # each lane already has its own row
    pointer: SymbolicNumber | Unknown = descriptor.base
    mask = Truth(TRUE)
    for index, within, extent, stride in zip(corner, inside, descriptor.extents, descriptor.strides, strict=True):
        for value in (index, extent, stride, pointer):
            if isinstance(value, Unknown):
                return value, Truth(TRUE, value)
        assert (
            isinstance(index, SymbolicNumber)
            and isinstance(extent, SymbolicNumber)
            and isinstance(stride, SymbolicNumber)
        )
        place = arithmetic.add(index, within, facts)
        assert isinstance(place, SymbolicNumber) and isinstance(pointer, SymbolicNumber)
        for relation, bound in ((">=", SymbolicNumber.of(0)), ("<", extent)):
            mask = both(mask, arithmetic.compare(relation, place, bound, facts), facts)
        moved = arithmetic.multiply(place, arithmetic.scaled(stride, size), facts)
        if isinstance(moved, Unknown):
            return moved, mask
        pointer = arithmetic.add(pointer, moved, facts)
    return pointer, mask


@rule("tt.make_tensor_descriptor")
def make_tensor_descriptor(scene: Scene, op: Op, base: SymbolicNumber, *rest: Value) -> Value:
    rank = len(rest) // 2
    return SymbolicDescriptor(base, tuple(rest[:rank]), tuple(rest[rank:]))
