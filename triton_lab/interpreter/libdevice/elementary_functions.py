"""Elementary and special functions: each for float64 and, with an ``f`` at the end of its name, for float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import exact_arithmetic, special_functions
from triton_lab.interpreter.min_max import fmax, fmin
from triton_lab.interpreter.number_conversion import float_to_float, float_to_integer, flushed
from triton_lab.interpreter.op_registry import union

Array = NDArray[Any]


def _logb(x: Array) -> Array:
    """The exponent, as a float."""
    exponent = (np.frexp(x)[1] - 1).astype(x.dtype)
    return np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, np.where(np.isnan(x), x, exponent))).astype(x.dtype)


def _ilogb(x: Array) -> Array:
    """The exponent, as an int32: the least int32 for zero and NaN, the greatest for infinity."""
    exponent = np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1, -(2**31))
    return np.where(np.isinf(x), 2**31 - 1, exponent).astype(np.int32)


def _scale(x: Array, exponent: Array) -> Array:
    return np.ldexp(x, exponent).astype(x.dtype)


def _positive_difference(x: Array, y: Array) -> Array:
    zero = np.array(0, x.dtype)
    return np.where(np.isnan(x) | np.isnan(y), x + y, np.where(x > y, x - y, zero))


def _power(x: Array, y: Array) -> Array:
    result: Array = np.power(x, y.astype(x.dtype))
    return result


def _fused(x: Array, y: Array, z: Array) -> Array:
    return float_to_float(exact_arithmetic.multiply_add(x, y, z), x.dtype)


def _long_round(x: Array) -> Array:
    return float_to_integer(special_functions.round_half_away(x), np.dtype(np.int64))


def _long_rint(x: Array) -> Array:
    return float_to_integer(np.rint(x), np.dtype(np.int64))


def _inverse(function: Callable[..., Array]) -> Callable[..., Array]:
    """``1 / function``, rounded once where the operands are float32."""

    def apply(*operands: Array) -> Array:
        wide = [operand.astype(np.float64) for operand in operands]
        return (1.0 / function(*wide)).astype(operands[0].dtype)

    return apply


def _of_flushed(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """``function`` with subnormal float32 inputs read as zeros, as the GPU's single instruction does."""
    return lambda x: function(flushed(x) if x.dtype == np.float32 else x)


_BOTH: dict[str, Callable[..., Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": _of_flushed(np.ceil),
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "cospi": special_functions.cospi,
    "cyl_bessel_i0": special_functions.i0,
    "cyl_bessel_i1": special_functions.i1,
    "erf": special_functions.erf,
    "erfc": special_functions.erfc,
    "erfcinv": special_functions.erfcinv,
    "erfcx": special_functions.erfcx,
    "erfinv": special_functions.erfinv,
    "exp": np.exp,
    "exp10": special_functions.exp10,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "fabs": _of_flushed(np.abs),
    "fdim": _positive_difference,
    "floor": _of_flushed(np.floor),
    "fma": _fused,
    "fmod": special_functions.fmod,
    "hypot": np.hypot,
    "ilogb": _ilogb,
    "j0": special_functions.j0,
    "j1": special_functions.j1,
    "jn": special_functions.jn,
    "ldexp": _scale,
    "lgamma": special_functions.lgamma,
    "llrint": _long_rint,
    "llround": _long_round,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logb": _logb,
    "nearbyint": np.rint,
    "nextafter": np.nextafter,
    "norm3d": special_functions.norm,
    "norm4d": special_functions.norm,
    "normcdf": special_functions.normcdf,
    "normcdfinv": special_functions.normcdfinv,
    "pow": _power,
    "powi": _power,
    "rcbrt": special_functions.rcbrt,
    "remainder": special_functions.remainder,
    "rhypot": _inverse(np.hypot),
    "rint": np.rint,
    "rnorm3d": _inverse(special_functions.norm),
    "rnorm4d": _inverse(special_functions.norm),
    "round": special_functions.round_half_away,
    "rsqrt": special_functions.rsqrt,
    "scalbn": _scale,
    "sin": np.sin,
    "sinh": np.sinh,
    "sinpi": special_functions.sinpi,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "tgamma": special_functions.tgamma,
    "trunc": np.trunc,
    "y0": special_functions.y0,
    "y1": special_functions.y1,
    "yn": special_functions.yn,
}

# On a GPU these are less exact; here they are as exact as the others.
_FAST: dict[str, Callable[..., Array]] = {
    "cos": np.cos,
    "exp": np.exp,
    "exp10": special_functions.exp10,
    "fdivide": np.divide,
    "log": np.log,
    "log10": np.log10,
    "log2": np.log2,
    "pow": _power,
    "sin": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
}

_OTHERS: dict[str, Callable[..., Array]] = {
    "__nv_isfinited": np.isfinite,
    "__nv_finitef": np.isfinite,
    "__nv_isinfd": np.isinf,
    "__nv_isinff": np.isinf,
    "__nv_isnand": np.isnan,
    "__nv_isnanf": np.isnan,
    "__nv_signbitd": np.signbit,
    "__nv_signbitf": np.signbit,
    # Clamped to [0, 1]; NaN becomes 0.
    "__nv_saturatef": _of_flushed(lambda x: fmin(fmax(x, np.zeros_like(x)), np.ones_like(x))),
}

FUNCTIONS: dict[str, Callable[..., Array]] = union(
    {f"__nv_{name}": function for name, function in _BOTH.items()},
    {f"__nv_{name}f": function for name, function in _BOTH.items()},
    {f"__nv_fast_{name}f": function for name, function in _FAST.items()},
    _OTHERS,
)
