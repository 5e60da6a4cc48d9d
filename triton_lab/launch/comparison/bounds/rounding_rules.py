"""The rules of rounding bounds, for each operation: how far apart two runs of one computation may be.

This is a running error analysis (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.3): each
value has a bound ``e``, and any other allowed evaluation is within ``e`` of it. With ``u`` the unit roundoff of the
result's dtype, and ``a``, ``b`` the values:

- ``a + b``: e_a + e_b, plus 2 u |a + b| for two roundings that may differ;
- ``a * b``: |a| e_b + |b| e_a + e_a e_b, plus the same;
- monotonic functions: how much they change between ``a - e_a`` and ``a + e_a``, plus their own error;
- a sum of ``n`` terms in any order: the sum of e, plus gamma_{n-1} times the greatest partial sum (his 4.2), plus how
  far the computed sum is from the exact one, where gamma_k = k u / (1 - k u) and zeros are no terms; a row times a
  column: 2 gamma_n times the sum of magnitudes (his 3.1).

There are two kinds of allowed evaluations. With ``same``, both runs are of this kernel. Then an operation with equal
operands gives equal results, unless targets round it differently: sums and dots in any order, float32 dots in tf32 if
the kernel allows it, a product fused with the addition after it, and functions that a GPU approximates. Otherwise
(another kernel, another formula) each operation may give either neighbour of its exact result; exact ones have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.special_functions import erf, round_half_away, rsqrt
from triton_lab.ir import Op, traits

Array = NDArray[Any]
Found = TypeVar("Found")

# Functions that a GPU approximates, and their errors in units (2 u): those of its own functions by the PTX manual.
APPROXIMATE = {
    **dict.fromkeys(traits.names(lambda trait: trait.rounding.unit), 2.0),
    "tt.extern_elementwise": 4.0,
}
# Absolute errors of lg2 and sin. (The operand of ex2, x log2(e), is rounded too: see `own`.)
_LOG_ERROR, _SINE_ERROR = 2.0**-21, 2.0**-20

RISING: dict[str, Callable[[Array], Array]] = {
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.sqrt": np.sqrt,
    "tt.precise_sqrt": np.sqrt,
    "math.rsqrt": rsqrt,
    "math.erf": erf,
}
_OF_LIBRARY: dict[str, Callable[[Array], Array]] = {
               "tanh": np.tanh, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
               "expm1": np.expm1, "log1p": np.log1p, "sinh": np.sinh, "asinh": np.arcsinh, "atan": np.arctan,
               "cbrt": np.cbrt, "log10": np.log10, "erf": erf}  # fmt: skip

# These give whole numbers, by name of the operation or of the library's function.
_STEPS: dict[str, Callable[[Array], Array]] = {
    "math.floor": np.floor, "math.ceil": np.ceil, "floor": np.floor, "ceil": np.ceil, "rint": np.rint,
    "nearbyint": np.rint, "trunc": np.trunc, "round": round_half_away,
}  # fmt: skip
# Functions of the library that are operations of Triton, too; the last ones are exact for all operands.
_SAME_AS = {
    "fabs": "math.absf", "fmax": "arith.maxnumf", "fmin": "arith.minnumf", "fma": "math.fma",
    "fmod": "arith.remf", "copysign": "arith.remf", "remainder": "arith.remf", "nextafter": "arith.remf",
}  # fmt: skip


def gamma(terms: Array | float, u: float) -> Array:
    """Higham's gamma_n = n u / (1 - n u); infinite if n u reaches 1."""
    product = np.asarray(terms, np.float64) * u
    with np.errstate(divide="ignore"):
        return np.where(product < 1, product / np.maximum(1 - product, 1e-300), np.inf)


def rising(op: Op) -> Callable[[Array], Array] | None:
    """The function of ``op`` in float64 if it is monotonic; else None."""
    return _looked_up(_OF_LIBRARY, op) or RISING.get(op.name)


def stepping(op: Op) -> Callable[[Array], Array] | None:
    """The function of ``op`` in float64 if it rounds to a whole number; else None."""
    return _looked_up(_STEPS, op) or _STEPS.get(op.name)


def named(op: Op) -> str:
    """The name of ``op``; of a library function, that of the operation which does the same, if there is one."""
    return _looked_up(_SAME_AS, op) or op.name


def varies(op: Op, on_gpu: bool = True) -> bool:
    """Whether the function of ``op`` is approximated: by a GPU, or else by libraries of the CPU."""
    name = named(op)
    return name in APPROXIMATE and stepping(op) is None and (on_gpu or not traits.of(name).rounding.ieee)


def _looked_up(table: Mapping[str, Found], op: Op) -> Found | None:
    """The entry of a library function, for either width of its operand."""
    if op.name != "tt.extern_elementwise":
        return None
    symbol = str(op.attributes.get("symbol", "")).removeprefix("__nv_")
    return table.get(symbol, table.get(symbol.removesuffix("f")))


def between(op: Op, function: Callable[[Array], Array], x: Array, result: Array, error: Array, tiny: float) -> Array:
    """How much a monotonic function of ``op`` changes if ``x`` changes by ``error``.

    ``result`` is the function of ``x`` as computed, and ``tiny`` the smallest number of its dtype.
    """
    with np.errstate(all="ignore"):
        if traits.of(op.name).rounding.unit == "exp2":
            # exp(x + e) - exp(x) is exp(x) times e^e - 1. The computed power is off by some units, or has underflowed.
            grows = np.log(function(np.ones(1))) * error
            found = times(np.abs(result) * (1 + 2.0**-18) + tiny, grows * (1 + grows))
            large = grows > 1
            return np.where(large, _unless_nan(function(x + error) - function(x)), found) if large.any() else found
        here = function(x)
        ends = [np.abs(function(end) - here) for end in (x - error, x + error)]
        return np.where(error > 0, _unless_nan(np.maximum(*ends)), 0.0)


def _unless_nan(far: Array) -> Array:
    return np.where(np.isnan(far), np.inf, far)


def _expm1(x: Array) -> Array:
    """e^x - 1 for x >= 0, or somewhat more: e^x - 1 <= x + x^2 up to 1."""
    found: Array = x * (1 + x)
    large = x > 1
    if large.any():
        found = np.where(large, np.expm1(np.minimum(x, 710.0)), found)
        found = np.where(x > 700, np.inf, found)
    return found


def own(op: Op, x: Array, size: Array, u: float) -> Array:
    """The error of an approximate function itself; ``size`` is the magnitude of its result, 0 if that is infinite."""
    units = 2 * APPROXIMATE[op.name] * u
    unit = traits.of(op.name).rounding.unit
    if unit == "exp2":
        found = _expm1(np.minimum(3 * u * np.abs(x), 700.0))
        found += units
        found = found * size
    else:
        found = units * size
        if unit == "log2":
            found = found + _LOG_ERROR
        elif unit == "sine":
            found = found + _SINE_ERROR * np.maximum(1.0, np.abs(x))
    # For these operands the result is exact.
    exact = x == 0
    if op.name != "arith.divf" and (not np.isfinite(x.sum()) or exact.any()):
        found = np.where(exact | np.isinf(x), 0.0, found)
    return np.where(np.isfinite(found), found, 0.0) if has_nan(found) or np.isinf(found.max(initial=0.0)) else found


_SMALL = 2.0**-8  # by how much of itself an error may be too great where one number serves all lanes


def power(op: Op, x: Array, result: Array, error: Array, u: float, same: bool) -> Array | None:
    """The whole error of an exponential function of ``x``, but for the smallest numbers, in few passes over memory.

    It is what `own` and `between` give, or somewhat more: t (1 + t) is at most t (1 + the greatest t). None if that is
    too much, or a result is not finite, or an ``error`` is 0.
    """
    if x.dtype.itemsize < 4 or error.shape != x.shape or not error.min(initial=np.inf) > 0:
        return None
    size, base = np.abs(x), float(np.log(RISING[op.name](np.ones(1)))[0])
    argument, moved = 3 * u * float(size.max(initial=0)), base * float(error.max(initial=0))
    if not (argument < _SMALL and moved < _SMALL and result.max(initial=0) < np.inf):
        return None
    rate, units = (2 if same else 3) * u, 2 * APPROXIMATE[op.name] * u
    found = np.asarray(np.multiply(size, 3 * u * (1 + argument), dtype=np.float64))
    found += error * (base * (1 + moved) * (1 + 2.0**-18) * (1 + rate))
    found += units + rate if same else max(units, rate)
    found *= result
    return found


def has_nan(array: Array) -> bool:
    """Whether some number is NaN: the greatest number is NaN then, too."""
    return bool(np.isnan(array.max(initial=-np.inf)))


def known(error: Array) -> Array:
    """The error, infinite where it is NaN: then all is lost."""
    return np.where(np.isnan(error), np.inf, error) if has_nan(error) else error


def magnitude(values: Array) -> Array:
    """The size of finite numbers, and 0 for the others."""
    size = np.abs(values)
    return size if size.max(initial=0) < np.inf else np.where(np.isfinite(size), size, 0.0)


def product(a: Array, b: Array, e_a: Array, e_b: Array) -> Array:
    """The error of a product that comes from its operands."""
    if is_zero(e_b):
        return times(np.abs(b), e_a)
    if is_zero(e_a):
        return times(np.abs(a), e_b)
    with np.errstate(invalid="ignore", over="ignore"):
        found = added(np.asarray(np.abs(a) * e_b), e_a * (np.abs(b) + e_b))
    return times(np.abs(a) + e_a, e_b) + times(np.abs(b), e_a) if has_nan(found) else found


def added(total: Array, more: Array) -> Array:
    """The sum, in the memory of ``total`` where it fits: a new array costs more than the sum."""
    if np.broadcast_shapes(total.shape, more.shape) != total.shape:
        return np.asarray(total + more)
    total += more
    return total


def is_zero(error: Array) -> bool:
    """Whether it is the error of an exact operand: a single zero."""
    return np.ndim(error) == 0 and not error.any()


def times(a: Array, b: Array) -> Array:
    """a * b of numbers that are not negative, with 0 * inf = 0, since an exact zero has no error."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(a * b)
        return np.where((a == 0) | (b == 0), 0.0, found) if has_nan(found) else found


def quotient(a: Array, b: Array, result: Array, e_a: Array, e_b: Array) -> Array:
    """The error of a quotient that comes from its operands; infinite if the divisor may be zero."""
    with np.errstate(all="ignore"):
        far = (e_a + times(np.abs(result), e_b)) / (np.abs(b) - e_b)
        return np.where((e_a == 0) & (e_b == 0), 0.0, np.where(np.abs(b) > e_b, far, np.inf))


# Triton's number for the input precision of dots.
_TF32 = (0,)
_CARRY = 2.0**-13  # the precision in which tensor cores of sm_90 sum fp8 products


def dot_inputs(op: Op, a: Any, result: Any) -> tuple[float, float]:
    """For a dot with inputs of dtype ``a``: the relative error of a rounded input, and the unit roundoff of sums."""
    narrowed = 2.0**-10 if a == np.float32 and op.attributes.get("inputPrecision", 0) in _TF32 else 0.0
    if a.itemsize == 1:
        return 0.0, _CARRY
    # Tensor cores truncate sums where other units round.
    return narrowed, 2.0**-23 if result == np.float32 else 2.0**-53 if result == np.float64 else 2.0**-10


def summed(
    values: Array, raw: Array, inherited: Array, axis: int, u: float, fold: Callable[[Array, int], Array]
) -> Array:
    """The distance of any sum of ``values`` along ``axis``, in any order, from the sum ``raw`` that was computed.

    ``fold`` is ``np.sum`` or ``np.cumsum``, and ``inherited`` the sum of the terms' own errors. No partial sum is
    greater than that of the positive or that of the negative terms, so their greater one bounds each rounding.
    """
    exact = magnitudes = fold(values, axis)
    least = values.min(initial=np.inf)
    if least < 0:
        magnitudes = fold(np.abs(values), axis)
    alike = [length if k == axis else 1 for k, length in enumerate(values.shape)]
    terms = fold(np.ones(alike) if least > 0 else (values != 0).astype(np.float64), axis)
    other = times(gamma(np.maximum(terms - 1, 0), u), 0.5 * (magnitudes + np.abs(exact)) + inherited)
    with np.errstate(invalid="ignore"):
        own = np.abs(exact - raw) + terms * 2.0**-52 * magnitudes
    return inherited + other + np.where(np.isfinite(own), own, other)


def contractible(op: Op, made_by: Mapping[int, Op]) -> list[int]:
    """The positions of an addition's operands that are products or quotients, which a GPU may fuse with it."""
    makers = [made_by.get(number) for number in op.operands]
    return [position for position, maker in enumerate(makers) if maker is not None and traits.of(maker.name).fuses]
