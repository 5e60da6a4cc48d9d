"""The operations of `tests/backend/operations.py`, each as a kernel that keeps every lane of what it computes."""

from __future__ import annotations

import re
from typing import Any

from tests.backend.operations import OPERATIONS
from tests.gpu.fidelity.values import LANES, NARROW, SCALARS, WIDTH, is_float
from tests.interpreter.support import kernel_from

# They print, stop, loop for as long as their numbers say, or touch memory beyond a row.
_APART = {"device_print", "device_print in hexadecimal", "device_assert", "while", "range", "a pointer plus it"}
_APART |= {"histogram", "swizzle2d", "static"} | {name for name in OPERATIONS if name.startswith("descriptor")}
NAMES = tuple(name for name in OPERATIONS if name not in _APART)
_HEAD = """
@triton.jit
def product(x, y):
    return x * y

@triton.jit
def first(x, y):
    return x

@triton.jit
def keep_at(O, v):
    if v.dtype == tl.int1:
        v = v.to(tl.int8)
    base = O.to(tl.pointer_type(v.dtype), bitcast=True)
    if len(v.shape) == 0:
        tl.store(base, v)
    else:
        tl.store(base + tl.arange(0, v.numel), tl.reshape(v, (v.numel,)))

@triton.jit
def keep(O, v):
    keep_at(O, v)

@triton.jit
def keep_two(O, both, SLOT: tl.constexpr):
    keep_at(O, both[0])
    keep_at(O + tl.num_programs(0) * SLOT, both[1])
"""
_VALUES = {
    "i": f"tl.arange(0, {LANES})",
    "k": "tl.arange(0, 32)",
    "a": f"tl.load(P + tl.arange(0, {LANES}))",
    "b": f"tl.load(P + tl.arange(0, {LANES}) + {LANES})",
    "c": f"tl.load(P + tl.arange(0, {LANES}) + {2 * LANES})",
    "s": f"tl.load(P + {SCALARS})",
    "t": f"tl.load(P + {SCALARS + 1})",
    "A": "tl.load(P + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])",
    "B": "tl.load(P + tl.arange(0, 32)[:, None] + tl.arange(0, 32)[None, :] * 32)",
    "U": "tl.full((32, 1), 127, tl.uint8)",
}


def kernel_of(operation: str) -> Any:
    """The operation, on the row of its program."""
    line = OPERATIONS[operation]
    words = set(re.findall(r"\w+", line))
    made = [f"{name} = {value}" for name, value in _VALUES.items() if name in words]
    named = ["D: tl.constexpr = P.dtype.element_ty"] if "D" in words else []
    start = [f"P += tl.program_id(0) * {width(operation)}", f"O += tl.program_id(0) * {slot(operation)}"]
    line = line.replace("keep_two(O, ", f"keep_two(O, SLOT={slot(operation)}, both=")
    body = "\n    ".join([*named, *start, *made, line])
    return kernel_from(f"{_HEAD}@triton.jit\ndef kernel(P, O, n):\n    {body}\n")


def may_reorder(operation: str) -> bool:
    """Whether the language leaves open in which order its elements stand."""
    return "can_reorder" in OPERATIONS[operation]


def is_square(operation: str) -> bool:
    """Whether it takes all of a row, as a square."""
    return bool({"A", "B"} & set(re.findall(r"\w+", OPERATIONS[operation])))


def width(operation: str) -> int:
    """How many numbers of a row its program reads or writes, at most."""
    return WIDTH if is_square(operation) else NARROW


def slot(operation: str) -> int:
    """How many bytes a program may keep of each result."""
    return 8 * (WIDTH if is_square(operation) else 4 * LANES)


def results(operation: str) -> int:
    """How many results a program keeps, at most."""
    return 2 if "keep_two" in OPERATIONS[operation] else 1


_FUNCTIONS = ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "sigmoid")
_APPROXIMATE = (*(f"{name}(a)" for name in _FUNCTIONS), "libdevice.tanh", "libdevice.pow")
_DIVISIONS = ("a / b", "s / t", "a / 1.5", "a / half", "a / int", "fdiv")
# Of these 64 numbers have a sum that float32 cannot hold.
_INEXACT_IN_FLOAT32 = ("i32", "i64", "u32", "u64")
_SUMS = ("sum of", "sum in", "reduce by product")
_SCANS = ("cumsum", "cumprod", "scan by product")
_IN_ORDER = (*_SUMS, *_SCANS)

# What a GPU does otherwise and is known to the bit: the switch of `lab.compare` that does the same, which must leave
# nothing of the difference, and what is told of it.
_ORDER = (
    "reductions as threads of a GPU do",
    "of a number and a NaN the second is taken, so the order in which threads reduce decides",
)
_REMAINDER = (
    "remainder of the GPU",
    "the remainder is x - trunc(x / y) y with a rounded quotient, which is wrong where that is inexact",
)
EMULATED = {
    **dict.fromkeys(("a % b", "s % t"), _REMAINDER),
    **dict.fromkeys(("argmax of a block", "argmin of a block", "max with its index"), _ORDER),
}


_TITLES = {"sqrt(a)": "square root", "rsqrt(a)": "reciprocal square root"}


def known(operation: str) -> str:
    """The switch of `lab.compare` that may make the very bits of the GPU, where that is not held; "" for none."""
    if operation in _DIVISIONS:
        return "division of the GPU"
    if operation in _APPROXIMATE and operation != "sigmoid(a)":
        title = _TITLES.get(operation) or operation.removeprefix("libdevice.").removesuffix("(a)")
        return f"{title} of the GPU"
    if "atomic_add" in operation:
        return "atomic additions of the GPU"
    if operation.startswith("dot"):
        return "dots of the GPU"
    if operation.startswith(_SCANS):
        return "scans as threads of a GPU do"
    return "sums as threads of a GPU do" if operation.startswith(_SUMS) else ""


def switch(operation: str, dtype: str) -> str:
    """What a GPU may do otherwise, and where that can be switched; "" where it must give the very same bits.

    Of those in `EMULATED` this is the reason if the switch there leaves no difference.
    """
    if operation in _DIVISIONS and dtype != "fp64":
        return "division of float32 is approximate: `tl.div_rn` rounds as IEEE does"
    if operation.startswith("softmax"):
        return "`exp` and the division are approximate, and sums have another order"
    if operation.startswith("dot_scaled"):
        return "products are added up in another order"
    if operation == "sum in float32" and dtype in _INEXACT_IN_FLOAT32:
        return "the order of summation"
    if not is_float(dtype):
        return "the function is approximate" if operation in _APPROXIMATE else ""
    if operation in EMULATED:
        return EMULATED[operation][1]
    if operation == "sqrt(a)":
        return "the root is approximate: `tl.sqrt_rn` rounds as IEEE does"
    if operation in _APPROXIMATE:
        return "functions of CUDA's library" if dtype == "fp64" else "the function is approximate, that of float64 not"
    if operation.startswith("dot"):
        if dtype == "fp32" and operation != "dot by ieee":
            return 'inputs are cut to tf32: `input_precision="ieee"`'
        return "products are added up in another order"
    if operation.startswith(_IN_ORDER):
        return "the order of summation"
    if "atomic_add" in operation and dtype == "fp32":
        return "atomic additions of float32 take subnormal numbers for zero"
    return ""
