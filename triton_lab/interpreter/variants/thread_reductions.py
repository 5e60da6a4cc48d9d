"""Reductions in the order of a GPU's threads, as a variant (see `arithmetic_variants`).

A thread first reduces its own elements, register by register. Then the lanes of a warp combine theirs in a butterfly
whose offsets go from large to small. Then the warps do the same. A thread's own value comes before the other's, and the
first thread's value is the result; where the result moves to other threads, it may be that of the thread in the middle.
That matters for functions that are not symmetric, such as on numbers and NaNs.
Triton 3.6 takes a thread's registers one after another, Triton 3.9 in pairs of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_code import BoundBlock
from triton_lab.interpreter.exact_arithmetic import to_odd, two_sum
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.ops.combine_functions import Folding, combine, folded, same_programs
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary
from triton_lab.ir import Op

Array = NDArray[Any]
_Step = Callable[[Array, Array], Array]
Steps = Callable[[list[Array], list[Array]], list[Array]]


@dataclass(frozen=True)
class Shares:
    """Which thread holds which elements along a reduced axis of ``extent``.

    For each bit of a register's, lane's or warp's number: what it adds to the place along the axis. Copies of an
    element in several threads count once.
    """

    extent: int
    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]

    @classmethod
    def along(cls, axis: int, shape: Sequence[int], *bases: Sequence[Sequence[int]]) -> Shares | None:
        """The shares of a layout. ``bases`` of registers, lanes and warps are coordinates in a block of ``shape``.

        None unless each group of threads reduces its own row in this layout.
        """
        if any(basis[axis] and any(basis[:axis] + basis[axis + 1 :]) for basis in map(list, chain(*bases))):
            return None
        registers, lanes, warps = (tuple(basis[axis] for basis in one if basis[axis]) for one in bases)
        found = cls(shape[axis], registers, lanes, warps)
        return found if sorted(found.places().reshape(-1)) == list(range(found.extent)) else None

    def places(self) -> Array:
        """The place along the axis of the element in each ``(warp, lane, register)``."""
        warps, lanes, registers = (_sums(one) for one in (self.warps, self.lanes, self.registers))
        return warps[:, None, None] + lanes[None, :, None] + registers


def _sums(bits: Sequence[int]) -> Array:
    """For each of the numbers 0, 1, 2, ...: the sum of ``bits`` at its set bits."""
    found = np.zeros(1, np.int64)
    for bit in bits:
        found = np.concatenate([found, found + bit])
    return found


def reduced(ufunc: _Step, array: Array, axis: int, shares: Shares, pairs: bool) -> Array:
    """``array`` reduced along ``axis`` by ``ufunc`` in the threads' order; with ``pairs``, registers in pairs of
    neighbours.
    """
    return reduced_together(lambda a, b: [np.asarray(ufunc(*a, *b))], [array], axis, shares, pairs)[0]


def reduced_together(
    step: Steps, arrays: Sequence[Array], axis: int, shares: Shares, pairs: bool, middle: bool = False
) -> list[Array]:
    """Reduce several arrays that ``step`` combines together. ``step`` gets arrays with extra axes before those of
    ``arrays``. With ``middle`` the result is that of the thread in the middle of a row, not of the first.
    """
    terms = [np.moveaxis(np.moveaxis(array, axis, 0)[shares.places()], 2, 0) for array in arrays]
    thread = _in_pairs(step, terms) if pairs else _one_by_one(step, terms)
    lanes = [np.moveaxis(one, 1, 0) for one in thread]
    if middle:  # each thread's own value comes before the other's
        lanes = [one[np.arange(len(one)) ^ (len(one) // 2)] for one in lanes]
    warp = _butterfly(step, lanes)
    return _butterfly(step, warp)


def _one_by_one(step: Steps, terms: list[Array]) -> list[Array]:
    result = [one[0] for one in terms]
    for number in range(1, len(terms[0])):
        result = step(result, [one[number] for one in terms])
    return result


def _in_pairs(step: Steps, terms: list[Array]) -> list[Array]:
    while len(terms[0]) > 1:
        terms = step([one[::2] for one in terms], [one[1::2] for one in terms])
    return [one[0] for one in terms]


def _butterfly(step: Steps, terms: list[Array]) -> list[Array]:
    """Combine with offsets from large to small; returns the first thread's value."""
    while len(terms[0]) > 1:
        half = len(terms[0]) // 2
        terms = step([one[:half] for one in terms], [one[half:] for one in terms])
    return [one[0] for one in terms]


def by_region(frame: Frame, code: BoundBlock, axes: int) -> Steps:
    """A step that combines arrays with a region.

    The last ``axes`` axes are those of programs and of what is left of a block; there may be any axes before them.
    """

    def step(left: list[Array], right: list[Array]) -> list[Array]:
        at = left[0].ndim - axes
        sides = ([np.moveaxis(one, at, 0) for one in side] for side in (left, right))
        return [np.moveaxis(one, 0, at) for one in combine(frame, code, *sides)]

    return step


def in_order_of(shares: Mapping[int, Shares], pairs: bool, middle: bool = False) -> Table:
    """Reductions in the order of the threads that hold ``shares``, which are given by the operation's index."""

    def reduce(frame: Frame, op: Op, *operands: Value) -> Any:
        own = shares.get(op.index)
        if own is None:
            return ordinary("tt.reduce")(frame, op, *operands)
        arrays = [frame.spread(op, k, value) for k, value in enumerate(operands)]
        axis = op.attributes["axis"] + 1
        (code,) = frame.region(op)
        if len(arrays) == 1:
            (array,) = arrays
            found = folded(code, array, lambda ufunc, a: reduced(rounding(ufunc, array.dtype), a, axis, own, pairs))
            if found is not None:
                return found
        step = by_region(frame, code, arrays[0].ndim - 1)
        results = reduced_together(step, same_programs(arrays), axis, own, pairs, middle)
        return results[0] if len(results) == 1 else tuple(results)

    return {"tt.reduce": reduce}


def fused_in_order_of(shares: Mapping[int, Shares], pairs: bool, products: Collection[int]) -> Table:
    """The same, but with sums of float32 ``products`` (values) fused: each product with the first term that it is added
    to.
    """
    unrounded: dict[int, tuple[Value, Array]] = {}  # each multiplication's last result, and its exact product
    plain = in_order_of(shares, pairs)["tt.reduce"]

    def multiply(frame: Frame, op: Op, *operands: Value) -> Value:
        found: Value = ordinary("arith.mulf")(frame, op, *operands)
        if op.results[0] in products and isinstance(found, np.ndarray) and found.dtype == np.float32:
            x, y = (frame.elements(op, k, value).astype(np.float64) for k, value in enumerate(operands))
            unrounded[op.results[0]] = found, x * y
        return found

    def reduce(frame: Frame, op: Op, *operands: Value) -> Any:
        own, (found, product) = shares.get(op.index), unrounded.get(op.operands[0], (None, None))
        if own is None or product is None or found is not operands[0]:
            return plain(frame, op, *operands)
        (code,) = frame.region(op)
        array, axis = frame.spread(op, 0, operands[0]), op.attributes["axis"] + 1
        terms = [array, np.broadcast_to(product, array.shape), np.ones(array.shape, np.bool_)]

        def fold(ufunc: Folding, array: Array) -> Array:
            if ufunc is not np.add:
                return reduced(ufunc, array, axis, own, pairs)
            return reduced_together(_fused, terms, axis, own, pairs)[0]

        made = folded(code, array, fold)
        return plain(frame, op, *operands) if made is None else made

    return {"arith.mulf": multiply, "tt.reduce": reduce}


def _fused(left: list[Array], right: list[Array]) -> list[Array]:
    """Add numbers that may be products. Each comes as float32, as its exact value, and with a flag: whether it is a
    product.

    Of two products the first is fused.
    """
    (a, exact_a, is_product), (b, exact_b, _) = left, right
    total = two_sum(np.where(is_product, exact_a, a), np.where(is_product, b, exact_b))
    made = to_odd(*total).astype(np.float32)
    return [made, made.astype(np.float64), np.zeros(made.shape, np.bool_)]


def rounding(ufunc: Folding, dtype: np.dtype[Any]) -> _Step:
    """``ufunc`` rounded to ``dtype`` at each step, as on a GPU; the arrays stay as wide as they are."""

    def step(a: Array, b: Array) -> Array:
        made = np.asarray(ufunc(a, b))
        return made if made.dtype.kind != "f" or made.dtype == dtype else widen(made.astype(dtype))

    return step
