"""Minimum and maximum of two numbers: signed, unsigned, floats.

Triton's own ``libdevice`` leaves them out; kernels reach them by ``tl.core.extern_elementwise``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.min_max import fmax, fmin
from triton_lab.interpreter.number_conversion import flushed

Array = NDArray[Any]


def _unsigned(function: np.ufunc) -> Callable[[Array, Array], Array]:
    def apply(x: Array, y: Array) -> Array:
        bits = f"u{x.dtype.itemsize}"
        result: Array = function(x.view(bits), y.view(bits))
        return result.view(x.dtype)

    return apply


def _single(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: function(flushed(x), flushed(y))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "__nv_fmax": fmax,
    "__nv_fmaxf": _single(fmax),
    "__nv_fmin": fmin,
    "__nv_fminf": _single(fmin),
    "__nv_llmax": np.maximum,
    "__nv_llmin": np.minimum,
    "__nv_max": np.maximum,
    "__nv_min": np.minimum,
    "__nv_ullmax": _unsigned(np.maximum),
    "__nv_ullmin": _unsigned(np.minimum),
    "__nv_umax": _unsigned(np.maximum),
    "__nv_umin": _unsigned(np.minimum),
}
