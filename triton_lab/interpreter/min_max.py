"""The lesser and the greater of two floats, with their zeros in order.

``minimum`` and ``maximum`` keep a NaN; ``fmin`` and ``fmax`` give the other operand, whatever kind of NaN it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Extreme:
    """``function``, with -0.0 below 0.0 as on a GPU: NumPy takes either, depending on where in the array they are.

    ``of_zeros`` combines the bits of two zeros. ``numbers`` says that a number goes before a NaN: C's library, by
    which NumPy computes the ends of arrays, makes an exception of signalling ones, and a GPU does not.
    """

    function: np.ufunc
    of_zeros: np.ufunc
    numbers: bool

    def __call__(self, x: Array, y: Array) -> Array:
        result: Array = self.function(x, y)
        if self.numbers and np.isnan(result).any():
            result = self.function(_quiet(x), _quiet(y))
        # Most blocks hold no zero at all, which one look at the larger of the two tells.
        larger, smaller = (x, y) if x.size >= y.size else (y, x)
        zeros = larger == 0
        if zeros.any() and (zeros := zeros & (smaller == 0)).any():
            bits = f"i{x.dtype.itemsize}"
            result = np.where(zeros, self.of_zeros(x.view(bits), y.view(bits)).view(x.dtype), result)
        return result

    def reduce(self, array: Array, axis: int, dtype: Any = None) -> Array:
        """Of all along ``axis``."""
        array = self._plain(array)
        result = np.asarray(self.function.reduce(array, axis=axis, dtype=dtype))
        return self._ordered(array, result, lambda zeros: np.logical_or.reduce(zeros, axis=axis))

    def accumulate(self, array: Array, axis: int, dtype: Any = None) -> Array:
        """Of all up to each along ``axis``."""
        array = self._plain(array)
        result = self.function.accumulate(array, axis=axis, dtype=dtype)
        return self._ordered(array, result, lambda zeros: np.logical_or.accumulate(zeros, axis=axis))

    def _plain(self, array: Array) -> Array:
        return _quiet(array) if self.numbers and np.isnan(array).any() else array

    def _ordered(self, array: Array, result: Array, over: Any) -> Array:
        """``result`` with the right one of two zeros: that which goes first, if there is one among them."""
        if not (result == 0).any():
            return result
        first = self.of_zeros is np.bitwise_or  # the negative one
        found = over((array == 0) & (np.signbit(array) == first))
        zeros = np.where(found == first, array.dtype.type(-0.0), array.dtype.type(0.0))
        return np.where(result == 0, zeros, result)


def _quiet(x: Array) -> Array:
    """With all signalling NaNs made quiet ones, as any operation does."""
    quiet: Array = x * x.dtype.type(1)
    return quiet


# Only the sign bit can be set in a zero: `and` gives the greater of two, `or` the lesser.
minimum = Extreme(np.minimum, np.bitwise_or, False)
maximum = Extreme(np.maximum, np.bitwise_and, False)
fmin = Extreme(np.fmin, np.bitwise_or, True)
fmax = Extreme(np.fmax, np.bitwise_and, True)
