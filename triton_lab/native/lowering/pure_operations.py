"""The operations without effects whose results can be computed element by element, on demand."""

from __future__ import annotations

SHAPES = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.trans", "ttg.convert_layout"})

_ARITHMETIC = frozenset(
    f"arith.{name}"
    for name in [
        "addf",
        "subf",
        "mulf",
        "divf",
        "remf",
        "negf",
        "maxnumf",
        "minnumf",
        "maximumf",
        "minimumf",
        "addi",
        "subi",
        "muli",
        "andi",
        "ori",
        "xori",
        "divsi",
        "remsi",
        "divui",
        "remui",
        "shli",
        "shrsi",
        "shrui",
        "maxsi",
        "minsi",
        "maxui",
        "minui",
        "extsi",
        "extui",
        "trunci",
        "sitofp",
        "uitofp",
        "fptosi",
        "fptoui",
        "extf",
        "truncf",
        "bitcast",
        "cmpi",
        "cmpf",
        "select",
        "constant",
    ]
)
_MATH = frozenset(
    f"math.{name}"
    for name in [
        "exp",
        "exp2",
        "log",
        "log2",
        "sin",
        "cos",
        "erf",
        "sqrt",
        "rsqrt",
        "absf",
        "absi",
        "floor",
        "ceil",
        "fma",
    ]
)
_TRITON = frozenset(
    f"tt.{name}"
    for name in [
        "make_range",
        "addptr",
        "fp_to_fp",
        "bitcast",
        "ptr_to_int",
        "int_to_ptr",
        "precise_divf",
        "precise_sqrt",
        "approx_divf",
        "clampf",
        "mulhiui",
        "get_program_id",
        "get_num_programs",
        "extern_elementwise",
    ]
)

PURE = SHAPES | _ARITHMETIC | _MATH | _TRITON | {"ub.poison"}

# The rough cost in operations of a vector unit; 1 for operations that are not listed.
COSTS = {
    **dict.fromkeys(("math.exp", "math.exp2", "math.log", "math.log2", "math.sin", "math.cos"), 20),
    **dict.fromkeys(("arith.divsi", "arith.remsi", "arith.divui", "arith.remui"), 20),
    **dict.fromkeys(("arith.divf", "tt.precise_divf", "tt.approx_divf", "math.sqrt", "tt.precise_sqrt"), 8),
    "math.rsqrt": 12,
    "arith.remf": 100,
    "tt.extern_elementwise": 30,
    "math.erf": 50,
}
