"""Masks that are boxes: in each program the true lanes have ``lower <= index < upper`` on every axis.

Comparing an affine block with a bound gives a box, and so does ``&`` of two boxes. A load under a box is a slice, and a
full box costs nothing. So masks cost nothing until they are needed lane by lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock, fits

Array = NDArray[Any]


class MaskBox:
    """A mask that is a box in each program.

    ``lower[k]`` and ``upper[k]`` are int64 arrays ``(programs,)`` or ``(1,)``, one pair per axis. Bounds lie in
    ``[0, shape[k]]``. A program with ``lower >= upper`` on any axis has no true lane.
    """

    __slots__ = ("__weakref__", "_full", "lower", "shape", "upper")

    def __init__(self, lower: tuple[Array, ...], upper: tuple[Array, ...], shape: tuple[int, ...]) -> None:
        self.lower = lower
        self.upper = upper
        self.shape = shape
        self._full: bool | None = None

    def is_full(self) -> bool:
        """Whether every lane of every program is true."""
        if self._full is None:
            self._full = all(
                not low.any() and bool((high == extent).all())
                for low, high, extent in zip(self.lower, self.upper, self.shape, strict=True)
            )
        return self._full

    def elements(self) -> Array:
        """The mask lane by lane: bool, broadcasting to ``(programs, *shape)``."""
        rank = len(self.shape)
        result = np.ones((1,) * (rank + 1), dtype=np.bool_)
        for axis, (low, high, extent) in enumerate(zip(self.lower, self.upper, self.shape, strict=True)):
            if not low.any() and bool((high == extent).all()):
                continue
            index = np.arange(extent).reshape(-1, *(1,) * (rank - 1 - axis))
            bounds = (-1, *(1,) * rank)
            result = result & (index >= low.reshape(bounds)) & (index < high.reshape(bounds))
        return result

    def take(self, rows: Array) -> MaskBox:
        """The same mask for the programs in ``rows``."""
        return MaskBox(tuple(_take(a, rows) for a in self.lower), tuple(_take(a, rows) for a in self.upper), self.shape)

    def groups(self, programs: int) -> list[tuple[Array | None, tuple[slice, ...]]]:
        """Groups of programs with equal bounds, with those bounds as slices.

        ``None`` for the rows means all programs. Programs without a true lane are left out.
        """
        if all(array.size == 1 for array in (*self.lower, *self.upper)):
            slices = tuple(slice(int(a[0]), int(b[0])) for a, b in zip(self.lower, self.upper, strict=True))
            return [(None, slices)] if all(s.start < s.stop for s in slices) else []
        columns = [np.broadcast_to(a, (programs,)) for pair in zip(self.lower, self.upper, strict=True) for a in pair]
        rows = np.stack(columns, axis=1)
        first = rows[0]
        if bool((rows == first).all()):
            kinds, inverse = first[None], None
        else:
            kinds, inverse = np.unique(rows, axis=0, return_inverse=True)
        result: list[tuple[Array | None, tuple[slice, ...]]] = []
        for number, kind in enumerate(kinds):
            slices = tuple(slice(int(kind[i]), int(kind[i + 1])) for i in range(0, len(kind), 2))
            if all(s.start < s.stop for s in slices):
                result.append((None if inverse is None else np.flatnonzero(inverse == number), slices))
        return result


def _take(array: Array, rows: Array) -> Array:
    return array if array.size == 1 else array[rows]


_ZERO = np.zeros(1, np.int64)


def full(shape: tuple[int, ...]) -> MaskBox:
    return MaskBox((_ZERO,) * len(shape), tuple(np.array([n]) for n in shape), shape)


def intersect(a: MaskBox, b: MaskBox) -> MaskBox:
    return MaskBox(
        tuple(np.maximum(x, y) for x, y in zip(a.lower, b.lower, strict=True)),
        tuple(np.minimum(x, y) for x, y in zip(a.upper, b.upper, strict=True)),
        a.shape,
    )


def where_scalar(condition: Array, shape: tuple[int, ...]) -> MaskBox:
    """A mask with all lanes true in the programs in which the scalar ``condition`` holds."""
    box = full(shape)
    return MaskBox(box.lower, (np.where(condition, shape[0], 0), *box.upper[1:]), shape)


def compare(predicate: str, a: AffineBlock, b: AffineBlock) -> MaskBox | None:
    """``a <predicate> b`` for signed ``lt le gt ge eq``; None if the result is no box."""
    if not (fits(a, 62) and fits(b, 62)):
        return None  # the difference might wrap
    shape = a.shape
    difference = AffineBlock(a.base - b.base, tuple(x - y for x, y in zip(a.strides, b.strides, strict=True)), shape)
    axis = difference.only_axis()
    if axis is None:
        low, high = difference.range()
        return _decided(predicate, low, high, shape)
    base = difference.base
    stride = 0 if axis < 0 else difference.strides[axis]
    if stride == 0:
        holds = {"lt": base < 0, "le": base <= 0, "gt": base > 0, "ge": base >= 0, "eq": base == 0}.get(predicate)
        return None if holds is None else where_scalar(holds, shape)
    if stride < 0:
        base, stride = -base, -stride
        predicate = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(predicate, predicate)
    extent = shape[axis]
    lower, upper = np.zeros(1, np.int64), np.array([extent])
    # base + stride * i < 0  <=>  i < ceil(-base / stride); and so on.
    if predicate == "lt":
        upper = -(base // stride)
    elif predicate == "le":
        upper = (-base) // stride + 1
    elif predicate == "gt":
        lower = (-base) // stride + 1
    elif predicate == "ge":
        lower = -(base // stride)
    elif predicate == "eq":
        lower = (-base) // stride
        upper = np.where(base % stride == 0, lower + 1, lower)
    else:
        return None
    box = full(shape)
    lows, highs = list(box.lower), list(box.upper)
    # np.clip would be three times slower on arrays as short as these.
    lows[axis] = np.minimum(np.maximum(lower, 0), extent)
    highs[axis] = np.minimum(np.maximum(upper, 0), extent)
    return MaskBox(tuple(lows), tuple(highs), shape)


def _decided(predicate: str, low: int, high: int, shape: tuple[int, ...]) -> MaskBox | None:
    """The result of a comparison that is the same for all ``low <= a - b <= high``; None if it is not."""
    always = {"lt": high < 0, "le": high <= 0, "gt": low > 0, "ge": low >= 0, "eq": low == high == 0}
    never = {"lt": low >= 0, "le": low > 0, "gt": high <= 0, "ge": high < 0, "eq": low > 0 or high < 0}
    if always.get(predicate):
        return full(shape)
    if never.get(predicate):
        return where_scalar(np.zeros(1, np.bool_), shape)
    return None


def expand_dims(box: MaskBox, axis: int) -> MaskBox:
    one = np.ones(1, np.int64)
    return MaskBox(
        (*box.lower[:axis], _ZERO, *box.lower[axis:]),
        (*box.upper[:axis], one, *box.upper[axis:]),
        (*box.shape[:axis], 1, *box.shape[axis:]),
    )


def broadcast(box: MaskBox, shape: tuple[int, ...]) -> MaskBox:
    upper = tuple(
        np.where(high > low, new, 0) * np.ones(1, np.int64) if old != new else high
        for low, high, old, new in zip(box.lower, box.upper, box.shape, shape, strict=True)
    )
    lower = tuple(_ZERO if old != new else low for low, old, new in zip(box.lower, box.shape, shape, strict=True))
    return MaskBox(lower, upper, shape)


def permute(box: MaskBox, order: Sequence[int]) -> MaskBox:
    return MaskBox(
        tuple(box.lower[axis] for axis in order),
        tuple(box.upper[axis] for axis in order),
        tuple(box.shape[axis] for axis in order),
    )
