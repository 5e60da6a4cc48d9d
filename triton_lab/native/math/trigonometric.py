"""Sines and tangents, of arguments of any size, and their inverses."""

from __future__ import annotations

import math

from triton_lab.native.math.double_double import N, Plain, RealConstant
from triton_lab.native.math.lane_arithmetic import LaneArithmetic, polynomial, power_of_two, rounded_with_magic

_HALF_PI = RealConstant(1.5707963267948966, 6.123233995736766e-17)
_PI = RealConstant(3.141592653589793, 1.2246467991473532e-16)
_SIXTH_PI = RealConstant(0.5235987755982989, -5.360408832255455e-17)
_TAN_SIXTH_PI = RealConstant(0.5773502691896257, 3.3450280739356345e-17)
_TAN_TWELFTH_PI = 0.2679491924311227
_ONE = RealConstant(1.0)

# (sin r - r) / r**3 and (cos r - 1 + r**2 / 2) / r**4 in r**2 for |r| <= pi/4; (atan t - t) / t**3 in t**2 for |t| <=
# tan(pi/12). All minimax, to 2**-63 of the whole.
_SIN = (
    -0.16666666666666666, 0.008333333333333042, -0.00019841269840962676, 2.7557319074063615e-06,
    -2.5052070911172592e-08, 1.6054304088353185e-10, -7.388753529980644e-13,
)  # fmt: skip
_COS = (
    0.0416666666666666, -0.001388888888887448, 2.4801587289677005e-05, -2.75573144026942e-07, 2.0875729498640377e-09,
    -1.1359944536336941e-11,
)  # fmt: skip
_ATAN = (
    -0.3333333333333333, 0.19999999999998758, -0.14285714285424989, 0.11111111077681728, -0.09090906867357403,
    0.07692216048053746, -0.06664246345431797, 0.05841253147283323, -0.048273900201546864, 0.021055077120113366,
    0.03166265021234937,
)  # fmt: skip

# 2 / pi in binary, in chunks of 28 bits and of 50. The product of a float32 with one of 28 is exact in float64.
_SHORT = (170891318, 240010261, 44024437, 131200308, 232525238, 43358524, 70845471)
_LONG = (
    716770142402832, 372321092467999, 366375477893285, 449959087325694, 357954108452629, 593127582966820,
    972758579301306, 573745657609757, 1034033855634683, 712635457924020, 318009698421165, 104995864809942,
    252944799224434, 76934606197379, 782844326573953, 448669181481355, 396003307795673, 1104951148321652,
    1074840692299770, 612931154397163, 1011301269904615, 977075685992127, 800359771756354, 94571694849147,
    473544894902402, 474178916097593,
)  # fmt: skip
# Below this, the sine and the tangent equal their argument.
_TINY = 2.0**-27


def _turned(model: N, x: LaneArithmetic) -> tuple[N, LaneArithmetic]:
    """``r`` and ``q`` with ``x = r + q pi/2`` up to whole turns, ``|r| <= pi/4`` (Payne and Hanek).

    Chunks of 2/pi whose products with ``x`` are multiples of four are left out; then as many are used as are needed.
    """
    chunks, width, digits, taken = (_SHORT, 28, 24, 4) if isinstance(model, Plain) else (_LONG, 50, 53, 5)
    most = len(chunks) - taken
    exponent = ((x.bits() >> 52) & 0x7FF) - 1023
    # The lowest place of x is 2**(exponent - digits + 1); that of chunk i is 2**(-width * (i + 1)).
    room = exponent - (digits + 1)
    steps = room.of(0)
    for step in range(1, most + 1):
        steps = room.less(step * width).where(steps, room.of(step))
    scaled = x * power_of_two(-(steps * width))
    terms = []
    for index, chunk in enumerate(_shifted([x.of(float(c)) for c in chunks], steps, taken)):
        product = model.product_of(scaled, chunk).times(2.0 ** (-width * (index + 1)))
        terms += [_within_turn(product.high)] + ([] if isinstance(model, Plain) else [_within_turn(product.low)])
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    whole, q = rounded_with_magic(total, 1.0)
    rest = model.sum_of(terms[0], -whole)
    for term in terms[1:]:
        rest = rest + model.of(term)
    return rest * model.of(_HALF_PI), q


def _within_turn(x: LaneArithmetic) -> LaneArithmetic:
    """``x`` minus the nearest multiple of four, exactly."""
    return x - (x * 0.25).intrinsic("rint") * 4.0


def _shifted(values: list[LaneArithmetic], steps: LaneArithmetic, count: int) -> list[LaneArithmetic]:
    """``values[steps : steps + count]``, lane by lane: shifted by powers of two, like a barrel shifter."""
    for power in reversed(range((len(values) - count).bit_length())):
        move = 1 << power
        set = (steps & move).differs(0)
        kept = min(len(values), count + move - 1)
        values = [set.where(values[min(i + move, len(values) - 1)], values[i]) for i in range(kept)]
    return values[:count]


def _sine_and_cosine(r: N) -> tuple[N, N]:
    """Sine and cosine for ``|r| <= pi/4``."""
    square = r * r
    high = square.high
    sine = r + r.of(r.high * high * polynomial(high, _SIN))
    cosine = r.of(_ONE) - square.times(0.5) + r.of(high * high * polynomial(high, _COS))
    return sine, cosine


def _at(r: N, q: LaneArithmetic) -> LaneArithmetic:
    """``sin(r + q pi/2)``."""
    sine, cosine = _sine_and_cosine(r)
    result = (q & 1).differs(0).where(cosine.high, sine.high)
    return (q & 2).differs(0).where(-result, result)


def sin(model: N, x: LaneArithmetic) -> LaneArithmetic:
    return abs(x).less(_TINY).where(x, _at(*_turned(model, x)))


def cos(model: N, x: LaneArithmetic) -> LaneArithmetic:
    r, q = _turned(model, x)
    return _at(r, q + 1)


def tan(model: N, x: LaneArithmetic) -> LaneArithmetic:
    r, q = _turned(model, x)
    sine, cosine = _sine_and_cosine(r)
    odd = (q & 1).differs(0)
    result = ((-cosine).chosen(odd, sine) / sine.chosen(odd, cosine)).high
    return abs(x).less(_TINY).where(x, result)


def _halves(model: N, x: LaneArithmetic) -> tuple[N, LaneArithmetic, LaneArithmetic]:
    """``r`` and ``q`` with ``pi x = r + q pi/2``, and whether r is zero."""
    twice = (x - (x * 0.5).intrinsic("rint") * 2.0) * 2.0
    whole, q = rounded_with_magic(twice, 1.0)
    rest = twice - whole
    return model.of(rest) * model.of(_HALF_PI), q, rest.equals(0.0)


def sinpi(model: N, x: LaneArithmetic) -> LaneArithmetic:
    r, q, is_zero = _halves(model, x)
    result = abs(x).less(_TINY).where((model.of(x) * model.of(_PI)).high, _at(r, q))
    return (is_zero & (q & 1).equals(0)).where(x.of(0.0).copysign(x), result)


def cospi(model: N, x: LaneArithmetic) -> LaneArithmetic:
    r, q, is_zero = _halves(model, x)
    return (is_zero & (q & 1).differs(0)).where(0.0, _at(r, q + 1))


def _angle(y: N, x: N) -> N:
    """The angle of the point (x, y); both must be at least zero, and one of them not zero."""
    steep = y.high.greater(x.high)
    low, high = x.chosen(steep, y), y.chosen(steep, x)
    wide = low.high.greater(high.high * _TAN_TWELFTH_PI)
    slope = low.of(_TAN_SIXTH_PI)
    t = (low - slope * high).chosen(wide, low) / (high + slope * low).chosen(wide, high)
    square = t.high * t.high
    angle = t + t.of(t.high * square * polynomial(square, _ATAN))
    angle = (angle + t.of(_SIXTH_PI)).chosen(wide, angle)
    return (t.of(_HALF_PI) - angle).chosen(steep, angle)


def atan(model: N, x: LaneArithmetic) -> LaneArithmetic:
    # Above this, the result is pi/2 to the last place. Infinity has no slope.
    size = abs(x)
    size = size.greater(2.0**64).where(2.0**64, size)
    result = _angle(model.of(size), model.of(_ONE)).high.copysign(x)
    return size.less(_TINY).where(x, result)


# If a number is above the first, both are scaled down; if both are below the second, they are scaled up.
_LARGE, _SMALL = 2.0**1000, 2.0**-900


def atan2(model: N, y: LaneArithmetic, x: LaneArithmetic) -> LaneArithmetic:
    """The angle of the point (x, y), with C's ``atan2`` at the special values."""
    up, across = abs(y), abs(x)
    large = up.greater(_LARGE) | across.greater(_LARGE)
    small = up.less(_SMALL) & across.less(_SMALL)
    factor = large.where(x.of(2.0**-60), small.where(x.of(2.0**120), 1.0))
    up, across = up * factor, across * factor
    high, wide = up.equals(math.inf), across.equals(math.inf)
    up = wide.where(high.where(x.of(1.0), 0.0), high.where(x.of(1.0), up))
    across = high.where(wide.where(x.of(1.0), 0.0), wide.where(x.of(1.0), across))
    across = (up.equals(0.0) & across.equals(0.0)).where(1.0, across)
    angle = _angle(model.of(up), model.of(across))
    behind = x.bits().less(0)
    result = (model.of(_PI) - angle).chosen(behind, angle).high.copysign(y)
    return (x.isnan() | y.isnan()).where(x + y, result)


def asin(model: N, x: LaneArithmetic) -> LaneArithmetic:
    result = _angle(model.of(abs(x)), _other_leg(model, abs(x))).high.copysign(x)
    return abs(x).less(_TINY).where(x, result)


def acos(model: N, x: LaneArithmetic) -> LaneArithmetic:
    angle = _angle(_other_leg(model, abs(x)), model.of(abs(x)))
    return (model.of(_PI) - angle).chosen(x.less(0.0), angle).high


def _other_leg(model: N, x: LaneArithmetic) -> N:
    """``sqrt(1 - x**2)``; NaN beyond 1."""
    return (model.sum_of(x.of(1.0), -x) * model.sum_of(x.of(1.0), x)).sqrt()
