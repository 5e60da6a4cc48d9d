"""The accesses of a kernel on symbols: address, mask and path of each load, store and atomic."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.ir import Op
from triton_lab.ir.provenance import ACCESSES

from . import kernel_arithmetic as arithmetic
from .conditions import TRUE
from .kernel_facts import Facts, lane
from .kernel_path import Path
from .kernel_rules import Scene, rule
from .kernel_values import Descriptor, Number, Truth, Unknown, Value, both


@dataclass(frozen=True)
class Touch:
    """One access operation, reached along one path. ``mask`` is that of the operation, without the path."""

    op: Op
    kind: str
    pointer: Number | Unknown
    mask: Truth
    shape: tuple[int, ...]
    itemsize: int
    facts: Facts
    path: Path | None = None


def touches(scene: Scene, op: Op, operands: list[Value]) -> Touch | None:
    """The access that ``op`` is; None for other operations."""
    if op.name not in ACCESSES:
        return None
    described = scene.type(op.operands[ACCESSES[op.name]])
    pointee = described.pointee
    assert pointee is not None
    kind = "atomic" if "atomic" in op.name or "reduce" in op.name else "store" if _stores(op) else "load"
    size = max(1, pointee.bits // 8)
    if described.is_descriptor:
        shape = pointee.shape
        if op.name == "tt.descriptor_gather":
            shape = scene.type(op.results[0]).shape
        elif op.name == "tt.descriptor_scatter":
            shape = scene.type(op.operands[3]).shape
        facts = scene.facts.block(shape)
        pointer, mask = _described(scene, op, operands, facts, size)
    else:
        shape = described.shape
        facts = scene.facts.block(shape)
        found = operands[0]
        assert isinstance(found, (Number, Unknown))
        pointer = found
        mask = _mask(op, operands)
    return Touch(op, kind, pointer, mask, shape, size, facts)


def _stores(op: Op) -> bool:
    return op.name in ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter")


# The operand that holds the mask, if there is one.
_MASKS = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2, "tt.atomic_load": 1, "tt.atomic_store": 2}


def _mask(op: Op, operands: list[Value]) -> Truth:
    place = _MASKS.get(op.name)
    if place is None or len(operands) <= place:
        return Truth(TRUE)
    if op.name == "tt.load" and not op.attributes.get("operandSegmentSizes", (1, 1))[1]:
        return Truth(TRUE)
    mask = operands[place]
    return mask if isinstance(mask, Truth) else Truth(TRUE, mask if isinstance(mask, Unknown) else None)


def _described(scene: Scene, op: Op, operands: list[Value], facts: Facts, size: int) -> tuple[Number | Unknown, Truth]:
    """Address and mask of a block of a described tensor: lanes outside it are turned off."""
    descriptor = operands[0]
    if isinstance(descriptor, Unknown):
        return descriptor, Truth(TRUE)
    assert isinstance(descriptor, Descriptor)
    rank = len(descriptor.extents)
    if op.name in ("tt.descriptor_gather", "tt.descriptor_scatter"):
        corner = [operands[1], operands[2]]  # rows have a lane each already
        inside = [Number.of(0), Number.of(lane(1))]
    else:
        corner = operands[-rank:]
        inside = [Number.of(lane(axis)) for axis in range(rank)]
    pointer: Number | Unknown = descriptor.base
    mask = Truth(TRUE)
    for index, within, extent, stride in zip(corner, inside, descriptor.extents, descriptor.strides, strict=True):
        for value in (index, extent, stride, pointer):
            if isinstance(value, Unknown):
                return value, Truth(TRUE, value)
        assert isinstance(index, Number) and isinstance(extent, Number) and isinstance(stride, Number)
        place = arithmetic.add(index, within, facts)
        assert isinstance(place, Number) and isinstance(pointer, Number)
        for relation, bound in ((">=", Number.of(0)), ("<", extent)):
            mask = both(mask, arithmetic.compare(relation, place, bound, facts), facts)
        moved = arithmetic.multiply(place, arithmetic.scaled(stride, size), facts)
        if isinstance(moved, Unknown):
            return moved, mask
        pointer = arithmetic.add(pointer, moved, facts)
    return pointer, mask


@rule("tt.make_tensor_descriptor")
def make_tensor_descriptor(scene: Scene, op: Op, base: Number, *rest: Value) -> Value:
    rank = len(rest) // 2
    return Descriptor(base, tuple(rest[:rank]), tuple(rest[rank:]))
