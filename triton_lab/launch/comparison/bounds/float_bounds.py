"""Bounds of elementwise operations whose result is a float: see `rounding_rules` for the mathematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Op, traits
from triton_lab.ir.traits import Accuracy, Kind
from triton_lab.launch.comparison.bounds import rounding_rules
from triton_lab.launch.comparison.bounds.bound import CHOICE, NOTHING, SHARP, Bound, alone, decided, kinds
from triton_lab.launch.comparison.bounds.rounding_rules import added
from triton_lab.launch.comparison.number_formats import bits, smallest, unit_roundoff, wide

Array = NDArray[Any]

ADDS = traits.names(lambda trait: trait.numbers == "float" and trait.symbol in ("+", "-"))
_QUOTIENTS = traits.names(lambda trait: trait.numbers == "float" and trait.symbol == "/")
_CASTS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.numbers == "float" and not trait.makes)
_OF_INTEGERS = traits.names(lambda trait: trait.makes == "float")
_ROOTS = {name for name, function in rounding_rules.RISING.items() if function is np.sqrt}
# Both bounds of the result are the function of both bounds of the operands.
_EXTREMES: dict[str, Any] = {
    "arith.maximumf": np.maximum, "arith.maxnumf": np.fmax, "arith.minimumf": np.minimum, "arith.minnumf": np.fmin,
    "tt.clampf": lambda x, low, high: np.fmin(np.fmax(x, low), high),
}  # fmt: skip
# Exact if their operands are. (A CPU's remainder is.)
EXACT = traits.names(lambda trait: trait.is_lane_by_lane and trait.rounding.accuracy is Accuracy.EXACT) | {"arith.remf"}


@dataclass(frozen=True, eq=False)
class FloatStep:
    """An operation that has run, its operands ``arrays``, and its result ``raw``, as they were computed.

    ``bounds`` are those of the operands, None for exact ones. ``fused`` are the positions of products that a GPU may
    fuse with this addition, and how far these are from the exact ones, if that is known. ``varies``: whether targets
    round it differently, even if its operands are equal.
    ``widens``: whether it is a cast that loses nothing. ``summed``: whether it adds to a sum of more than two terms,
    which may be added in another order.
    """

    op: Op
    arrays: Sequence[Array]
    bounds: Sequence[Bound | None]
    raw: Array
    fused: Mapping[int, Array | None] = field(default_factory=dict)
    varies: bool = False
    widens: bool = False
    summed: bool = False

    @cached_property
    def given(self) -> Sequence[Array]:
        """The operands in float64, as the operation reads them."""
        return [_read(self.op, array) for array in self.arrays]

    @property
    def factors(self) -> Sequence[Array]:
        """The operands in float64, or in float32 where that holds all of them."""
        return self.arrays if all(array.dtype.itemsize >= 4 for array in self.arrays) else self.given

    @cached_property
    def result(self) -> Array:
        """The result in float64."""
        return wide(self.raw)

    @property
    def name(self) -> str:
        """The operation's name, for library functions that of the same operation."""
        return rounding_rules.named(self.op)

    @property
    def known(self) -> list[Bound]:
        """The bounds, zeros for exact operands."""
        return [NOTHING if one is None else one for one in self.bounds]

    @property
    def exact(self) -> bool:
        """Whether all operands are exact."""
        return all(one is None for one in self.bounds)


def of_float(step: FloatStep, same: bool) -> Bound | None:
    """The bound of a float result; None if it is exact.

    With ``same``, both evaluations are of this kernel on any target; otherwise each operation may round to either of
    its neighbours.
    """
    name = step.name
    if name in _EXTREMES:
        return None if step.exact else _of_extremes(step)
    if name == "arith.negf":
        return None if step.exact else Bound(step.known[0].above, step.known[0].below, step.known[0].kind)
    if name == "math.absf":
        return None if step.exact else _of_size(step)
    if step.widens:
        return step.bounds[0]
    if (function := rounding_rules.stepping(step.op)) is not None:
        return None if step.exact else _of_steps(step, function)
    if name in _OF_INTEGERS and not step.exact:
        return _of_integers(step)
    if step.exact and name in EXACT:
        return None
    if step.exact and not step.fused and not step.varies:
        if same:
            return None
        return Bound.around(2 * unit_roundoff(step.raw.dtype) * _size(step)) if step.summed else _rounded_once(step)
    return _propagated(step, same)


def _propagated(step: FloatStep, same: bool) -> Bound:
    """The error that comes from the operands, and that of this operation's own rounding."""
    u, tiny = unit_roundoff(step.raw.dtype), smallest(step.raw.dtype)
    # Without `same`, this result is the nearest number, and the other one either neighbour of its exact result.
    rate = (2 if same else 3) * u
    least = 0.0 if step.name in ADDS else (1 if same else 1.5) * tiny  # sums of small numbers are exact
    if step.varies and not step.exact and traits.of(step.op.name).rounding.unit == "exp2":
        power = rounding_rules.power(step.op, step.arrays[0], step.result, step.known[0].size, u, same)
        if power is not None:
            power += least + tiny
            return Bound.around(power, kinds(step.known))
    plain = not step.fused and not step.varies and step.raw.dtype.itemsize >= 4
    size = _size(step) if step.summed else rounding_rules.magnitude(step.raw if plain else step.result)
    fresh = _fresh(step, size, u, tiny)
    inherited = np.zeros(1) if step.exact else _inherited(step, [one.size for one in step.known])
    total = np.asarray(np.multiply(size, rate, dtype=np.float64))
    if least:
        total += least
    if any(inherited is one.size for one in step.known):
        inherited = inherited * (1 + rate)
    else:
        inherited *= 1 + rate
    total = added(total, inherited)
    if fresh is not None:
        total = added(total, fresh) if same else np.maximum(inherited + fresh, total)
    if inherited.min(initial=np.inf) > 0:
        return Bound.around(rounding_rules.known(total), kinds(step.known))
    quiet = inherited == 0 if fresh is None else (inherited == 0) & (fresh == 0)
    if not quiet.any():
        return Bound.around(rounding_rules.known(total), kinds(step.known))
    if same:
        return Bound.around(rounding_rules.known(np.where(quiet, 0.0, total)), kinds(step.known))
    if step.summed:
        return Bound.around(rounding_rules.known(total), kinds(step.known))
    found = Bound.around(rounding_rules.known(total), kinds(step.known))
    return (_rounded_once(step) or NOTHING).where(quiet, found)


def _size(step: FloatStep) -> Array:
    """The size of the largest number that an addition has to do with: of its operands and its result."""
    sizes = [rounding_rules.magnitude(one) for one in (*step.given, step.result)]
    return np.asarray(np.maximum(np.maximum(sizes[0], sizes[1]), sizes[-1]))


def _fresh(step: FloatStep, size: Array, u: float, tiny: float) -> Array | None:
    """The error that targets add even to exact operands, None if there is none: fused products, approximations."""
    found: Array | None = None
    for k, off in step.fused.items():
        here = 2 * u * size + (tiny if step.name in ADDS else 2 * tiny)
        if off is None:
            more = u * rounding_rules.magnitude(step.given[k]) + (tiny + here)
        else:
            more = np.where(off > 0, off + here, 0.0)
        found = more if found is None else found + more
    if step.varies:
        more = rounding_rules.own(step.op, step.given[0], size, u)
        found = more if found is None else found + more
    return found


def _inherited(step: FloatStep, errors: Sequence[Array]) -> Array:
    op, name = step.op, step.name
    if name in ADDS:
        if op.name == "arith.subf" and op.operands[0] == op.operands[1]:
            return np.zeros(1)
        return errors[0] + errors[1]
    if name in _CASTS or traits.of(name).rounding.unit == "sine":
        return errors[0]
    if name == "arith.mulf":
        a, b = step.factors
        return rounding_rules.product(a, b, errors[0], errors[1])
    given = step.given
    if name == "math.fma":
        return rounding_rules.product(given[0], given[1], errors[0], errors[1]) + errors[2]
    if name in _QUOTIENTS:
        return rounding_rules.quotient(given[0], given[1], step.result, errors[0], errors[1])
    if (function := rounding_rules.rising(op)) is not None and len(given) == 1:
        return rounding_rules.between(op, function, given[0], step.result, errors[0], smallest(step.raw.dtype))
    most: Array = np.maximum.reduce(np.broadcast_arrays(*errors))
    return np.where(most > 0, np.inf, 0.0)


def _ends(step: FloatStep) -> tuple[list[Array], list[Array]]:
    """The least and the greatest value of each operand."""
    pairs = list(zip(step.given, step.known, strict=True))
    return [x - one.below for x, one in pairs], [x + one.above for x, one in pairs]


def _of_extremes(step: FloatStep) -> Bound:
    function = _EXTREMES[step.name]
    low, high = _ends(step)
    special = [np.where(one.uncertain, np.maximum(one.kind, 0), 0) for one in step.known]
    kind = np.where(np.maximum.reduce(np.broadcast_arrays(*special)) > 0, alone(step.known), 0)
    return Bound.between(function(*low), step.result, function(*high), kind)


def _of_size(step: FloatStep) -> Bound:
    (low,), (high,) = _ends(step)
    least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return Bound.between(least, step.result, np.maximum(np.abs(low), np.abs(high)), step.known[0].kind)


def _of_steps(step: FloatStep, function: Any) -> Bound:
    """Whole numbers that a float was rounded to: they are exact unless the float's bound reaches another one."""
    (low,), (high,) = _ends(step)
    return Bound.between(function(low), step.result, function(high), decided(step.known[0].kind))


def _of_integers(step: FloatStep) -> Bound:
    one, u = step.known[0], unit_roundoff(step.raw.dtype)
    x = step.given[0]
    most = np.abs(x) + one.size
    small = most * u <= 0.5  # these are exact in the result's dtype
    rounding = np.where(small | (one.size == 0), 0.0, 2 * u * most)
    kind = np.where(small, one.kind, np.where(one.uncertain, CHOICE, 0))
    return Bound(one.below + rounding, one.above + rounding, kind)


def _read(op: Op, array: Array) -> Array:
    """An operand in float64, as the operation reads it."""
    if array.dtype == np.bool_ and op.name == "arith.sitofp":
        return -wide(array)
    if array.dtype.kind == "i" and op.name == "arith.uitofp":
        return wide(array.view(f"u{array.dtype.itemsize}"))
    return wide(array)


# --- Operations on exact operands, in another evaluation -------------------------------------------


def _rounded_once(step: FloatStep) -> Bound | None:
    """The bound of one rounding: the result's neighbour on the other side of the exact result."""
    u = unit_roundoff(step.raw.dtype)
    exact = _exactly(step) if step.raw.dtype.itemsize <= 4 else None
    if exact is None:
        return Bound.around(2 * u * np.where(np.isfinite(step.result), np.abs(step.result), 0.0))
    value, rest = exact  # the exact result is their sum, or lies between them
    side = np.sign(value - step.result)
    side = np.where(side == 0, np.sign(rest), side)
    side = np.where(np.isfinite(step.result) & np.isfinite(value), side, 0.0)
    if not side.any():
        return None
    apart = np.abs(wide(neighbour(step.raw, side)) - step.result)
    return Bound(np.where(side < 0, apart, 0.0), np.where(side > 0, apart, 0.0), np.asarray(SHARP))


def _exactly(step: FloatStep) -> tuple[Array, Array | float] | None:
    """The result of exact arithmetic in float64, and the sign of what is left; None if it is not known."""
    name, given = step.name, step.given
    if name in ADDS:
        a, b = given[0], given[1] if name == "arith.addf" else -given[1]
        return _sum(a, b)
    if name == "arith.mulf":
        return given[0] * given[1], 0.0
    if name == "math.fma":
        return _sum(given[0] * given[1], given[2])
    if name in _QUOTIENTS:
        a, b = np.broadcast_arrays(given[0], given[1])
        return a / b, 0.0
    if name in _ROOTS:
        return np.sqrt(given[0]), 0.0
    if name in _CASTS or name in _OF_INTEGERS:
        return given[0], 0.0
    return None


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The sum in float64 and its error (Knuth's TwoSum)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def neighbour(values: Array, side: Array) -> Array:
    """The next number of the dtype in the direction of ``side``: 1, -1, or 0 for the number itself."""
    raw = bits(np.broadcast_to(values, np.broadcast_shapes(values.shape, side.shape)))
    kind = np.dtype(f"i{raw.dtype.itemsize}")
    sign = raw.dtype.type(1 << (8 * raw.dtype.itemsize - 1))
    # As a signed number, the bits of floats are in order once those of negative ones are turned.
    turned = raw.view(kind).astype(np.int64)
    turned = np.where(turned < 0, -(turned & (int(sign) - 1)), turned) + side.astype(np.int64)
    back = np.where(turned < 0, (-turned) | int(sign), turned).astype(np.uint64).astype(raw.dtype)
    return back.view(values.dtype)
