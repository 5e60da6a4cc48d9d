"""`PrivateMemory`: memory in which each copy of a launch's programs has results of its own.

A copy that loads what it has stored, or adds to it, must not meet the results of others. All arguments that the kernel
writes lie far apart there, each as often as there are copies, with some spare bytes after each: lanes that would leave
the memory of their copy go there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects
from triton_lab.launch.comparison.interpreter_changes import Layers, on
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

ACCESSES = frozenset(name for name, effect in effects.ACCESSES.items() if effect.of_pointers and not effect.waits)
"""The accesses that may go to memory of a copy's own, by name."""
_FIRST, _APART = 1 << 50, 1 << 40  # where the arguments lie: beyond all memory
_SPARE, _PAGE = 256, 4096
_MOST = 1 << 26  # bytes of all copies


@dataclass(frozen=True)
class PrivateMemory:
    """The ``written`` regions of a launch, by start address, and the accesses (by index) that go there alone."""

    launch: Launch
    written: tuple[int, ...]
    accesses: frozenset[int]

    @classmethod
    def of(cls, scope: KernelScope) -> PrivateMemory | None:
        """None if an access may go to memory that is written as well as to other memory, or anywhere."""
        launch, snapshot = scope.launch, scope.launch.snapshot
        ops = [op for op in scope.function.walk() if effects.is_access(op)]
        if snapshot is None or any(op.name not in ACCESSES for op in ops):
            return None
        reached: dict[int, set[int]] = {}
        for op in ops:
            roots = launch.executable.roots.get(op.index)
            owners = [None] if roots is None else [snapshot.owners[k] for k in roots]
            if any(each is None for each in owners):
                return None
            reached[op.index] = {start for each in owners for start in each or ()}
        written = {start for op in ops if effects.writes(op) for start in reached[op.index]}
        if any(starts & written and not starts <= written for starts in reached.values()):
            return None
        there = frozenset(index for index, starts in reached.items() if starts & written)
        return cls(launch, tuple(sorted(written)), there)

    @property
    def _sizes(self) -> Array:
        assert self.launch.snapshot is not None
        known = {held.start: len(held.data) for held in self.launch.snapshot.regions}
        return np.array([known[start] for start in self.written], np.int64)

    @property
    def slot(self) -> int:
        """The bytes from one copy's memory to that of the next."""
        return -(-(int(self._sizes.max()) + _SPARE) // _PAGE) * _PAGE

    @property
    def most(self) -> int:
        """How many copies there may be."""
        return _MOST // (self.slot * len(self.written))

    def _moved(self, address: int) -> int:
        for k, (start, size) in enumerate(zip(self.written, self._sizes.tolist(), strict=True)):
            if start <= address < start + size:
                return address - start + _FIRST + k * _APART
        return address

    def copied(self, copies: int) -> Launch:
        """The launch with memory for so many copies."""
        snapshot = self.launch.snapshot
        assert snapshot is not None
        regions = []
        for held in snapshot.regions:
            if held.start in self.written:
                one = np.zeros(self.slot, np.uint8)
                one[: len(held.data)] = held.data
                data = np.tile(one, copies)
                held = replace(held, start=self._moved(held.start), data=data, nbytes=len(data), file=None)
            regions.append(held)
        owners = tuple(None if own is None else tuple(map(self._moved, own)) for own in snapshot.owners)
        arguments = tuple(
            np.array([self._moved(int(value[0]))]) if own and isinstance(value, np.ndarray) else value
            for value, own in zip(snapshot.arguments, snapshot.owners, strict=True)
        )
        moved = replace(snapshot, arguments=arguments, regions=tuple(regions), owners=owners)
        return replace(self.launch, snapshot=moved)

    def layers(self) -> Layers:
        """The accesses, each to the memory of its copy."""
        sizes, slot, total = self._sizes, self.slot, self.launch.programs
        firsts = _FIRST + _APART * np.arange(len(sizes))

        def nearest(address: Array) -> Array:  # also of one before its start
            return np.asarray(np.clip((address - _FIRST + _APART // 2) // _APART, 0, len(sizes) - 1))

        def own(inner: Implementation, frame: Frame, op: Op, *operands: Value, **told: Any) -> Any:
            at = effects.operands_of(op).address
            pointer, shift = operands[at], frame.programs // total * slot
            if isinstance(pointer, AffineBlock):
                low, high = pointer.spread()
                region = nearest(pointer.base)
                first = firsts[region]
                inside = (pointer.base + low >= first) & (pointer.base + high < first + sizes[region])
                if inside.all():
                    moved: Value = AffineBlock(pointer.base + shift, pointer.strides, pointer.shape)
                    return inner(frame, op, *operands[:at], moved, *operands[at + 1 :], **told)
                pointer = pointer.elements(np.dtype(np.int64))
            where = np.asarray(pointer)
            region = nearest(where)
            first = firsts[region]
            inside = (where >= first) & (where < first + sizes[region])
            where = np.where(inside, where, first + slot - _SPARE // 2)
            moved = where + shift.reshape(-1, *(1,) * (where.ndim - 1))
            return inner(frame, op, *operands[:at], moved, *operands[at + 1 :], **told)

        return dict.fromkeys(ACCESSES, on(self.accesses, own))

    def results(self, memory: Memory, name: str, dtype: np.dtype[Any], count: int, copies: int) -> Array:
        """What each copy has left in an argument of ``count`` elements, ``(copies, count)``."""
        address = self._moved(self.launch.argument(name).address)
        region = memory.holding(address)
        assert region is not None
        offset = address - region.start
        data = region.data.reshape(copies, self.slot)[:, offset : offset + count * dtype.itemsize]
        return np.ascontiguousarray(data).view(dtype)
