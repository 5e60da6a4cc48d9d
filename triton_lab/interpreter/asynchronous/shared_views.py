"""Buffers in shared or tensor memory: bytes at the offsets of their layouts, and views of them, which alias.

A `Buffer` is one allocation, with bytes for each program. A `SharedView` is a part of it, as a kernel's value:
indexing, slicing and transposing it give other views of the same bytes.

A block that was written whole is kept as it is, until another view touches the same bytes: most blocks are read by the
view that they were written by, and are never copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_UNWRITTEN = 0xFF  # NaN in each float, -1 in each integer


class BlockOffsets:
    """Where the elements of a block lie: ``offsets``, bytes from the block's first one, for elements of ``size`` bytes.

    Placements are compared by identity. What is derived from one is made once (`derived`).
    """

    def __init__(self, offsets: Array, size: int) -> None:
        self.offsets = offsets
        self.size = size
        self._derived: dict[Any, Any] = {}

    @cached_property
    def low(self) -> int:
        """Its first byte."""
        return int(self.offsets.min())

    @cached_property
    def high(self) -> int:
        """The byte after its last one."""
        return int(self.offsets.max()) + self.size

    def derived(self, key: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made once for each ``key``."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    @property
    def stride(self) -> int:
        """The bytes from one part along axis 0 to the next."""
        firsts = self.offsets.reshape(len(self.offsets), -1)[:2, 0]
        return int(firsts[-1] - firsts[0]) if len(firsts) > 1 else self.high

    @property
    def inner(self) -> BlockOffsets:
        """That of one part along axis 0."""
        made: BlockOffsets = self.derived("inner", lambda: BlockOffsets(self.offsets[0], self.size))
        return made

    def sliced(self, starts: tuple[int, ...], shape: tuple[int, ...]) -> BlockOffsets:
        """That of a slice."""
        part = tuple(slice(start, start + size) for start, size in zip(starts, shape, strict=True))
        made: BlockOffsets = self.derived((starts, shape), lambda: BlockOffsets(self.offsets[part], self.size))
        return made

    def reshaped(self, shape: tuple[int, ...]) -> BlockOffsets:
        """That of the same elements in another shape."""
        made: BlockOffsets = self.derived(shape, lambda: BlockOffsets(self.offsets.reshape(shape), self.size))
        return made

    def transposed(self, axes: tuple[int, ...]) -> BlockOffsets:
        """That of the same elements in another order of axes."""
        made: BlockOffsets = self.derived(("axes", axes), lambda: BlockOffsets(self.offsets.transpose(axes), self.size))
        return made

    def meets(self, other: BlockOffsets, ahead: int) -> bool:
        """Whether it shares a byte with ``other``, whose first byte is ``ahead`` bytes after its own."""
        if self is other and ahead == 0:
            return True
        if other.low + ahead >= self.high or other.high + ahead <= self.low:
            return False
        met: bool = self.derived(("meets", other, ahead), lambda: self._meets(other, ahead))
        return met

    def _meets(self, other: BlockOffsets, ahead: int) -> bool:
        low = min(self.low, other.low + ahead)
        mine = np.zeros(max(self.high, other.high + ahead) - low, bool)
        for k in range(self.size):
            mine[self.offsets - low + k] = True
        return bool(any(mine[other.offsets + ahead - low + k].any() for k in range(other.size)))


@dataclass(slots=True)
class _Block:
    """A block that was written whole and is not in the bytes yet: ``values`` in the shape of ``placement``."""

    base: int
    placement: BlockOffsets
    values: Array


class Buffer:
    """An allocation of ``size`` bytes for each of ``programs`` (linear numbers, ascending), called ``name``.

    ``shared``: whether it is in shared memory, else it is in tensor memory. ``site`` is the index of the operation that
    allocates it.
    """

    def __init__(self, programs: Array, size: int, name: str, shared: bool = True, site: int = -1) -> None:
        self.programs = programs
        self.name = name
        self.size = -(-size // 16) * 16
        self.accesses: Any = None  # `BufferAccesses`, which knows this class
        self.shared = shared
        self.site = site
        self.barriers: Any = None
        self._bytes: Array | None = None
        self._written: Array | None = None  # which of the bytes
        self._blocks: list[_Block] = []

    @property
    def bytes(self) -> Array:
        """The bytes, ``(programs, size)``; made with the first block that has to lie there."""
        if self._bytes is None:
            self._bytes = np.full((len(self.programs), self.size), _UNWRITTEN, np.uint8)
        return self._bytes

    @property
    def written(self) -> Array:
        """Which bytes were written, apart from the blocks that are kept, ``(programs, size)``."""
        if self._written is None:
            self._written = np.zeros((len(self.programs), self.size), bool)
        return self._written

    def rows(self, programs: Array) -> Array:
        """The rows of some of the programs."""
        return np.searchsorted(self.programs, programs)

    def has_all(self, programs: Array) -> bool:
        """Whether these are all of its programs."""
        return len(programs) == len(self.programs)

    def whole(self, base: int, placement: BlockOffsets, dtype: np.dtype[Any]) -> Array | None:
        """The block that was written at this place, if nothing else has touched it since; else None."""
        for block in self._blocks:
            if block.base == base and block.placement is placement and block.values.dtype == dtype:
                return block.values
        return None

    def keep(self, base: int, placement: BlockOffsets, values: Array) -> None:
        """Keep a block that all programs have written."""
        self._blocks = [one for one in self._blocks if one.base != base or one.placement is not placement]
        self.settle(base, placement)
        self._blocks.append(_Block(base, placement, values))

    def settle(self, base: int, placement: BlockOffsets) -> None:
        """Write those kept blocks into the bytes that share some with this place."""
        left = []
        for block in self._blocks:
            if placement.meets(block.placement, block.base - base):
                size = block.placement.size
                # One index for all programs: NumPy then moves whole rows of elements.
                numbers = (block.base + block.placement.offsets) // size
                self.bytes.view(block.values.dtype)[:, numbers] = block.values
                self.written.reshape(len(self.programs), -1, size)[:, numbers] = True
            else:
                left.append(block)
        self._blocks = left


@dataclass(frozen=True, slots=True)
class SharedView:
    """A part of ``buffer``: byte ``base`` of each program, ``(programs,)`` or ``(1,)``, and where its elements lie from
    there. ``axes``: the order of its axes among those of ``placement``; None: the same."""

    buffer: Buffer
    base: Array
    placement: BlockOffsets
    dtype: np.dtype[Any]
    axes: tuple[int, ...] | None = field(default=None)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the block."""
        shape = self.placement.offsets.shape
        return shape if self.axes is None else tuple(shape[axis] for axis in self.axes)

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self.placement.offsets.size * self.dtype.itemsize

    @property
    def laid(self) -> BlockOffsets:
        """Where its elements lie, with its axes in their order."""
        return self.placement if self.axes is None else self.placement.transposed(self.axes)

    def take(self, rows: Array) -> SharedView:
        """The same part, for some of its programs."""
        base = self.base if len(self.base) == 1 else self.base[rows]
        return SharedView(self.buffer, base, self.placement, self.dtype, self.axes)

    def based(self, programs: Array) -> Array:
        """Its first byte for each of some programs."""
        return np.broadcast_to(self.base, (len(programs),))

    def outside(self, programs: Array) -> Array:
        """Those programs for which it is not within its buffer."""
        first = self.based(programs)
        wrong = (first + self.placement.low < 0) | (first + self.placement.high > self.buffer.size)
        return programs[wrong]

    def fixed(self) -> int | None:
        """Its first byte, if that is the same for all of its programs."""
        first = int(self.base[0])
        return first if len(self.base) == 1 or (self.base == first).all() else None

    def read(self, programs: Array) -> Array:
        """The elements, ``(programs, *block)``."""
        return self.turned(self._read(programs))

    def turned(self, found: Array) -> Array:
        """Elements as they lie in memory, with the axes of this part."""
        return found if self.axes is None else found.transpose(0, *(axis + 1 for axis in self.axes))

    def turned_back(self, values: Array) -> Array:
        """Elements of this part, with their axes as in memory."""
        return values if self.axes is None else values.transpose(0, *(1 + int(axis) for axis in np.argsort(self.axes)))

    def _read(self, programs: Array) -> Array:
        base = self.fixed()
        if base is not None:
            whole = self.buffer.whole(base, self.placement, self.dtype)
            if whole is not None:
                return whole if self.buffer.has_all(programs) else whole[self.buffer.rows(programs)]
        for one in {int(byte) for byte in self.base}:
            self.buffer.settle(one, self.placement)
        elements = self.buffer.bytes.view(self.dtype)
        if base is not None:
            found: Array = elements[:, (base + self.placement.offsets) // self.dtype.itemsize]
            return found if self.buffer.has_all(programs) else found[self.buffer.rows(programs)]
        rows, numbers = self.places(programs)
        found = elements[rows, numbers]
        return found

    def write(self, programs: Array, values: Array) -> None:
        """Store elements, that broadcast to ``(programs, *block)``."""
        values = self.turned_back(np.broadcast_to(values, (len(programs), *self.shape)))
        base = self.fixed()
        if base is not None and self.buffer.has_all(programs):
            self.buffer.keep(base, self.placement, values)
            return
        for one in {int(byte) for byte in self.base}:
            self.buffer.settle(one, self.placement)
        rows, numbers = self.places(programs)
        self.buffer.bytes.view(self.dtype)[rows, numbers] = values
        self.buffer.written.reshape(len(self.buffer.programs), -1, self.dtype.itemsize)[rows, numbers] = True

    def unwritten(self, programs: Array) -> Array:
        """Those programs for which some of its bytes were never written."""
        base = self.fixed()
        if base is not None and self.buffer.whole(base, self.placement, self.dtype) is not None:
            return programs[:0]
        for one in {int(byte) for byte in self.base}:
            self.buffer.settle(one, self.placement)
        rows, numbers = self.places(programs)
        size = self.dtype.itemsize
        marks = self.buffer.written.reshape(len(self.buffer.programs), -1, size)[rows, numbers]
        return programs[~marks.reshape(len(programs), -1).all(1)]

    def places(self, programs: Array) -> tuple[Array, Array]:
        """Rows and numbers of its elements, its axes as in memory: ``(programs, *1)`` and ``(programs, *block)``."""
        ones = (1,) * self.placement.offsets.ndim
        numbers = (self.based(programs).reshape(-1, *ones) + self.placement.offsets) // self.dtype.itemsize
        return self.buffer.rows(programs).reshape(-1, *ones), numbers
