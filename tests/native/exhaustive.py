"""All float32 numbers through the functions that promise 1 ulp: ``python -m tests.native.exhaustive [name ...]``.

The oracle is float64, whose own error is 2**-29 ulp of float32.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from tests.native.compiled import compiled
from triton_lab.native.math import exponential, logarithm
from triton_lab.native.math.lanes import Lanes

FUNCTIONS = {
    "exp": (exponential.exp, np.exp),
    "exp2": (exponential.exp2, np.exp2),
    "log": (logarithm.log, np.log),
    "log2": (logarithm.log2, np.log2),
}
_CHUNK = 1 << 20


def ulps(found, exact):
    """Distance from ``exact`` in units in the last place of ``found``'s type; 0 where both are NaN or infinite alike."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(found.dtype)
        unit = np.spacing(np.abs(np.where(np.isinf(nearest), np.finfo(found.dtype).max, nearest))).astype(exact.dtype)
        gap = np.abs(found - exact) / unit
    alike = (np.isnan(found) & np.isnan(exact)) | (found == nearest)
    # What is nearest is at most half a unit off, however that is computed at the ends.
    gap = np.where(alike, np.where(np.isfinite(gap), gap, 0.0), gap)
    return np.where(np.isnan(gap), np.inf, gap)


def worst(name, start=0, stop=1 << 32):
    """The greatest error over all float32 patterns, and where it is."""
    function, oracle = FUNCTIONS[name]
    run = compiled(lambda code, x: function(Lanes(code, x)).reg, [np.float32], np.float32)
    greatest, place = 0.0, None
    for first in range(start, stop, _CHUNK):
        x = np.arange(first, first + _CHUNK, dtype=np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            error = ulps(run(x), oracle(x.astype(np.float64)))
        at = int(np.argmax(error))
        if error[at] > greatest:
            greatest, place = float(error[at]), x[at]
    return greatest, place


if __name__ == "__main__":
    for name in sys.argv[1:] or FUNCTIONS:
        began = time.perf_counter()
        greatest, place = worst(name)
        print(f"{name:8} {greatest:.4f} ulp at {place!r}, {time.perf_counter() - began:.0f} s", flush=True)
