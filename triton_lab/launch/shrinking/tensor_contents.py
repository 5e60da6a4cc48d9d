"""`TensorContents`: what a tensor of a launch holds, cut to smaller shapes and made simpler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Elements that are spelled out one by one beside the most common one; and the largest contents that are looked at.
FEW, LARGE = 8, 1 << 22


@dataclass(frozen=True, eq=False)
class TensorContents:
    """The ``values`` of a tensor, and which of its elements were never written: ``unset``, of the same shape."""

    values: Array
    unset: Array

    @classmethod
    def filled(
        cls, shape: tuple[int, ...], dtype: np.dtype[Any], value: object = 0, unset: bool = False
    ) -> TensorContents:
        """Contents of one value, or none at all; of any size, since the value is stored once."""
        one = np.asarray(value).astype(dtype)
        return cls(np.broadcast_to(one, shape), np.broadcast_to(np.bool_(unset), shape))

    @cached_property
    def raw(self) -> Array:
        """The bits of the values, so that NaN equals itself and the zeros of two signs differ."""
        flat = np.ascontiguousarray(self.values).reshape(-1)
        return flat.view(np.dtype(f"u{flat.dtype.itemsize}")) if flat.dtype.kind != "b" else flat

    @cached_property
    def lacks_some(self) -> bool:
        """Whether some elements are unset."""
        return bool(self.unset.any() if any(self.unset.strides) else self.unset.size and self.unset.flat[0])

    @cached_property
    def lacks_all(self) -> bool:
        """Whether all elements are unset."""
        return self.lacks_some and bool(self.unset.all() if any(self.unset.strides) else True)

    @cached_property
    def one(self) -> TensorContents:
        """The first element alone, of contents that have one."""
        return TensorContents(self.values[(0,) * self.values.ndim].reshape(1), np.zeros(1, np.bool_))

    @cached_property
    def is_one_value(self) -> bool:
        """Whether all elements are the same, or all of them unset."""
        if self.values.size == 0 or (not any(self.values.strides) and not any(self.unset.strides)):
            return True
        if self.lacks_some:
            return self.lacks_all
        return bool((self.raw == self.raw[0]).all())

    @cached_property
    def counts_up(self) -> bool:
        """Whether the elements are 0, 1, 2, ... in row-major order."""
        if self.values.size < 2 or self.values.size > LARGE or self.lacks_some:
            return False
        return bool((self.raw == self.counting.raw).all())

    @property
    def counting(self) -> TensorContents:
        """Contents 0, 1, 2, ... of the same shape and dtype."""
        numbers = np.arange(self.values.size).astype(self.values.dtype)
        return TensorContents(numbers.reshape(self.values.shape), np.zeros(self.values.shape, np.bool_))

    @cached_property
    def common(self) -> Any:
        """The most common value, as an array of no axes."""
        raw = self.raw[~self.unset.reshape(-1)]
        _unused, first, counts = np.unique(raw, return_index=True, return_counts=True)
        at = np.flatnonzero(~self.unset.reshape(-1))[first[np.argmax(counts)]]
        return np.ascontiguousarray(self.values).reshape(-1)[at]

    @cached_property
    def special(self) -> Array:
        """The row-major numbers of the elements that are written and differ from the most common value."""
        if self.is_one_value:
            return np.empty(0, np.int64)
        as_common = self.raw == TensorContents(np.asarray(self.common).reshape(1), np.zeros(1, np.bool_)).raw[0]
        return np.flatnonzero(~as_common & ~self.unset.reshape(-1))

    @property
    def pieces(self) -> int:
        """How much there is to say about these contents; 0 for zeros and for memory that was never written."""
        if self.is_one_value:
            return 0 if not self.values.size or self.lacks_all or not self.one.raw[0] else 1
        if self.counts_up:
            return 2
        some = len(self.special)
        return 3 + (some if some <= FEW else FEW + self.values.size)

    def cut(self, shape: tuple[int, ...], moved: bool = False) -> TensorContents:
        """The first elements along each axis. With ``moved``, special elements that fall away move to the edge."""
        if shape == self.values.shape:
            return self
        if self.is_one_value and self.values.size:
            return TensorContents.filled(shape, self.values.dtype, self.one.values[0], self.lacks_all)
        corner = tuple(slice(0, extent) for extent in shape)
        values, unset = np.array(self.values[corner]), np.array(self.unset[corner])
        if moved and values.size:
            for number in self.special[: 16 * FEW]:
                old = np.unravel_index(int(number), self.values.shape)
                if any(int(at) >= extent for at, extent in zip(old, shape, strict=True)):
                    new = tuple(min(int(at), extent - 1) for at, extent in zip(old, shape, strict=True))
                    values[new], unset[new] = self.values[old], False
        return TensorContents(values, unset)

    def with_sizes(self, sizes: dict[int, int]) -> TensorContents:
        """Contents in which integers that are an old one of the ``sizes``, or near its end, are as near the new one."""
        if self.values.dtype.kind not in "iu" or self.values.size > LARGE:
            return self
        given = self.values.astype(np.int64)
        values = given.copy()
        for old, new in sorted(sizes.items(), reverse=True):
            if old > new:
                values[(given >= new) & (given < old)] = max(new - 1, 0)
                end = (given >= max(old - 2, new)) & (given <= old + 2)
                values[end] = np.maximum(given[end] - old + new, 0)
        # Numbers of 64 bits without a sign that are beyond those with one are no sizes.
        changed = values != given
        made = np.array(self.values)
        made[changed] = values[changed].astype(made.dtype)
        return TensorContents(made, self.unset)

    def simpler(self) -> Iterator[TensorContents]:
        """Simpler contents of the same shape, the simplest first."""
        if not self.pieces:
            return
        shape, dtype = self.values.shape, self.values.dtype
        plain = [TensorContents.filled(shape, dtype), TensorContents.filled(shape, dtype, 1)]
        if self.values.size <= LARGE:
            plain += [TensorContents.filled(shape, dtype, self.common)] if not self.lacks_some else []
            plain.append(self.counting)
        yield from (one for one in plain if one.pieces < self.pieces)

    def without(self, elements: Array) -> TensorContents:
        """The contents with the most common value in these elements."""
        values = np.array(self.values).reshape(-1)
        values[elements] = self.common
        return TensorContents(values.reshape(self.values.shape), self.unset)
