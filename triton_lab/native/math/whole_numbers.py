"""Whole numbers near a float, the parts of a float, and remainders."""

from __future__ import annotations

import math

from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, power_of_two, scaled


def flushed(x: LaneArithmetic) -> LaneArithmetic:
    """float32 with subnormals made zeros of their sign, as CUDA's library is compiled; other types unchanged."""
    if x.kind != "float":
        return x
    return abs(x).less(2.0**-126).where(x.of(0.0).copysign(x), x)


def round_half_away(x: LaneArithmetic) -> LaneArithmetic:
    whole = x.intrinsic("trunc")
    step = abs(x - whole).at_least(0.5).where(x.of(1.0), 0.0)
    return (abs(whole) + step).copysign(x)


def positive_difference(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    found = x.greater(y).where(x - y, x.of(0.0))
    return (x.isnan() | y.isnan()).where(x + y, found)


def parts(x: LaneArithmetic) -> tuple[LaneArithmetic, LaneArithmetic]:
    """``m`` and ``n`` with ``x = m 2**n``, ``1 <= |m| < 2`` and n an integer; not for zero, infinity and NaN."""
    digits, bias, mask = (23, 127, 0xFF) if x.kind == "float" else (52, 1023, 0x7FF)
    tiny = abs(x).less(2.0 ** (1 - bias))
    bits = tiny.where(x * 2.0**digits, x).bits()
    exponent = ((bits >> digits) & mask) - bias
    fraction = (bits & ~(mask << digits)) | (bias << digits)
    return fraction.as_float(), tiny.where(exponent - digits, exponent)


def _exponent(x: LaneArithmetic) -> LaneArithmetic:
    return parts(x)[1]


def logb(x: LaneArithmetic) -> LaneArithmetic:
    """The exponent, as a float."""
    found = _exponent(x).cast("sitofp", x.kind)
    found = x.equals(0.0).where(-math.inf, found)
    return abs(x).less(math.inf).where(found, abs(x))


def ilogb(x: LaneArithmetic) -> LaneArithmetic:
    """The exponent, as an int32: the least int32 for zero and NaN, the greatest for infinity."""
    found = _exponent(x)
    found = (x.equals(0.0) | x.isnan()).where(-(1 << 31), found)
    found = abs(x).equals(math.inf).where((1 << 31) - 1, found)
    return found.resize("i32", signed=True)


def ldexp(x: LaneArithmetic, n: LaneArithmetic) -> LaneArithmetic:
    """``x * 2**n`` rounded once, for an integer ``n``."""
    fraction, exponent = parts(x)
    n = n.resize(exponent.kind, signed=True)
    # Fewer than 2,100 powers of two lie between the least number and the greatest.
    n = n.greater(3000).where(3000, n)
    total = n.less(-3000).where(-3000, n) + exponent
    most, least = (140, -160) if x.kind == "float" else (1030, -1090)
    total = total.greater(most).where(most, total)
    total = total.less(least).where(least, total)
    ordinary = abs(x).less(math.inf) & x.differs(0.0)
    return ordinary.where(scaled(fraction, total), x)


def nextafter(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    bits = x.bits()
    # Away from zero the bits grow, whatever the sign.
    grows = y.greater(x) ^ bits.less(0)
    found = grows.where(bits + 1, bits - 1)
    sign = y.bits() & (1 << 63 if x.kind == "double" else 1 << 31)
    found = x.equals(0.0).where(sign | 1, found)
    result = x.equals(y).where(y, found.as_float())
    return (x.isnan() | y.isnan()).where(x + y, result)


# The bits of the quotient per step of the long division: float64 holds them with room for a wrong last one.
_STEP = 50


def fmod(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    """The exact remainder, with the sign of ``x``: a long division in float64, many bits at a time."""
    rest, exponent = parts(abs(x))
    divisor, base = parts(abs(y))
    rest, divisor = rest.cast("fpext", "double"), divisor.cast("fpext", "double")
    difference = (exponent - base).resize("i64", signed=True)
    # Exponents differ by up to 276 in float32, and by up to 2,097 in float64.
    for step in range((276 if x.kind == "float" else 2097) // _STEP + 1):
        left = difference - step * _STEP
        left = left.greater(_STEP).where(_STEP, left)
        left = left.less(0).where(0, left)
        rest = _reduced(rest, divisor) * power_of_two(left)
    found = scaled(_reduced(rest, divisor).cast("fptrunc", x.kind), base).copysign(x)
    unchanged = abs(x).less(abs(y)) | x.equals(0.0)
    found = unchanged.where(x, found)
    wrong = ~abs(x).less(math.inf) | y.equals(0.0) | y.isnan()
    return wrong.where(math.nan, found)


def _reduced(rest: LaneArithmetic, divisor: LaneArithmetic) -> LaneArithmetic:
    """``rest`` modulo ``divisor``, exactly, for a quotient below 2**51."""
    quotient = (rest / divisor).intrinsic("trunc")
    left = fma(-quotient, divisor, rest)
    # The quotient may have been rounded up to a whole number.
    return left.less(0.0).where(left + divisor, left)


def remainder(x: LaneArithmetic, y: LaneArithmetic) -> LaneArithmetic:
    """``x`` minus the nearest multiple of ``y``, ties to the even one."""
    rest, size = fmod(x, y), abs(y)
    # If twice the divisor overflows, compare with the divisor itself.
    odd = fmod(abs(x), size * 2.0).at_least(size)
    odd = (size * 2.0).less(math.inf).where(odd, abs(x).at_least(size))
    left = abs(rest)
    over = left.greater(size - left) | (left.equals(size - left) & odd)
    result = over.where(rest - size.copysign(rest), rest)
    result = size.equals(math.inf).where(rest, result)
    return result.equals(0.0).where(x.of(0.0).copysign(x), result)
