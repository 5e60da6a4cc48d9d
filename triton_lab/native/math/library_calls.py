"""Functions of the C library, called lane by lane: the very ones that the NumPy engine calls, so with the same bits.

Their name, and a double or an integer and a double, are all that is passed; they have no state.
"""

from __future__ import annotations

import math

from triton_lab.native.math.lane_arithmetic import LaneArithmetic


def called(name: str, *operands: LaneArithmetic) -> LaneArithmetic:
    """The C library's function ``name`` of doubles and ints; float32 is computed as float64 and rounded once."""
    code, last = operands[-1].code, operands[-1]
    wide = [x.cast("fpext", "double") if x.reg.is_float else x for x in operands]
    regs, lanes = [x.reg for x in wide], last.reg.lanes
    found = code.undefined("double", lanes)
    for lane in range(lanes):
        found = code.insert(found, code.call(name, "double", 0, *(code.lane(x, lane) for x in regs)), lane)
    if not lanes:
        found = code.call(name, "double", 0, *regs)
    return LaneArithmetic(code, found).cast("fptrunc", last.kind)


def tgamma(x: LaneArithmetic) -> LaneArithmetic:
    """Gamma. At whole numbers the result is a whole number, as far as float64 holds the factorial."""
    wide = x.cast("fpext", "double")
    found = called("tgamma", wide)
    whole = wide.greater(0.0) & ~wide.greater(23.0) & wide.equals(wide.intrinsic("floor"))
    found = whole.where(found.intrinsic("rint"), found)
    return found.cast("fptrunc", x.kind)


def of_order(name: str, n: LaneArithmetic, x: LaneArithmetic) -> LaneArithmetic:
    """A Bessel function of order ``n``; NaN for negative orders, as CUDA's library has it."""
    return n.less(0).where(math.nan, called(name, n, x))
