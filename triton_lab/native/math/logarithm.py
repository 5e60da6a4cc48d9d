"""Logarithms of float32."""

from __future__ import annotations

import math

from triton_lab.native.math.lane_arithmetic import LaneArithmetic, fma, polynomial

# (ln(1 + f) - f) / f**2 for 1 + f in [2/3, 4/3), and the same divided by ln(2): fitted like those of `exponential`.
_LN = (
    -0.5, 0.3333320915699005, -0.24999846518039703, 0.20010709762573242, -0.1667843461036682, 0.1400170773267746,
    -0.12211158126592636, 0.14002364873886108, -0.12779724597930908,
)  # fmt: skip
_LOG2 = (
    -0.7213475108146667, 0.48089662194252014, -0.36067208647727966, 0.28869056701660156, -0.24060849845409393,
    0.20204214751720428, -0.17625415325164795, 0.20183928310871124, -0.18412907421588898,
)  # fmt: skip
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.428606765330187e-06
_LOG2E_HIGH, _LOG2E_LOW = 1.44269502162933349609375, 1.925963033500011e-08
_TWO_THIRDS = 0x3F2AAAAB
_EXPONENT = -(1 << 23)


def log(x: LaneArithmetic) -> LaneArithmetic:
    """The natural logarithm of float32, within 1 ulp."""
    fraction, n = _split(x)
    # n ln(2) + f, and its rounding error.
    high = fma(n, _LN2_HIGH, fraction)
    lost = fma(n, _LN2_HIGH, -high) + fraction
    curved = fma(fraction * fraction, polynomial(fraction, _LN), fma(n, _LN2_LOW, lost))
    return with_ends(x, high + curved)


def log2(x: LaneArithmetic) -> LaneArithmetic:
    """The logarithm to base 2 of float32, within 1 ulp; exact for powers of two."""
    fraction, n = _split(x)
    product = fraction * _LOG2E_HIGH
    rest = fma(fraction, _LOG2E_LOW, fma(fraction, _LOG2E_HIGH, -product))
    high = n + product
    lost = product - (high - n)
    curved = fma(fraction * fraction, polynomial(fraction, _LOG2), rest + lost)
    return with_ends(x, high + curved)


def _split(x: LaneArithmetic) -> tuple[LaneArithmetic, LaneArithmetic]:
    """``x = (1 + f) 2**n`` with ``1 + f`` in [2/3, 4/3): f, which is exact, and n as a float."""
    tiny = x.less(2.0**-126)
    bits = tiny.where(x * 2.0**23, x).bits()
    exponent = (bits - _TWO_THIRDS) & _EXPONENT
    fraction = (bits - exponent).as_float() - 1.0
    n = (exponent >> 23).cast("sitofp", x.kind)
    return fraction, n - tiny.where(x.of(23.0), 0.0)


def with_ends(x: LaneArithmetic, logarithm: LaneArithmetic) -> LaneArithmetic:
    """``logarithm``, with the results for zeros, negative numbers, infinity and NaN put in."""
    result = x.less(math.inf).where(logarithm, x)
    result = x.less(0.0).where(math.nan, result)
    return x.equals(0.0).where(-math.inf, result)
