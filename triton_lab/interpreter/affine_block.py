"""Integer blocks that are affine in the lane, stored as a base and strides instead of elements.

Nearly every address in a kernel is ``base(program) + i * s0 + j * s1``. In this form, arithmetic on offsets costs one
number per program instead of one per lane. A load becomes a strided slice, bounds are two comparisons, and pictures and
proofs get the access function itself.

An `AffineBlock` always equals the wrapped machine integers. An operation whose result might leave its type's range
returns None, and the caller computes on elements instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class AffineBlock:
    """``base[p] + sum(strides[k] * index[k])`` over a block of ``shape``.

    ``base`` is int64 of shape ``(programs,)``, or ``(1,)`` where all programs agree. ``strides`` are Python integers,
    one per axis. Pointers are byte addresses with strides in bytes.
    """

    __slots__ = ("__weakref__", "_array", "_range", "base", "shape", "strides")

    def __init__(self, base: Array, strides: tuple[int, ...], shape: tuple[int, ...]) -> None:
        self.base = base
        self.strides = strides
        self.shape = shape
        self._array: Array | None = None
        self._range: tuple[int, int] | None = None

    def spread(self) -> tuple[int, int]:
        """The lowest and the highest offset of lanes from the base: (<= 0, >= 0)."""
        low = high = 0
        for stride, extent in zip(self.strides, self.shape, strict=True):
            reach = stride * (extent - 1)
            if reach < 0:
                low += reach
            else:
                high += reach
        return low, high

    def range(self) -> tuple[int, int]:
        """The least and the greatest element over all programs."""
        if self._range is None:
            low, high = self.spread()
            base = self.base
            if base.size == 1:
                only = int(base[0])
                self._range = only + low, only + high
            else:
                self._range = int(base.min()) + low, int(base.max()) + high
        return self._range

    def elements(self, dtype: np.dtype[Any]) -> Array:
        """The elements, as an array that broadcasts to ``(programs, *shape)``."""
        if self._array is None or self._array.dtype != dtype:
            rank = len(self.shape)
            result = self.base.reshape(-1, *(1,) * rank)
            for axis, (stride, extent) in enumerate(zip(self.strides, self.shape, strict=True)):
                if stride and extent > 1:
                    line = np.arange(0, stride * extent, stride, dtype=np.int64)
                    result = result + line.reshape(-1, *(1,) * (rank - 1 - axis))
            self._array = result.astype(dtype, copy=False)
        return self._array

    def only_axis(self) -> int | None:
        """The one axis along which elements change; -1 if none does, None if several do."""
        found = -1
        for axis, stride in enumerate(self.strides):
            if stride and self.shape[axis] > 1:
                if found >= 0:
                    return None
                found = axis
        return found

    def take(self, rows: Array) -> AffineBlock:
        """The same block for the programs in ``rows``."""
        return self if self.base.size == 1 else AffineBlock(self.base[rows], self.strides, self.shape)


def are_lanes_apart(strides: Sequence[int], shape: Sequence[int], size: int) -> bool:
    """Whether no two lanes of a block of pointers share a byte. ``strides`` and an element's ``size`` are in bytes."""
    reach = size - 1
    for stride, extent in sorted((abs(stride), extent) for stride, extent in zip(strides, shape, strict=True)):
        if extent > 1 and stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


def are_lanes_aligned(base: Array, strides: Sequence[int], size: int) -> bool:
    """Whether all lanes of a block of pointers are multiples of an element's ``size`` in bytes."""
    if size == 1:
        return True
    if int(base[0]) % size or any(stride % size for stride in strides):
        return False
    return base.size == 1 or not (base % size).any()


def fits(value: AffineBlock, bits: int) -> bool:
    """Whether every element is a signed integer of ``bits`` bits."""
    low, high = value.range()
    limit = 1 << (bits - 1)
    return -limit <= low and high < limit


def splat(scalar: Array, shape: tuple[int, ...]) -> AffineBlock:
    """A block whose lanes all hold their program's scalar."""
    return AffineBlock(scalar.astype(np.int64, copy=False), (0,) * len(shape), shape)


def add(a: AffineBlock, b: AffineBlock, bits: int) -> AffineBlock | None:
    strides = tuple(x + y for x, y in zip(a.strides, b.strides, strict=True))
    return _checked(AffineBlock(a.base + b.base, strides, a.shape), bits)


def subtract(a: AffineBlock, b: AffineBlock, bits: int) -> AffineBlock | None:
    strides = tuple(x - y for x, y in zip(a.strides, b.strides, strict=True))
    return _checked(AffineBlock(a.base - b.base, strides, a.shape), bits)


def multiply(a: AffineBlock, b: AffineBlock, bits: int) -> AffineBlock | None:
    """The product. None unless one factor is equal in all lanes and programs, or both are equal in all lanes."""
    if b.base.size != 1 or any(b.strides):
        a, b = b, a
    low, high = a.range()
    least, most = b.range()
    # The ranges bound the product, so that int64 does not wrap below.
    if max(abs(low), abs(high)) * max(abs(least), abs(most)) >= 1 << 62:
        return None
    if not any(b.strides) and b.base.size == 1:
        factor = int(b.base[0])
        return _checked(AffineBlock(a.base * factor, tuple(s * factor for s in a.strides), a.shape), bits)
    if not any(a.strides) and not any(b.strides):
        return _checked(AffineBlock(a.base * b.base, a.strides, a.shape), bits)
    return None


def _checked(value: AffineBlock, bits: int) -> AffineBlock | None:
    return value if fits(value, bits) else None


def expand_dims(value: AffineBlock, axis: int) -> AffineBlock:
    strides, shape = value.strides, value.shape
    return AffineBlock(value.base, (*strides[:axis], 0, *strides[axis:]), (*shape[:axis], 1, *shape[axis:]))


def broadcast(value: AffineBlock, shape: tuple[int, ...]) -> AffineBlock:
    strides = tuple(0 if old == 1 else stride for stride, old in zip(value.strides, value.shape, strict=True))
    return AffineBlock(value.base, strides, shape)


def permute(value: AffineBlock, order: Sequence[int]) -> AffineBlock:
    return AffineBlock(
        value.base, tuple(value.strides[axis] for axis in order), tuple(value.shape[axis] for axis in order)
    )


def with_shape(value: AffineBlock, shape: tuple[int, ...]) -> AffineBlock | None:
    """The block reshaped, if only axes of length one come or go; None otherwise."""
    kept = [(s, n) for s, n in zip(value.strides, value.shape, strict=True) if n != 1]
    if [n for _, n in kept] != [n for n in shape if n != 1]:
        return None
    strides = iter([s for s, _ in kept])
    return AffineBlock(value.base, tuple(0 if n == 1 else next(strides) for n in shape), shape)
