"""The places that a launch has touched, kept for launches that differ from it only in where their memory lies.

The outline of a kernel computes no number from a pointer, so that each address is a pointer that the launch was given,
plus what the other arguments and the grid decide. Nothing is kept of an access whose pointer may be one of several.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Op
from triton_lab.ir.effects import writes
from triton_lab.ir.value_flow import HANDS_ON
from triton_lab.native.analysis.address_slice import Outline

if TYPE_CHECKING:
    from triton_lab.interpreter.bound_plan import Executable
    from triton_lab.interpreter.machine import Machine
    from triton_lab.interpreter.observers import PlacesObserver

Array = NDArray[Any]
Pointer: TypeAlias = "AffineBlock | Array"
Mask: TypeAlias = "MaskBox | Array | None"

_KEPT = "native.known_places"
# How many launches a kernel's places are kept of, and the most bytes and accesses of one of them.
_LAUNCHES, _BYTES, _ACCESSES = 8, 1 << 20, 1 << 10
# An address may be aligned to elements of at most so many bytes.
_ALIGNED = 16


@dataclass(slots=True)
class KnownPlaces:
    """What was told of one launch: its accesses, where the pointers of its arguments pointed, and its loop iterations.

    ``kept`` is for observers: what they found out about a launch with these places.
    """

    origins: Sequence[int]
    accesses: list[tuple[Op, Array, Pointer, Mask, tuple[int, ...]]] = field(default_factory=list)
    steps: int = 0
    kept: dict[Hashable, Any] = field(default_factory=dict)
    nbytes: int = 0

    @property
    def fits(self) -> bool:
        """Whether it is small enough to be kept."""
        return self.nbytes <= _BYTES and len(self.accesses) <= _ACCESSES

    def add(self, op: Op, programs: Array, pointer: Pointer, mask: Mask, shape: tuple[int, ...]) -> None:
        """Note the next access of the launch, as an observer is told of it."""
        if self.fits:
            self.nbytes += programs.nbytes + _weight(pointer) + _weight(mask)
            self.accesses.append((op, programs, _moved(pointer, 0), mask, shape))

    def tell(self, machine: Machine, observer: PlacesObserver, roots: PointerRoots) -> None:
        """Tell ``observer`` of the same accesses in the memory of another launch, which ``machine`` runs."""
        types = machine.executable.plan.kernel.types
        shift = [new - old for new, old in zip(roots.origins(machine), self.origins, strict=True)]
        moves = {op: shift[at] for op, at in roots.of.items()}
        for op, programs, pointer, mask, shape in self.accesses:
            observer.touched(types, op, programs, _moved(pointer, moves[op.index]), mask, shape)
        machine.steps = self.steps


@dataclass(frozen=True, slots=True)
class PointerRoots:
    """Which pointer each access of a kernel comes from.

    ``pointers`` are the positions of these arguments, ``written`` those among them that a store comes from, ``of`` the
    number of an operation's own in ``pointers``, and ``numbers`` are the positions of the other arguments of the
    outline.
    """

    pointers: tuple[int, ...]
    written: frozenset[int]
    of: dict[int, int]
    numbers: tuple[int, ...]

    @classmethod
    def found(cls, executable: Executable, outline: Outline) -> PointerRoots | None:
        """Those of a kernel with this outline; None if an address may be more than a pointer and a distance."""
        kernel, ops = executable.plan.kernel, [access.op for access in outline.accesses.values()]
        roots = {op.index: executable.roots.get(op.index) for op in ops}
        if any(known is None or len(known) != 1 for known in roots.values()) or _computes_with_pointers(outline):
            return None
        root = {op: next(iter(known)) for op, known in roots.items() if known}
        pointers = tuple(sorted(set(root.values())))
        return cls(
            pointers,
            frozenset(root[op.index] for op in ops if writes(op)),
            {op: pointers.index(at) for op, at in root.items()},
            tuple(k for k in outline.arguments if not kernel.types[kernel.arguments[k]].is_pointer),
        )

    def origins(self, machine: Machine) -> Sequence[int]:
        """Where the pointers of a launch point."""
        return [int(machine.arguments[at][0]) for at in self.pointers]  # type: ignore[index]

    def key(self, machine: Machine) -> Hashable | None:
        """What decides the places of a launch, besides where its memory lies; None if that is not known."""
        around: list[Hashable] = []
        allowed = {at: machine.allowed(op) for op, at in self.of.items()}
        for at, origin in enumerate(self.origins(machine)):
            regions = allowed[at]
            if regions is None or len(regions) > 1:
                return None
            around.append(origin % _ALIGNED)
            for region in regions:
                may = self.pointers[at] not in self.written or region.writable
                around.append((region.start - origin, region.stop - origin, may))
        numbers = tuple(machine.arguments[at].tobytes() for at in self.numbers)  # type: ignore[union-attr]
        return machine.grid, machine.batch_size(), numbers, tuple(around)


@dataclass(slots=True)
class PlacesMemory:
    """The places of the latest launches of a kernel, by `PointerRoots.key`."""

    roots: PointerRoots | None
    launches: dict[Hashable, KnownPlaces] = field(default_factory=dict)

    @classmethod
    def of(cls, executable: Executable, outline: Outline) -> PlacesMemory:
        """The memory of a kernel, which lies with it."""
        known: PlacesMemory | None = executable.kept.get(_KEPT)
        if known is None:
            known = executable.kept[_KEPT] = cls(PointerRoots.found(executable, outline))
        return known

    def keep(self, key: Hashable, places: KnownPlaces) -> None:
        """Keep the places of one more launch, in place of the oldest if there are many."""
        while len(self.launches) >= _LAUNCHES:
            self.launches.pop(next(iter(self.launches), None), None)
        self.launches[key] = places


def _computes_with_pointers(outline: Outline) -> bool:
    """Whether an operation of the outline makes something from a pointer that is no pointer."""
    kernel = outline.executable.plan.kernel
    return any(
        any(kernel.types[value].is_pointer for value in op.operands)
        and not all(kernel.types[value].is_pointer for value in op.results)
        for op in kernel.walk()
        if op.name not in HANDS_ON
    )


def _moved(pointer: Pointer, distance: int) -> Pointer:
    """The pointer at a distance in bytes, without the elements that it may have cached."""
    if isinstance(pointer, AffineBlock):
        return AffineBlock(pointer.base + distance if distance else pointer.base, pointer.strides, pointer.shape)
    return pointer + distance if distance else pointer


def _weight(value: Pointer | Mask) -> int:
    """About the bytes that a value takes."""
    if isinstance(value, MaskBox):
        return sum(array.nbytes for array in (*value.lower, *value.upper))
    return 0 if value is None else np.asarray(value.base if isinstance(value, AffineBlock) else value).nbytes
