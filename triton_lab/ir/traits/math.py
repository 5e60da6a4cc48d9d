"""The dialect ``math``: functions of numbers, lane by lane.

The errors of a GPU's approximations in float32 are those of the PTX manual (``ex2``, ``sqrt``, ``rsqrt``, ``div.full``)
and of the CUDA programming guide (functions of libdevice). That of ``lg2`` and ``sin`` is absolute.
"""

from __future__ import annotations

from functools import partial

from triton_lab.ir.traits import lane_rules as rules
from triton_lab.ir.traits.trait import CORRECT, Kind, Trait, approximate, table

_FLOAT = partial(Trait, kind=Kind.ELEMENTWISE, lanes=rules.lane_by_lane, numbers="float")
_INTEGER = partial(Trait, kind=Kind.ELEMENTWISE, lanes=rules.lane_by_lane, numbers="integer")

_OTHERS = [
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "erfc", "expm1", "fpowi"),
    *("log10", "log1p", "powf", "sinh", "tan", "tanh"),
]

TRAITS = table(
    _FLOAT("math.absf", idempotent=True),
    _INTEGER("math.absi", idempotent=True, wraps=True, signed=True),
    _FLOAT("math.ceil", idempotent=True, siblings=("math.floor",)),
    _FLOAT("math.floor", idempotent=True, siblings=("math.ceil",)),
    _FLOAT("math.fma", sums=True, rounding=CORRECT, commutative=True),
    _FLOAT("math.exp", rounding=approximate(2.0, unit="exp2"), inverse="math.log", siblings=("math.exp2",)),
    _FLOAT(
        "math.exp2", rounding=approximate(2.0, flushes=True, unit="exp2"), inverse="math.log2", siblings=("math.exp",)
    ),
    _FLOAT("math.log", rounding=approximate(None, unit="log2"), inverse="math.exp", siblings=("math.log2",)),
    _FLOAT("math.log2", rounding=approximate(None, unit="log2"), inverse="math.exp2", siblings=("math.log",)),
    _FLOAT(
        "math.sqrt", rounding=approximate(1.0, flushes=True, unit="square root", ieee=True), siblings=("math.rsqrt",)
    ),
    _FLOAT("math.rsqrt", rounding=approximate(2.0, flushes=True, unit="square root"), siblings=("math.sqrt",)),
    _FLOAT("math.sin", rounding=approximate(None, unit="sine"), siblings=("math.cos",)),
    _FLOAT("math.cos", rounding=approximate(None, unit="sine"), siblings=("math.sin",)),
    _FLOAT("math.erf", rounding=approximate(2.0, flushes=True, unit="erf")),
    # Triton's front end makes none of these; its passes and other front ends may.
    *(_FLOAT(f"math.{name}", rounding=approximate(None, flushes=None)) for name in _OTHERS),
    *(_FLOAT(f"math.{name}", idempotent=True) for name in ("round", "roundeven", "trunc")),
    _FLOAT("math.copysign"),
    _FLOAT("math.clampf"),
    *(_INTEGER(f"math.{name}", bitwise=True) for name in ("ctlz", "ctpop", "cttz")),
    _INTEGER("math.ipowi", wraps=True, signed=True),
    *(
        Trait(f"math.{name}", Kind.COMPARES, rules.lane_by_lane, "float")
        for name in ("isfinite", "isinf", "isnan", "isnormal")
    ),
)
