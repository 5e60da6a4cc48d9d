"""The run-time values of a kernel, and how to select and merge them by program.

A value is one of

- an array that broadcasts to ``(programs, *block)``: any axis may be 1 if the array is the same along it, so splats
  and broadcasts cost nothing and elementwise work is done once;
- an `AffineBlock` of integers or addresses;
- a `MaskBox`, a mask;
- a `Descriptor`, for tensor descriptors;
- a `SharedView`, for a part of shared or tensor memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.dtypes import dtype_of, unsigned
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Type
from triton_lab.localization import _

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A tensor descriptor: ``base`` is a byte address, ``strides`` count elements.

    All fields hold arrays ``(programs,)`` or ``(1,)``. ``padding_nan``: lanes outside ``shape`` read as NaN, else as
    zero.
    """

    base: Array
    shape: tuple[Array, ...]
    strides: tuple[Array, ...]
    padding_nan: bool = False

    def take(self, rows: Array) -> Descriptor:
        return Descriptor(
            _rows(self.base, rows),
            tuple(_rows(a, rows) for a in self.shape),
            tuple(_rows(a, rows) for a in self.strides),
            self.padding_nan,
        )


Value: TypeAlias = Array | AffineBlock | MaskBox | Descriptor | SharedView


def _rows(array: Array, rows: Array) -> Array:
    return array if array.shape[0] == 1 else array[rows]


def take(value: Value, rows: Array) -> Value:
    """``value`` for only the programs in ``rows``."""
    if isinstance(value, np.ndarray):
        return _rows(value, rows)
    return value.take(rows)


def elements(value: Value, type: Type) -> Array:
    """``value`` as an array that broadcasts to ``(programs, *block)``."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, AffineBlock):
        return value.elements(dtype_of(type))
    if isinstance(value, MaskBox):
        return value.elements()
    raise TypeError(_("a descriptor or a part of shared memory has no elements"))


def spread(value: Value, type: Type) -> Array:
    """``value`` as an array whose block axes have their full extent (a view)."""
    array = elements(value, type)
    if array.shape[1:] == type.shape:
        return array
    return np.broadcast_to(array, (array.shape[0], *type.shape))


def merge(pieces: Sequence[tuple[Array, Value]], programs: int, type: Type) -> Value:
    """One value, merged from those of disjoint sets of programs, each given as ``(rows, value for these rows)``."""
    if len(pieces) == 1 and len(pieces[0][0]) == programs:
        return pieces[0][1]
    values = [value for _unused, value in pieces]
    if all(isinstance(value, AffineBlock) for value in values):
        first = values[0]
        assert isinstance(first, AffineBlock)
        if all(isinstance(v, AffineBlock) and v.strides == first.strides for v in values):
            base = np.zeros(programs, np.int64)
            for rows, value in pieces:
                assert isinstance(value, AffineBlock)
                base[rows] = value.base
            return AffineBlock(base, first.strides, first.shape)
    if isinstance(values[0], Descriptor):
        return _merge_descriptors(pieces, programs)
    if isinstance(values[0], SharedView):
        return _merge_views(pieces, programs)
    arrays = [(rows, elements(value, type)) for rows, value in pieces]
    shape = np.broadcast_shapes(*(array.shape[1:] for _unused, array in arrays))
    result = np.zeros((programs, *shape), arrays[0][1].dtype)
    for rows, array in arrays:
        result[rows] = array
    return result


def _merge_views(pieces: Sequence[tuple[Array, Value]], programs: int) -> SharedView:
    views = [(rows, value) for rows, value in pieces if isinstance(value, SharedView)]
    first = views[0][1]
    alike = [
        (view.buffer, view.placement, view.axes) == (first.buffer, first.placement, first.axes)
        for _unused, view in views
    ]
    if not all(alike):
        raise ValueError(_("programs that run together use different buffers here"))
    base = np.zeros(programs, np.int64)
    for rows, view in views:
        base[rows] = view.base
    return SharedView(first.buffer, base, first.placement, first.dtype, first.axes)


def _merge_descriptors(pieces: Sequence[tuple[Array, Value]], programs: int) -> Descriptor:
    chosen = [(rows, value) for rows, value in pieces if isinstance(value, Descriptor)]
    rank = len(chosen[0][1].shape)

    def joined(pick: Any) -> Array:
        result = np.zeros(programs, np.int64)
        for rows, value in chosen:
            result[rows] = pick(value)
        return result

    return Descriptor(
        joined(lambda d: d.base),
        tuple(joined(lambda d, k=k: d.shape[k]) for k in range(rank)),
        tuple(joined(lambda d, k=k: d.strides[k]) for k in range(rank)),
        chosen[0][1].padding_nan,
    )


__all__ = [
    "AffineBlock",
    "Descriptor",
    "MaskBox",
    "Value",
    "dtype_of",
    "elements",
    "merge",
    "spread",
    "take",
    "unsigned",
]


def same(before: Sequence[Value], after: Sequence[Value]) -> bool:
    """Whether values stayed the same: arrays bit by bit, other blocks as objects."""
    for old, new in zip(before, after, strict=False):
        if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
            if old.shape != new.shape or old.tobytes() != new.tobytes():
                return False
        elif old is not new:
            return False
    return True
