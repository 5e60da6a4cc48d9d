"""`TensorCase`: a tensor of a launch as sizes and contents, which can be made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from triton_lab.launch.shrinking.tensor_contents import Array, TensorContents


@dataclass(frozen=True, eq=False)
class TensorCase:
    """A tensor argument: sizes in elements; ``storage`` is the number of its storage, ``block`` a descriptor's."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: int
    contents: TensorContents
    block: tuple[int, ...] = ()

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.contents.values.dtype.itemsize

    @property
    def end(self) -> int:
        """The first byte of the storage behind the tensor."""
        if 0 in self.shape:
            return self.offset * self.itemsize
        reach = sum(stride * (extent - 1) for stride, extent in zip(self.strides, self.shape, strict=True))
        return (self.offset + reach + 1) * self.itemsize

    def reshaped(self, shape: tuple[int, ...], moved: bool = False) -> TensorCase:
        """The tensor with a smaller shape, laid out the same way: transposed, padded or with gaps as it is now."""
        if shape == self.shape:
            return self
        strides = _relaid(self.shape, self.strides, shape)
        return replace(self, shape=shape, strides=strides, contents=self.contents.cut(shape, moved))


def written_runs(one: TensorCase, zeros: bool) -> Iterator[tuple[int, Array]]:
    """The first byte and the bytes of each run that a tensor's contents write; zeros only if ``zeros`` are wanted."""
    contents = one.contents
    if not contents.values.size or contents.lacks_all or (not contents.pieces and not zeros):
        return
    places = np.full(contents.values.shape, one.offset, np.int64)
    for axis, stride in enumerate(one.strides):
        extent = contents.values.shape[axis]
        places += (np.arange(extent) * stride).reshape(-1, *(1,) * (contents.values.ndim - axis - 1))
    order = np.argsort(places, axis=None, kind="stable")
    order = order[~contents.unset.reshape(-1)[order]]
    at = places.reshape(-1)[order]
    values = np.ascontiguousarray(contents.values).reshape(-1)[order]
    # Elements that overlap hold the same.
    keep = np.concatenate([np.diff(at) != 0, [True]]) if at.size else np.zeros(0, np.bool_)
    at, values = at[keep], np.ascontiguousarray(values[keep])
    heads = np.concatenate([[0], np.flatnonzero(np.diff(at) != 1) + 1]) if at.size else np.zeros(0, np.int64)
    for first, last in zip(heads, [*heads[1:], at.size], strict=True):
        yield int(at[first]) * one.itemsize, np.array(values[first:last]).view(np.uint8)


def _relaid(old: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    """The strides for another shape: each is as many times as far, or as much further, than the axis within."""
    found = list(strides)
    was = now = 1
    for axis in sorted(range(len(old)), key=lambda axis: (strides[axis], -axis)):
        stride = strides[axis]
        if stride > 0:
            found[axis] = stride // was * now if stride % was == 0 else max(now + stride - was, 1)
            was, now = stride * max(old[axis], 1), found[axis] * max(new[axis], 1)
    return tuple(found)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor without gaps."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
