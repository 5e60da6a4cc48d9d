"""Finds a block of a program among the elements of a tensor: as a sub-block, with axes exchanged or in flat order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_MOST_ANCHORS = 512  # places of one number that are tried
_PROBES = 4  # lanes that are compared before all are
_LEAST = 2  # lanes that a block must have in common with a tensor of as many elements


@dataclass(frozen=True)
class BlockPlace:
    """Where a block lies: its first lane is at ``start``, and its axes are the tensor's ``axes``; ``flat``: in
    row-major order. ``lanes`` of it were compared."""

    start: tuple[int, ...]
    axes: tuple[int, ...]
    flat: bool
    lanes: int

    @property
    def is_transposed(self) -> bool:
        """Whether axes are exchanged."""
        return list(self.axes) != sorted(self.axes)


def tolerance(block: Array, tensor: Array, relative: float) -> float:
    """How far numbers may be apart, beside ``relative`` of their size: rounding of sums of larger terms."""
    finite = np.abs(tensor[np.isfinite(tensor)])
    return relative * float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0


def find(block: Array, tensor: Array, relative: float) -> BlockPlace | None:
    """Where ``block`` lies in ``tensor``, within ``relative`` of the numbers; None if nowhere.

    Lanes beyond the end of the tensor's axes count as masked off, if the block begins at a multiple of its size. A
    single number is found wherever it is an element.
    """
    block = np.squeeze(block)
    if block.dtype.kind not in "fiu" or tensor.dtype.kind not in "fiu" or not block.size or not tensor.size:
        return None
    block, tensor = block.astype(np.float64), tensor.astype(np.float64)
    near = tolerance(block, tensor, relative)
    for view, axes, flat in _views(block.ndim, tensor):
        start = _search(block, view, axes, relative, near)
        if start is not None and np.isfinite(block[(0,) * block.ndim]):
            lanes = _common(block, view, axes, start)
            if lanes >= min(_LEAST, view.size, block.size):
                return BlockPlace(start, axes, flat, lanes)
    return None


def _views(rank: int, tensor: Array) -> Iterator[tuple[Array, tuple[int, ...], bool]]:
    """The ways to lay a block of this rank over a tensor."""
    for axes in itertools.permutations(range(tensor.ndim), rank):
        yield tensor, axes, False
    if rank == 1 and tensor.ndim > 1:
        yield tensor.reshape(-1), (0,), True


def _search(block: Array, view: Array, axes: tuple[int, ...], relative: float, near: float) -> tuple[int, ...] | None:
    value = block[(0,) * block.ndim]
    same = _close(view, value, relative, near)
    places = np.argwhere(same)
    for axis, extent in zip(axes, block.shape, strict=True):
        # A tile that goes beyond the end of an axis begins at a multiple of its size.
        whole = places[:, axis] + extent <= view.shape[axis]
        places = places[whole | (places[:, axis] % extent == 0)]
    if not len(places):
        return None
    # A tile begins at a multiple of its size, or where an axis begins: these first.
    places = places[np.argsort(_offbeat(places, block.shape, axes), kind="stable")][:_MOST_ANCHORS]
    for lane in _probes(block.shape):
        at = places.copy()
        for axis, step in zip(axes, lane, strict=True):
            at[:, axis] += step
        inside = (at < np.array(view.shape)).all(axis=1)
        fits = np.asarray(~inside)
        fits[inside] = _close(view[tuple(at[inside].T)], block[lane], relative, near)
        places = places[fits]
        if not len(places):
            return None
    for place in places[:16]:
        if _fits(block, view, axes, tuple(place.tolist()), relative, near):
            return tuple(place.tolist())
    return None


def _offbeat(places: Array, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    found = np.zeros(len(places), np.int64)
    for axis, extent in zip(axes, shape, strict=True):
        found += places[:, axis] % extent != 0
    return found


def _probes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A few lanes: the next along each axis, and some in between."""
    if not shape:
        return []
    nexts = [tuple(int(k == axis) for k in range(len(shape))) for axis in range(len(shape))]
    halves = [tuple(extent // part for extent in shape) for part in range(2, 2 + _PROBES)]
    return [lane for lane in (*nexts, *halves) if all(k < extent for k, extent in zip(lane, shape, strict=True))]


def _part(block: Array, view: Array, axes: tuple[int, ...], start: tuple[int, ...]) -> tuple[Array, Array]:
    """The lanes of the block that lie in the tensor, and the elements there, in the order of the block's axes."""
    sizes = [min(extent, view.shape[axis] - start[axis]) for axis, extent in zip(axes, block.shape, strict=True)]
    index: list[Any] = list(start)
    for axis, size in zip(axes, sizes, strict=True):
        index[axis] = slice(start[axis], start[axis] + size)
    there = view[tuple(index)]
    order = sorted(axes)
    return block[tuple(slice(size) for size in sizes)], np.transpose(there, [order.index(axis) for axis in axes])


def _common(block: Array, view: Array, axes: tuple[int, ...], start: tuple[int, ...]) -> int:
    return int(_part(block, view, axes, start)[0].size)


def _fits(
    block: Array, view: Array, axes: tuple[int, ...], start: tuple[int, ...], relative: float, near: float
) -> bool:
    one, other = _part(block, view, axes, start)
    return bool(_close(one, other, relative, near).all())


def _close(one: Any, other: Any, relative: float, near: float) -> Array:
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.asarray(one) - other)
        found = (apart <= relative * np.abs(other) + near) | (one == other) | (np.isnan(one) & np.isnan(other))
    return np.asarray(found)


def factor(block: Array, tensor: Array, relative: float) -> float | None:
    """The number by which ``block`` is too large to be in ``tensor``; None if there is none.

    Both are compared by the ratio of each lane to the first one that is not zero.
    """
    block = np.squeeze(block).astype(np.float64)
    if block.ndim == 0 or block.ndim > tensor.ndim or not np.abs(block).max(initial=0) > 0:
        return None
    corner = tuple(slice(min(k, n)) for k, n in zip(block.shape, tensor.shape[tensor.ndim - block.ndim :], strict=True))
    lead = (0,) * (tensor.ndim - block.ndim)
    one, other = block[corner], tensor[lead][corner] if lead else tensor[corner]
    with np.errstate(all="ignore"):
        ratio = one / other
    ratio = ratio[np.isfinite(ratio) & (ratio != 0)]
    if ratio.size < 2:
        return None
    middle = float(np.median(ratio))
    return middle if bool((np.abs(ratio - middle) <= 10 * relative * abs(middle)).all()) else None
