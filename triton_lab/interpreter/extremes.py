"""The lesser and the greater of two floats, with their zeros in order.

``minimum`` and ``maximum`` keep a NaN; ``fmin`` and ``fmax`` give the other operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _extreme(function: np.ufunc, of_zeros: np.ufunc) -> Callable[[Array, Array], Array]:
    """``function``, with -0.0 below 0.0 as on a GPU: NumPy takes either, depending on where in the array they are."""

    def apply(x: Array, y: Array) -> Array:
        result: Array = function(x, y)
        # Most blocks hold no zero at all, which one look at the larger of the two tells.
        larger, smaller = (x, y) if x.size >= y.size else (y, x)
        zeros = larger == 0
        if zeros.any() and (zeros := zeros & (smaller == 0)).any():
            bits = f"i{x.dtype.itemsize}"
            result = np.where(zeros, of_zeros(x.view(bits), y.view(bits)).view(x.dtype), result)
        return result

    return apply


# Only the sign bit can be set in a zero: `and` gives the greater of two, `or` the lesser.
minimum = _extreme(np.minimum, np.bitwise_or)
maximum = _extreme(np.maximum, np.bitwise_and)
fmin = _extreme(np.fmin, np.bitwise_or)
fmax = _extreme(np.fmax, np.bitwise_and)
