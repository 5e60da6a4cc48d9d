"""CUDA's math library by the names of its symbols (``__nv_sinf``), on registers: for `tt.extern_elementwise`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from triton_lab.localization import _
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.math import FUNCTIONS as _ELEMENTARY
from triton_lab.native.math import (
    error_function,
    hyperbolic,
    integer_bits,
    inverse_error_function,
    library_calls,
    modified_bessel,
    number_conversions,
    powers,
    roots,
    rounding_directions,
    trigonometric,
    whole_numbers,
)
from triton_lab.native.math.double_double import in_numbers
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma
from triton_lab.native.unsupported import Unsupported

_Function = Callable[..., LaneArithmetic]


def library(code: FunctionBuilder, symbol: str, operands: Sequence[Reg], kind: str) -> Reg:
    """The result of the function ``symbol``, as a register of ``kind``. Raises Unsupported."""
    function = _FUNCTIONS.get(symbol)
    if function is None:
        raise Unsupported(_("the library function {symbol}").format(symbol=symbol))
    lanes = max(x.lanes for x in operands)
    found = function(*(LaneArithmetic(code, code.splat(x, lanes)) for x in operands)).reg
    # A truth value is returned as an integer.
    return code.cast("zext", found, kind) if found.kind == "i1" != kind else found


def _elementary(name: str) -> _Function:
    return lambda x: LaneArithmetic(x.code, _ELEMENTARY[name](x.code, x.reg))


def _by_c(name: str) -> _Function:
    return functools.partial(library_calls.called, name)


def _wide(function: Callable[..., LaneArithmetic]) -> _Function:
    return lambda *operands: in_numbers(function, *operands)


def _intrinsic(name: str) -> _Function:
    return lambda *operands: operands[0].intrinsic(name, *operands[1:])


def _power_of_integer(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    return in_numbers(powers.power, x, y.cast("sitofp", x.kind))


def _inverse(function: Callable[..., LaneArithmetic]) -> _Function:
    """``1 / function``, computed in float64."""

    def apply(*operands: LaneArithmetic) -> LaneArithmetic:
        wide = [x.cast("fpext", "double") for x in operands]
        found = 1.0 / function(*wide)
        return found.cast("fptrunc", operands[0].kind) if operands[0].kind != "double" else found

    return apply


def _length(*components: LaneArithmetic) -> LaneArithmetic:
    """The length of a vector, computed in float64."""
    wide = [x.cast("fpext", "double") for x in components]
    total = wide[0] * wide[0]
    for x in wide[1:]:
        total = total + x * x
    found = total.intrinsic("sqrt")
    return found.cast("fptrunc", "float") if components[0].kind == "float" else found


def _to_integer(target: str, signed: bool, rounding: str) -> _Function:
    """A conversion; ``rounding`` is LLVM's name of its rounding, empty for halves away from zero."""

    def apply(x: LaneArithmetic) -> LaneArithmetic:
        rounded = whole_numbers.flushed(x).intrinsic(rounding) if rounding else whole_numbers.round_half_away(x)
        source = "f32" if x.kind == "float" else "f64"
        return LaneArithmetic(x.code, number_conversions.float_to_integer(x.code, rounded.reg, source, target, signed))

    return apply


def _from_integer(target: str, signed: bool) -> _Function:
    return lambda x: LaneArithmetic(x.code, number_conversions.integer_to_float(x.code, x.reg, target, signed))


def _flushed(function: _Function) -> _Function:
    """``function`` with subnormal float32 operands and results flushed to zero."""
    return lambda *operands: whole_numbers.flushed(function(*(whole_numbers.flushed(x) for x in operands)))


_BOTH: dict[str, _Function] = {
    **{name: _elementary(name) for name in _ELEMENTARY},
    "acos": _wide(trigonometric.acos),
    "acosh": _wide(hyperbolic.acosh),
    "asin": _wide(trigonometric.asin),
    "asinh": _wide(hyperbolic.asinh),
    "atan": _wide(trigonometric.atan),
    "atan2": _wide(trigonometric.atan2),
    "atanh": _wide(hyperbolic.atanh),
    "cbrt": _wide(roots.cbrt),
    "ceil": _flushed(_intrinsic("ceil")),
    "copysign": _intrinsic("copysign"),
    "cosh": _wide(hyperbolic.cosh),
    "cospi": _wide(trigonometric.cospi),
    "cyl_bessel_i0": _wide(modified_bessel.i0),
    "cyl_bessel_i1": _wide(modified_bessel.i1),
    "erfc": _wide(error_function.erfc),
    "erfcinv": _wide(inverse_error_function.erfcinv),
    "erfcx": _wide(error_function.erfcx),
    "erfinv": _wide(inverse_error_function.erfinv),
    "exp10": _wide(powers.exp10),
    "expm1": _wide(powers.expm1),
    "fabs": _flushed(abs),
    "fdim": whole_numbers.positive_difference,
    "floor": _flushed(_intrinsic("floor")),
    "fma": fma,
    "fmod": whole_numbers.fmod,
    "hypot": _wide(roots.hypot),
    "ilogb": whole_numbers.ilogb,
    "j0": _by_c("j0"),
    "j1": _by_c("j1"),
    "jn": functools.partial(library_calls.of_order, "jn"),
    "ldexp": whole_numbers.ldexp,
    "lgamma": _by_c("lgamma"),
    "llrint": _to_integer("i64", True, "rint"),
    "llround": _to_integer("i64", True, ""),
    "log10": _wide(powers.log10),
    "log1p": _wide(powers.log1p),
    "logb": whole_numbers.logb,
    "nearbyint": _intrinsic("rint"),
    "nextafter": whole_numbers.nextafter,
    "norm3d": _length,
    "norm4d": _length,
    "normcdf": _wide(error_function.normcdf),
    "normcdfinv": _wide(inverse_error_function.normcdfinv),
    "pow": _wide(powers.power),
    "powi": _power_of_integer,
    "rcbrt": _wide(roots.rcbrt),
    "remainder": whole_numbers.remainder,
    "rhypot": _inverse(_wide(roots.hypot)),
    "rint": _intrinsic("rint"),
    "rnorm3d": _inverse(_length),
    "rnorm4d": _inverse(_length),
    "round": whole_numbers.round_half_away,
    "scalbn": whole_numbers.ldexp,
    "sinh": _wide(hyperbolic.sinh),
    "sinpi": _wide(trigonometric.sinpi),
    "sqrt": _intrinsic("sqrt"),
    "tan": _wide(trigonometric.tan),
    "tanh": _wide(hyperbolic.tanh),
    "tgamma": library_calls.tgamma,
    "trunc": _intrinsic("trunc"),
    "y0": _by_c("y0"),
    "y1": _by_c("y1"),
    "yn": functools.partial(library_calls.of_order, "yn"),
}
_FAST = ("cos", "exp", "exp10", "log", "log10", "log2", "pow", "sin", "tan", "tanh")


def _is_infinite(x: LaneArithmetic) -> LaneArithmetic:
    return abs(x).equals(float("inf"))


def _is_finite(x: LaneArithmetic) -> LaneArithmetic:
    return abs(x).less(float("inf"))


def _sign(x: LaneArithmetic) -> LaneArithmetic:
    return x.bits().less(0)


def _saturated(x: LaneArithmetic) -> LaneArithmetic:
    """``x`` clamped to [0, 1]; NaN becomes 0."""
    return x.intrinsic("maximumnum", 0.0).intrinsic("minimumnum", 1.0)


def _single_extreme(name: str) -> _Function:
    return lambda x, y: whole_numbers.flushed(x).intrinsic(name, whole_numbers.flushed(y))


_OTHERS: dict[str, _Function] = {
    "__nv_fast_fdividef": lambda x, y: x / y,
    "__nv_isfinited": _is_finite,
    "__nv_finitef": _is_finite,
    "__nv_isinfd": _is_infinite,
    "__nv_isinff": _is_infinite,
    "__nv_isnand": LaneArithmetic.isnan,
    "__nv_isnanf": LaneArithmetic.isnan,
    "__nv_signbitd": _sign,
    "__nv_signbitf": _sign,
    "__nv_saturatef": _flushed(_saturated),
    "__nv_fmax": _intrinsic("maximumnum"),
    "__nv_fmin": _intrinsic("minimumnum"),
    "__nv_fmaxf": _single_extreme("maximumnum"),
    "__nv_fminf": _single_extreme("minimumnum"),
    "__nv_frsqrt_rn": _elementary("rsqrt"),
    # Arithmetic with rounding to nearest.
    "__nv_fadd_rn": _flushed(lambda x, y: x + y),
    "__nv_fsub_rn": _flushed(lambda x, y: x - y),
    "__nv_fmul_rn": _flushed(lambda x, y: x * y),
    "__nv_fdiv_rn": _flushed(lambda x, y: x / y),
    "__nv_frcp_rn": _flushed(lambda x: 1.0 / x),
    "__nv_fsqrt_rn": _flushed(_intrinsic("sqrt")),
    "__nv_fmaf_rn": _flushed(fma),
    "__nv_fmaf_ieee_rn": fma,
    "__nv_dadd_rn": lambda x, y: x + y,
    "__nv_dsub_rn": lambda x, y: x - y,
    "__nv_dmul_rn": lambda x, y: x * y,
    "__nv_ddiv_rn": lambda x, y: x / y,
    "__nv_drcp_rn": lambda x: 1.0 / x,
    "__nv_dsqrt_rn": _intrinsic("sqrt"),
    "__nv_fma_rn": fma,
    "__nv_double2float_rn": lambda x: x.cast("fptrunc", "float"),
}
_INTEGERS = {"int": ("i32", True), "uint": ("i32", False), "ll": ("i64", True), "ull": ("i64", False)}
_DIRECTIONS = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}
_CONVERSIONS: dict[str, _Function] = {
    f"__nv_{source}2{name}_{mode}": _to_integer(kind, signed, rounding)
    for source in ("float", "double")
    for name, (kind, signed) in _INTEGERS.items()
    for mode, rounding in _DIRECTIONS.items()
} | {
    f"__nv_{name}2{target}_rn": _from_integer(element, signed)
    for target, element in (("float", "f32"), ("double", "f64"))
    for name, (_unused, signed) in _INTEGERS.items()
}

_BITS: dict[str, _Function] = {
    **dict.fromkeys(("__nv_abs", "__nv_llabs"), abs),
    **dict.fromkeys(("__nv_brev", "__nv_brevll"), integer_bits.reversed_bits),
    "__nv_byte_perm": integer_bits.byte_permutation,
    **dict.fromkeys(("__nv_clz", "__nv_clzll"), integer_bits.leading_zeros),
    **dict.fromkeys(("__nv_ffs", "__nv_ffsll"), integer_bits.first_set),
    **dict.fromkeys(("__nv_popc", "__nv_popcll"), integer_bits.bit_count),
    "__nv_hadd": integer_bits.average(True, 0),
    "__nv_uhadd": integer_bits.average(False, 0),
    "__nv_rhadd": integer_bits.average(True, 1),
    "__nv_urhadd": integer_bits.average(False, 1),
    "__nv_mul24": integer_bits.product_24,
    "__nv_umul24": integer_bits.product_24_unsigned,
    **dict.fromkeys(("__nv_mulhi", "__nv_mul64hi"), integer_bits.upper_product(True)),
    **dict.fromkeys(("__nv_umulhi", "__nv_umul64hi"), integer_bits.upper_product(False)),
    "__nv_sad": integer_bits.difference(True),
    "__nv_usad": integer_bits.difference(False),
    **dict.fromkeys(("__nv_max", "__nv_llmax"), integer_bits.greater),
    **dict.fromkeys(("__nv_min", "__nv_llmin"), integer_bits.lesser),
    **dict.fromkeys(("__nv_umax", "__nv_ullmax"), integer_bits.greater_unsigned),
    **dict.fromkeys(("__nv_umin", "__nv_ullmin"), integer_bits.lesser_unsigned),
    **dict.fromkeys(("__nv_float_as_int", "__nv_float_as_uint", "__nv_double_as_longlong"), integer_bits.as_bits),
    **dict.fromkeys(("__nv_int_as_float", "__nv_uint_as_float", "__nv_longlong_as_double"), integer_bits.as_float),
    "__nv_double2hiint": integer_bits.upper_word,
    "__nv_double2loint": integer_bits.lower_word,
    "__nv_hiloint2double": integer_bits.from_words,
    "__nv_rcp64h": lambda x: ((1.0 / x).bits() & -(1 << 32)).as_float(),
}

_FUNCTIONS: Mapping[str, _Function] = {
    **{f"__nv_{name}": function for name, function in _BOTH.items()},
    **{f"__nv_{name}f": function for name, function in _BOTH.items()},
    **{f"__nv_fast_{name}f": _BOTH[name] for name in _FAST},
    **_OTHERS,
    **_CONVERSIONS,
    **_BITS,
    **rounding_directions.FUNCTIONS,
}
# The symbols that `library` knows.
SYMBOLS = frozenset(_FUNCTIONS)
