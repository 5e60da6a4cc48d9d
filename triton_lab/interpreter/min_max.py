"""Minimum and maximum of two floats, with -0.0 below 0.0.

``minimum`` and ``maximum`` keep a NaN. ``fmin`` and ``fmax`` return the other operand, whatever kind of NaN it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Extreme:
    """``function``, with -0.0 below 0.0 as on a GPU. In NumPy either may win, depending on their place in the array.

    ``of_zeros`` combines the bits of two zeros. ``numbers``: a number wins over a NaN. NumPy computes the ends of
    arrays with C's library, where a number does not win over a signalling NaN; on a GPU it does.
    """

    function: np.ufunc
    of_zeros: np.ufunc
    numbers: bool

    def __call__(self, x: Array, y: Array) -> Array:
        result: Array = self.function(x, y)
        if self.numbers and np.isnan(result).any():
            result = self.function(_quiet(x), _quiet(y))
        # Most blocks have no zeros; the larger array is searched first.
        larger, smaller = (x, y) if x.size >= y.size else (y, x)
        zeros = larger == 0
        if zeros.any() and (zeros := zeros & (smaller == 0)).any():
            bits = f"i{x.dtype.itemsize}"
            result = np.where(zeros, self.of_zeros(x.view(bits), y.view(bits)).view(x.dtype), result)
        return result

    def reduce(self, array: Array, axis: int, dtype: Any = None) -> Array:
        """The extreme of all elements along ``axis``."""
        array = self._plain(array)
        result = np.asarray(self.function.reduce(array, axis=axis, dtype=dtype))
        return self._ordered(array, result, lambda zeros: np.logical_or.reduce(zeros, axis=axis))

    def accumulate(self, array: Array, axis: int, dtype: Any = None) -> Array:
        """For each element, the extreme of all elements up to it along ``axis``."""
        array = self._plain(array)
        result = self.function.accumulate(array, axis=axis, dtype=dtype)
        return self._ordered(array, result, lambda zeros: np.logical_or.accumulate(zeros, axis=axis))

    def _plain(self, array: Array) -> Array:
        return _quiet(array) if self.numbers and np.isnan(array).any() else array

    def _ordered(self, array: Array, result: Array, over: Any) -> Array:
        """``result`` with the right one of two zeros: the extreme zero, if it is among the elements."""
        if not (result == 0).any():
            return result
        first = self.of_zeros is np.bitwise_or  # the negative one
        found = over((array == 0) & (np.signbit(array) == first))
        zeros = np.where(found == first, array.dtype.type(-0.0), array.dtype.type(0.0))
        return np.where(result == 0, zeros, result)


def _quiet(x: Array) -> Array:
    """``x`` with signalling NaNs made quiet, as any operation does."""
    quiet: Array = x * x.dtype.type(1)
    return quiet


# A zero has at most its sign bit set: `and` gives the greater of two zeros, `or` the lesser.
minimum = Extreme(np.minimum, np.bitwise_or, False)
maximum = Extreme(np.maximum, np.bitwise_and, False)
fmin = Extreme(np.fmin, np.bitwise_or, True)
fmax = Extreme(np.fmax, np.bitwise_and, True)
