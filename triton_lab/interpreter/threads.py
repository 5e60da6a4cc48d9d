"""Sums in the order in which a GPU's threads make them, to be tried: see `variants`.

A thread first reduces what it holds, register by register; then the lanes of a warp do, in a butterfly whose offsets
go from large to small; then the warps, likewise. Triton 3.6 takes a thread's registers one after the other,
Triton 3.9 in pairs of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.convert import widen
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.ops.combine import folded
from triton_lab.interpreter.values import Value
from triton_lab.interpreter.variants import Table, ordinary
from triton_lab.ir import Op

Array = NDArray[Any]
_Step = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Shares:
    """Who holds what along a reduced axis of ``extent``: what each bit of the number of a register, lane and warp adds
    to the place. Copies of an element in several threads count once."""

    extent: int
    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]

    @classmethod
    def along(cls, axis: int, shape: Sequence[int], *bases: Sequence[Sequence[int]]) -> Shares | None:
        """Those of a layout, ``bases`` of registers, lanes and warps being coordinates in a block of ``shape``.

        None where the layout is not such that every program of threads reduces its own row.
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
    """What the numbers 0, 1, 2, ... add, whose bits add ``bits``."""
    found = np.zeros(1, np.int64)
    for bit in bits:
        found = np.concatenate([found, found + bit])
    return found


def reduced(ufunc: _Step, array: Array, axis: int, shares: Shares, pairs: bool) -> Array:
    """``array`` without ``axis``, reduced by ``ufunc`` as threads do; those of a thread in ``pairs`` of neighbours."""
    held = np.moveaxis(array, axis, 0)[shares.places()]
    terms = np.moveaxis(held, 2, 0)
    thread = _in_pairs(ufunc, terms) if pairs else _one_by_one(ufunc, terms)
    warp = _butterfly(ufunc, np.moveaxis(thread, 1, 0))
    return _butterfly(ufunc, warp)


def _one_by_one(ufunc: _Step, terms: Array) -> Array:
    result = terms[0]
    for term in terms[1:]:
        result = ufunc(result, term)
    return np.asarray(result)


def _in_pairs(ufunc: _Step, terms: Array) -> Array:
    while len(terms) > 1:
        terms = ufunc(terms[::2], terms[1::2])
    return np.asarray(terms[0])


def _butterfly(ufunc: _Step, terms: Array) -> Array:
    """Offsets from large to small; every thread comes to the same."""
    while len(terms) > 1:
        half = len(terms) // 2
        terms = ufunc(terms[:half], terms[half:])
    return np.asarray(terms[0])


def in_order_of(shares: Mapping[int, Shares], pairs: bool) -> Table:
    """Reductions, by the index of the operation, as the threads reduce that hold ``shares``."""

    def reduce(frame: Frame, op: Op, *operands: Value) -> Any:
        own = shares.get(op.index)
        if own is not None and len(operands) == 1:
            array = frame.spread(op, 0, operands[0])
            axis = op.attributes["axis"] + 1
            (code,) = frame.region(op)
            found = folded(code, array, lambda ufunc, a: reduced(_rounding(ufunc, array.dtype), a, axis, own, pairs))
            if found is not None:
                return found
        return ordinary("tt.reduce")(frame, op, *operands)

    return {"tt.reduce": reduce}


def _rounding(ufunc: np.ufunc, dtype: np.dtype[Any]) -> _Step:
    """``ufunc`` that rounds to ``dtype`` at each step, as a GPU does; the arrays stay as wide as they are."""

    def step(a: Array, b: Array) -> Array:
        made = np.asarray(ufunc(a, b))
        return made if made.dtype.kind != "f" or made.dtype == dtype else widen(made.astype(dtype))

    return step
