"""The special function unit's arithmetic: tables of second degree in fixed point, and how their results are cut.

Row numbers and the low bits of a mantissa enter, integers leave; `special_unit` has the tables of each function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Interpolation:
    """``rows`` has c0 (in parts of ``1 / unit``), c1 and c2 (in halves); ``offset`` (in 2^-20) is added to each c0.

    ``bits`` of the mantissa are x, and ``least`` is the weight of the least partial product of its square.
    """

    rows: Array
    unit: int
    offset: int
    bits: int
    least: int

    def fixed(self, row: Array, x: Array) -> Array:
        """The polynomial's value times 2^(2 bits), for integers ``x`` below 2^bits."""
        c0, c1, c2 = (self.rows[row, k] for k in range(3))
        scale = 2 * self.bits
        start = (c0 << scale) // self.unit + (self.offset << (scale - 20))
        found: Array = start + (c1 * x << self.bits - 1) + (c2 * _square(x, self.bits, self.least) >> 1)
        return found


def _square(x: Array, bits: int, least: int) -> Array:
    """``x * x`` without the partial products below 2^least: x_j x_k 2^(j + k + 1) for j < k, and x_j 2^(2 j)."""
    lost = np.zeros_like(x)
    for j in range(bits):
        mine = x >> j & 1
        if 2 * j < least:
            lost += mine << 2 * j
        # The others with a weight below the limit are the lowest bits after bit j.
        count = least - 1 - 2 * j - 1
        if count > 0:
            after = min(count, bits - j - 1)
            lost += mine * ((x >> (j + 1) & ((1 << after) - 1)) << (2 * j + 2))
    found: Array = x * x - lost
    return found


def cut(fixed: Array, fraction: int) -> Array:
    """Integers times 2^-fraction as float64 of 24 bits, cut towards zero."""
    size = np.where(fixed < 0, ~fixed, fixed)  # negated by inverting all bits
    # float64 has fewer bits than the integer, so count its bits in two halves.
    high = size >> 31
    length = np.where(high > 0, 31 + np.frexp(high.astype(np.float64))[1], np.frexp(size.astype(np.float64))[1])
    drop = np.maximum(length - 24, 0)
    kept = (size >> drop << drop).astype(np.float64)
    found: Array = np.ldexp(np.where(fixed < 0, -kept, kept), -fraction)
    return found
