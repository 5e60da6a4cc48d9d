"""Bounds of operations that combine many lanes: reductions, scans, products of tiles, histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.ops.dot import product
from triton_lab.ir import Op, traits
from triton_lab.ir.traits import Accuracy, Kind
from triton_lab.ir.traits.trait import ANY_ORDER
from triton_lab.launch.comparison.bounds import rounding_rules
from triton_lab.launch.comparison.bounds.bound import CHOICE, EXACT, LOST, Bound, some
from triton_lab.launch.comparison.bounds.rounding_rules import added
from triton_lab.launch.comparison.number_formats import is_float, largest, smallest, unit_roundoff, wide

Array = NDArray[Any]
Along = Callable[..., Array]

_SUMS = traits.names(lambda trait: trait.sums and trait.symbol == "+")
_PRODUCT = "arith.mulf"
_GREATEST = {
    "arith.maximumf": np.maximum, "arith.maxnumf": np.fmax, "arith.maxsi": np.maximum,
    "arith.minimumf": np.minimum, "arith.minnumf": np.fmin, "arith.minsi": np.minimum,
}  # fmt: skip
# A combine function of these alone gives one of its operands, unchanged.
_CHOOSES = traits.names(
    lambda trait: trait.kind in (Kind.COMPARES, Kind.PERMUTES) or (trait.bitwise and trait.commutative)
)
_ROUNDS = traits.names(lambda trait: trait.is_lane_by_lane and trait.rounding.accuracy is not Accuracy.EXACT)
_ROUNDS -= traits.names(lambda trait: trait.rounding is ANY_ORDER)
_LOOK = 64
_WIDEST = 8  # how many bins a value may fall into


def combining(op: Op) -> list[Op]:
    """The operations of a combine function, without the one that ends it."""
    return [one for block in op.regions[0].blocks for one in block.ops[:-1]]


def rounds(op: Op) -> bool:
    """Whether the order in which ``op`` combines its lanes, or the target, makes its results differ."""
    names = {one.name for one in op.walk()}
    return bool(names & (_ROUNDS | set(rounding_rules.APPROXIMATE)))


def of_fold(
    op: Op, arrays: Sequence[Array], bounds: Sequence[Bound], results: Sequence[Array], position: int, same: bool
) -> Bound | None:
    """The bound of a result of ``tt.reduce`` or ``tt.scan``; ``arrays`` and ``bounds`` have the blocks' full shapes."""
    inner = combining(op)
    single = len(inner) == 1 and len(arrays) == 1
    name = inner[0].name if single else ""
    differs = any(one.any for one in bounds)
    axis, reduces = op.attributes["axis"] + 1, op.name == "tt.reduce"
    flips = bool(op.attributes.get("reverse")) and not reduces
    if not differs and (name in _GREATEST or not rounds(op)):
        return None
    if name in _SUMS or name == _PRODUCT or name in _GREATEST:
        array, bound, raw = arrays[0], bounds[0], results[0]
        if flips:
            array, raw = np.flip(array, axis), np.flip(raw, axis)
            bound = bound.mapped(lambda part: np.flip(part, axis))
        if array.dtype == np.bool_:
            return _lost(op, bounds, axis, reduces)
        if name in _GREATEST:
            found = _extreme(name, array, bound, raw, axis, reduces)
        elif name == _PRODUCT:
            found = _product(array, bound, raw, axis, reduces)
        elif is_float(raw.dtype):
            found = _sum(array, bound, raw, axis, reduces)
        else:
            found = _count(bound, raw, axis, reduces)
        return found.mapped(lambda part: np.flip(part, axis) if part.ndim > axis else part) if flips else found
    chooses = {one.name for one in inner} <= _CHOOSES and not any(one.any for one in bounds[1:])
    if reduces and chooses and len(arrays) > 1:
        return _winner(arrays, bounds, results, position, axis)
    return LOST if rounds(op) else _lost(op, bounds, axis, reduces)


def _lost(op: Op, bounds: Sequence[Bound], axis: int, reduces: bool) -> Bound:
    """Nothing is known of results that an uncertain lane takes part in."""
    lanes = np.logical_or.reduce([one.uncertain for one in bounds])
    where = lanes.any(axis=axis, keepdims=not reduces)
    return Bound.around(np.where(where, np.inf, 0.0))


def _fold(function: Any, array: Array, axis: int, reduces: bool) -> Array:
    return np.asarray(function.reduce(array, axis=axis) if reduces else function.accumulate(array, axis=axis))


def _kind(bound: Bound, axis: int, reduces: bool, worst: int = CHOICE) -> Array:
    """The kind of what is combined from these lanes: a lane's own if it is the only uncertain one of its kind."""
    if not bound.kind.any():
        return np.asarray(0)
    special = (bound.kind > 0) & bound.uncertain
    count = _fold(np.add, special.astype(np.int32), axis, reduces)
    most = _fold(np.maximum, np.where(special, bound.kind, 0), axis, reduces)
    return np.where(count > 1, worst, most)


def _sum(array: Array, bound: Bound, raw: Array, axis: int, reduces: bool) -> Bound:
    """A sum in any order. Numbers that are made of whole ones are a choice: the sum is no longer whole."""
    u = unit_roundoff(raw.dtype)
    values = wide(array)
    if not (values.max(initial=0) < np.inf and values.min(initial=0) > -np.inf):
        values = np.where(np.isfinite(values), values, 0.0)

    def along(part: Array, axis: int) -> Array:
        if not reduces:
            return np.cumsum(part, axis=axis)
        # A product with ones is the fastest sum along rows.
        return part @ np.ones(part.shape[-1]) if axis == part.ndim - 1 else part.sum(axis=axis)

    found = along(bound.size, axis)
    if not _adds_exactly(values, axis, u):
        found = rounding_rules.summed(values, wide(raw), found, axis, u, along)
    kind = _kind(bound, axis, reduces)
    return Bound.around(rounding_rules.known(found), np.where(kind > 0, CHOICE, 0))


def _adds_exactly(values: Array, axis: int, u: float) -> bool:
    """Whether no sum of some of the values is rounded: all are multiples of a unit, and their sums are few of these."""
    if not values.size or not _multiples(values.reshape(-1)[:_LOOK], 1.0 / 64):
        return False  # most numbers are no such ones, as the first ones tell
    most = float(np.abs(values).sum(axis=axis).max())
    unit = 2.0 * u * 2.0 ** np.floor(np.log2(most)) if most else 1.0
    return _multiples(values, unit)


def _multiples(values: Array, unit: float) -> bool:
    scaled = values / unit
    return bool((scaled == np.rint(scaled)).all())


def _count(bound: Bound, raw: Array, axis: int, reduces: bool) -> Bound:
    """A sum of integers, exact but for those that are uncertain."""
    below, above = (_fold(np.add, part, axis, reduces) for part in (bound.below, bound.above))
    value, limits = wide(raw), np.iinfo(raw.dtype)
    found = Bound(below, above, _kind(bound, axis, reduces))
    outside = (value - below < max(limits.min, -EXACT)) | (value + above > min(limits.max, EXACT))
    return LOST.where(outside & found.uncertain, found)


def _product(array: Array, bound: Bound, raw: Array, axis: int, reduces: bool) -> Bound:
    """A product in any order: each of its factors, and of its roundings, is off by a part of it."""
    size, u = np.abs(wide(array)), unit_roundoff(raw.dtype)
    with np.errstate(all="ignore"):
        most = _fold(np.multiply, size + bound.size, axis, reduces)
        terms = _fold(np.add, np.ones_like(size), axis, reduces)
        spread = rounding_rules.times(2 * rounding_rules.gamma(terms, u), most)
        found = most - _fold(np.multiply, size, axis, reduces) + spread
        # Where a part of the factors may overflow or underflow in another order, all of the product may be lost.
        great = _fold(np.multiply, np.maximum(size + bound.size, 1.0), axis, reduces)
        small = _fold(np.multiply, np.where(size > 0, np.minimum(size, 1.0), 1.0), axis, reduces)
        found = np.where((great >= largest(raw.dtype)) | (small <= smallest(raw.dtype) / u), np.inf, found)
    kind = _kind(bound, axis, reduces)
    return Bound.around(np.where(np.isfinite(found), found, np.inf), np.where(kind > 0, CHOICE, 0))


def _extreme(name: str, array: Array, bound: Bound, raw: Array, axis: int, reduces: bool) -> Bound:
    """The greatest or the least of the lanes: that of their least and of their greatest values."""
    value, function = wide(array), _GREATEST[name]
    low, high = (_fold(function, end, axis, reduces) for end in (value - bound.below, value + bound.above))
    found = Bound.between(low, wide(raw), high, _kind(bound, axis, reduces))
    if array.dtype.kind == "i":
        large = _fold(np.logical_or, np.abs(value) > EXACT, axis, reduces)
        found = LOST.where(large & found.uncertain, found)
    return found


def _winner(
    arrays: Sequence[Array], bounds: Sequence[Bound], results: Sequence[Array], position: int, axis: int
) -> Bound:
    """Where the first operand decides which lane is the result: that of all lanes that may be it."""
    key, bound = wide(arrays[0]), bounds[0]
    chosen = np.expand_dims(wide(results[0]), axis)
    with np.errstate(invalid="ignore"):
        there = key == chosen
        for array, result in zip(arrays[1:], results[1:], strict=True):
            there = there & (array == np.expand_dims(result, axis))
        low, high = key - bound.below, key + bound.above
        least = np.min(low, axis=axis, keepdims=True, where=there, initial=np.inf)
        most = np.max(high, axis=axis, keepdims=True, where=there, initial=-np.inf)
        candidates = there | ((low <= most) & (high >= least) & (bound.uncertain | (most > least)))
    value = wide(arrays[position])
    mine = bounds[position]
    ends = [
        np.min(value - mine.below, axis=axis, where=candidates, initial=np.inf),
        np.max(value + mine.above, axis=axis, where=candidates, initial=-np.inf),
    ]
    several = np.count_nonzero(candidates, axis=axis) > 1
    kind = np.where(several, CHOICE if position else 0, 0)
    if mine.kind.any():
        kind = np.maximum(kind, np.where(mine.kind.max(axis=axis) > 0, CHOICE, 0))
    found = Bound.between(ends[0], wide(results[position]), ends[1], kind)
    unknown = np.asarray(~there.any(axis=axis) | np.isnan(key).any(axis=axis))
    touched = bound.uncertain.any(axis=axis)
    return Bound.around(np.zeros(1)).where(np.asarray(~touched), LOST.where(unknown, found))


def of_dot(
    factors: tuple[Array, Array],
    start: Array,
    errors: tuple[Array | None, Array | None, Array],
    narrowed: float,
    u: float,
) -> Array:
    """The error of ``a @ b + start`` in any order, with unit roundoff ``u`` of the sums.

    ``factors`` are the sizes of a and b, ``errors`` those of a and b, None for exact ones, and of what the sum starts
    with; ``start`` is overwritten. Both factors also lose the part ``narrowed`` of each number. Each row of a is first
    multiplied by what its sums may be off by, so that one product of tiles is enough where b is exact.
    """
    a, b = factors
    e_a, e_b, e_start = errors
    with np.errstate(all="ignore"):
        terms = np.full((1, 1, 1), float(a.shape[-1]))
        if not a.min(initial=1) > 0:
            terms = np.count_nonzero(a, axis=-1, keepdims=True).astype(np.float64)
        # The accumulator is one more term; products that are not exact in it are one more rounding.
        part = 2 * rounding_rules.gamma(terms + 1, u)
        if not narrowed and _adds_products_exactly(a, b, start, u):
            part = np.zeros((1, 1, 1))
        # (a + e_a) (1 + n) times (b + e_b) (1 + n), and the part of all that sums lose, without a b.
        lost = (1 + part) * (1 + narrowed) ** 2 - 1
        moved = lost.astype(a.dtype) * (_raised(a) if a.dtype == np.float32 else a)
        if e_a is not None:
            # In float32 this rounds a few times: `_upwards` adds more than that.
            moved = added(_raised(e_a) * (1 + lost).astype(np.float32), moved)
        total = _upwards(moved, b)
        if e_b is not None:
            total = added(total, _upwards((1 + lost) * (a if e_a is None else a + e_a), e_b))
        total = added(total, e_start)
        begins = (terms > 0) & (part > 0)
        if begins.any() and some(start):
            more = added(start, e_start)
            more *= 2 * u
            total = added(total, more if begins.all() else np.where(begins, more, 0.0))
    return rounding_rules.known(total)


_LEAST = np.float32(2.0**-126)


def _upwards(a: Array, b: Array) -> Array:
    """``a @ b`` of numbers that are not negative, or somewhat more: computed in float32, if it reaches so far."""
    length = a.shape[-1]
    rows = None if a.min(initial=np.inf) > 0 else a.any(axis=-1, keepdims=True)
    narrow = product(*(_raised(part) for part in (a, b)))
    if not narrow.max(initial=0) < np.inf:
        a, b = (np.where(np.isfinite(part), wide(part), 1e300) for part in (a, b))
        return np.asarray(product(a, b) * (1 + (length + 8) * 2.0**-23))
    found = np.asarray(np.multiply(narrow, 1 + (length + 8) * 2.0**-23, dtype=np.float64))
    found += length * 2.0**-126
    return found if rows is None or rows.all() else np.where(rows, found, 0.0)


def _raised(part: Array) -> Array:
    """The numbers in float32, no less than they were."""
    narrow = part.astype(np.float32, copy=False)
    if narrow.min(initial=_LEAST) >= _LEAST:
        return narrow
    return np.where((narrow < _LEAST) & (part > 0), _LEAST, narrow)


def _adds_products_exactly(a: Array, b: Array, start: Array, u: float) -> bool:
    """Whether no sum of these products is rounded: all numbers are whole, and the sums are small enough."""
    if not u:
        return True
    for part in (a, b, start):
        if not _multiples(part.reshape(-1)[:_LOOK], 1.0) or not _multiples(part, 1.0):
            return False
    return bool(((product(a, b) + start) * u <= 0.5).all())


def of_histogram(array: Array, bound: Bound, raw: Array) -> Bound | None:
    """A value that may fall into other bins may be missing in its own one, and be in these."""
    if not bound.any:
        return None
    below, above = np.zeros(raw.shape), np.zeros(raw.shape)
    rows, lanes = np.nonzero(bound.uncertain)
    low = (wide(array) - bound.below)[rows, lanes]
    high = (wide(array) + bound.above)[rows, lanes]
    value = wide(array)[rows, lanes]
    if not np.isfinite(low).all() or not np.isfinite(high).all() or (high - low).max() > _WIDEST:
        return LOST
    bins = raw.shape[1]
    for offset in range(int((high - low).max()) + 1):
        bin_of = low + offset
        there = (bin_of <= high) & (bin_of >= 0) & (bin_of < bins)
        own = there & (bin_of == value)
        np.add.at(below, (rows[own], bin_of[own].astype(np.int64)), 1.0)
        other = there & (bin_of != value)
        np.add.at(above, (rows[other], bin_of[other].astype(np.int64)), 1.0)
    return Bound(below, above, np.where(below + above > 1, CHOICE, 1))
