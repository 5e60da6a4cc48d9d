"""Helper functions for generated kernels: operations that Triton lacks, written once before the kernel."""

from __future__ import annotations

LARGER = """
@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
"""

# The first of the largest elements and its place; NaN is larger than any number.
LARGEST_AT = """
@triton.jit
def largest_at(a, i, b, j):
    equal = (a == b) | ((a != a) & (b != b))
    first = (a > b) | ((a != a) & (b == b)) | (equal & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)
"""

# Triton's `//` and `%` round towards zero, torch's towards minus infinity.
QUOTIENT = """
@triton.jit
def floor_quotient(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), a // b - 1, a // b)
"""
REMAINDER = """
@triton.jit
def remainder(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
"""

# For floats as in torch: a quotient that is an integer within rounding counts as that integer. Each step is rounded
# to the operands' `kind`, which are wider here if they have 16 bits.
QUOTIENT_OF_FLOATS = """
@triton.jit
def floor_quotient_of_floats(a, b, kind: tl.constexpr):
    rest = libdevice.fmod(a, b)
    exact = ((a - rest).to(kind).to(a.dtype) / b).to(kind).to(a.dtype)
    exact = tl.where((rest != 0) & ((rest < 0) != (b < 0)), (exact - 1).to(kind).to(a.dtype), exact)
    whole = tl.floor(exact)
    whole = tl.where(exact - whole > 0.5, whole + 1, whole)
    whole = tl.where(exact == 0, libdevice.copysign(exact * 0, a / b), whole)
    return tl.where(b == 0, a / b, whole)
"""
REMAINDER_OF_FLOATS = """
@triton.jit
def remainder_of_floats(a, b):
    rest = libdevice.fmod(a, b)
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
"""

FUNCTIONS = {
    "larger": LARGER,
    "smaller": LARGER.replace("larger", "smaller").replace("maximum", "minimum"),
    "largest_at": LARGEST_AT,
    "smallest_at": LARGEST_AT.replace("largest", "smallest").replace("a > b", "a < b"),
    "floor_quotient": QUOTIENT,
    "remainder": REMAINDER,
    "floor_quotient_of_floats": QUOTIENT_OF_FLOATS,
    "remainder_of_floats": REMAINDER_OF_FLOATS,
}


def with_functions(source: str) -> str:
    """A kernel's source, preceded by the functions that it calls."""
    words = source.replace("(", " ").replace(",", " ").replace(")", " ").split()
    return "".join(f"{text.lstrip()}\n\n" for name, text in FUNCTIONS.items() if name in words) + source
