"""The C library's functions on arrays.

They are called element by element, so they are slow for millions of elements; the native engine calls the same ones.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@functools.cache
def _c_function(name: str, orders: int) -> Callable[..., Any]:
    """The C library's function of a double, and before that of ``orders`` integers, applied to arrays."""
    try:
        library = ctypes.CDLL("libm.so.6")
    except OSError:  # there it is part of the C library, which Python has loaded
        library = ctypes.CDLL(None)
    function = getattr(library, name)
    function.argtypes, function.restype = [*[ctypes.c_int] * orders, ctypes.c_double], ctypes.c_double
    elementwise: Callable[..., Any] = np.frompyfunc(function, orders + 1, 1)
    return elementwise


def by_c(name: str, orders: int = 0) -> Callable[..., Array]:
    """The C library's function ``name``, on arrays of float32 or float64 that ``orders`` arrays of int32 may precede.

    float32 is computed as float64 and rounded once.
    """

    def function(*operands: Array) -> Array:
        x = operands[-1]
        wide = np.ascontiguousarray(x, np.float64)
        found = np.asarray(_c_function(name, orders)(*operands[:-1], wide), np.float64)
        return found.astype(x.dtype).reshape(np.broadcast_shapes(*(each.shape for each in operands)))

    function.__name__ = name
    return function
