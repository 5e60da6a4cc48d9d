"""Which floats are NaN or infinite, in any format: fast enough to test every value that a kernel stores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The bits that are all set only in NaN and infinity. NumPy's own test is slow for narrow formats, which it converts to
# float32. (e4m3fn has NaN but no infinity.)
_ALL_SET = {"float16": 0x7C00, "bfloat16": 0x7F80, "float8_e5m2": 0x7C, "float8_e4m3fn": 0x7F}


def finite(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which elements are neither NaN nor infinite; all True for integers. Keeps the shape."""
    pattern = _ALL_SET.get(values.dtype.name)
    if pattern is not None:
        bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").reshape(values.shape)
        wanted = bits.dtype.type(pattern)
        narrow: NDArray[np.bool_] = (bits & wanted) != wanted
        return narrow
    if values.dtype.kind == "f":
        wide: NDArray[np.bool_] = np.isfinite(values)
        return wide
    return np.ones(values.shape, np.bool_)
