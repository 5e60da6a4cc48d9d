"""Work on the elements of large arrays, a piece at a time and on all processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.replay.parallel_replay import processors

Array = NDArray[Any]
Found = TypeVar("Found")
Item = TypeVar("Item")

_CHUNK = 1 << 18  # elements: threads wait for Python's lock where pieces are smaller
_SHARED = 1 << 20  # elements from which on several threads are worth it
_MOST = 12


def mapped(function: Callable[..., Array], dtype: Any, *arrays: Array) -> Array:
    """``function`` of the arrays, element by element, in the first one's shape; single numbers go to each piece."""
    flat = [_flat(array, arrays[0].size) for array in arrays]
    result = np.empty(arrays[0].size, dtype)

    def run(start: int) -> None:
        piece = slice(start, start + _CHUNK)
        result[piece] = function(*(array[piece] if array.ndim else array for array in flat))

    _run(run, result.size)
    return result.reshape(arrays[0].shape)


def gathered(function: Callable[..., Found], *arrays: Array) -> list[Found]:
    """``function(start, pieces)`` of the pieces that begin at element ``start``, in order."""
    flat = [_flat(array, arrays[0].size) for array in arrays]

    def run(start: int) -> Found:
        piece = slice(start, start + _CHUNK)
        return function(start, *(array[piece] if array.ndim else array for array in flat))

    return _run(run, arrays[0].size)


def in_order(function: Callable[[Item], Found], items: Sequence[Item], size: int) -> Iterator[Found]:
    """``function`` of each item, in order; on all processors if the ``size`` of their arrays together is worth it."""
    if size < _SHARED or processors() == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(min(_MOST, processors())) as pool:
        yield from pool.map(function, items)


def _flat(array: Array, size: int) -> Array:
    return np.ascontiguousarray(array).reshape(-1) if array.size == size else np.asarray(array).reshape(())


def _run(run: Callable[[int], Found], size: int) -> list[Found]:
    starts = range(0, size, _CHUNK)
    if size < _SHARED or processors() == 1:
        return [run(start) for start in starts]
    with ThreadPoolExecutor(min(_MOST, processors())) as pool:
        return list(pool.map(run, starts))
