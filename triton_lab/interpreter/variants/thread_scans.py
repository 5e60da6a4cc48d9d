"""Scans in the order of a GPU's threads, as a variant (see `arithmetic_variants`).

A thread first scans the neighbours that it holds. The lanes of a warp then scan their last values, at distances 1, 2,
4, and so on. Then the warps take turns; if the threads do not cover the axis at once, they start again. The total so
far is combined with each thread's last element; then the last element of the previous thread is combined with all other
elements of a thread. Triton 3.6 on an H100 does the same, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.ops.combine_functions import folded, same_programs
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary
from triton_lab.interpreter.variants.thread_reductions import Shares, Steps, by_region, rounding
from triton_lab.ir import Op

Array = NDArray[Any]


@dataclass(frozen=True)
class Turns:
    """The order of the threads along a scanned axis.

    Each thread holds ``each`` neighbours, and ``lanes`` threads of a warp follow each other. ``groups`` of these come
    one after another: other warps, or the same warps again.
    """

    groups: int
    lanes: int
    each: int

    @classmethod
    def of(cls, shares: Shares) -> Turns | None:
        """The turns of ``shares``. None if its places do not follow this order, or do not show how many a
        thread scans.
        """
        threads = (*shares.lanes, *shares.warps)
        if not threads and len(shares.registers) > 1:
            return None
        own = tuple(bit for bit in shares.registers if not threads or bit < threads[0])
        anew = shares.registers[len(own) :]
        bits = (*own, *threads, *anew)
        if bits != tuple(1 << k for k in range(len(bits))) or 1 << len(bits) != shares.extent:
            return None
        return cls(1 << len(shares.warps) + len(anew), 1 << len(shares.lanes), 1 << len(own))


def scanned_together(step: Steps, arrays: Sequence[Array], axis: int, turns: Turns) -> list[Array]:
    """Inclusive scans of ``arrays`` along ``axis`` that ``step`` combines together.

    ``step`` gets arrays with extra axes before the remaining ones.
    """
    shape = (turns.groups, turns.lanes, turns.each)
    moved = [np.moveaxis(array, axis, 0) for array in arrays]
    terms = [np.array(one).reshape(*shape, *one.shape[1:]) for one in moved]  # group, lane, element, ...
    for k in range(1, turns.each):
        made = step([one[:, :, k - 1] for one in terms], [one[:, :, k] for one in terms])
        for one, new in zip(terms, made, strict=True):
            one[:, :, k] = new
    last, distance = [one[:, :, -1].copy() for one in terms], 1
    while distance < turns.lanes:
        made = step([one[:, :-distance] for one in last], [one[:, distance:] for one in last])
        last = [np.concatenate([one[:, :distance], new], 1) for one, new in zip(last, made, strict=True)]
        distance *= 2
    total = [one[:1, -1] for one in last]
    for group in range(1, turns.groups):
        here = [one[group : group + 1] for one in last]
        made = step([np.repeat(one[:, None], turns.lanes, 1) for one in total], here)
        for one, new in zip(last, made, strict=True):
            one[group] = new[0]
        total = [one[:, -1] for one in made]
    return [_whole(one, array, axis) for one, array in zip(_within(step, terms, last), moved, strict=True)]


def _within(step: Steps, terms: list[Array], last: list[Array]) -> list[Array]:
    """All elements by thread, from each thread's own scan and its final last element."""
    threads = [one.reshape(-1, *one.shape[2:]) for one in terms]
    ends = [one.reshape(-1, *one.shape[2:]) for one in last]
    made = step([np.repeat(one[:-1, None], threads[0].shape[1], 1) for one in ends], [one[1:] for one in threads])
    for one, new, end in zip(threads, made, ends, strict=True):
        one[1:] = new
        one[:, -1] = end
    return threads


def _whole(threads: Array, moved: Array, axis: int) -> Array:
    return np.moveaxis(threads.reshape(moved.shape), 0, axis)


def scans_in_order_of(turns: Mapping[int, Turns]) -> Table:
    """Scans in the order of threads that take these ``turns``, which are given by the operation's index."""

    def scan(frame: Frame, op: Op, *operands: Value) -> Any:
        own = turns.get(op.index)
        if own is None:
            return ordinary("tt.scan")(frame, op, *operands)
        axis, (code,) = op.attributes["axis"] + 1, frame.region(op)
        arrays = same_programs([frame.spread(op, k, value) for k, value in enumerate(operands)])
        if op.attributes["reverse"]:
            arrays = [np.flip(array, axis) for array in arrays]
        results = None
        if len(arrays) == 1:
            (array,) = arrays
            found = folded(code, array, lambda ufunc, a: _by_ufunc(rounding(ufunc, array.dtype), a, axis, own))
            results = None if found is None else [found]
        if results is None:
            results = scanned_together(by_region(frame, code, arrays[0].ndim - 1), arrays, axis, own)
        if op.attributes["reverse"]:
            results = [np.flip(one, axis) for one in results]
        return results[0] if len(results) == 1 else tuple(results)

    return {"tt.scan": scan}


def _by_ufunc(ufunc: Callable[[Array, Array], Array], array: Array, axis: int, turns: Turns) -> Array:
    return scanned_together(lambda a, b: [np.asarray(ufunc(*a, *b))], [array], axis, turns)[0]
