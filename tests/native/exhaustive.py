"""All float32 numbers through the functions that promise 1 ulp: ``python -m tests.native.exhaustive [name ...]``.

The oracle is float64, whose own error is at most 2**-27 ulp of float32.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from tests.native.compiled import compiled
from triton_lab.interpreter import special_functions
from triton_lab.native.math.libdevice_symbols import library

ORACLES = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "erf": special_functions.erf,
    "erfc": special_functions.erfc,
    "erfcx": special_functions.erfcx,
    "erfinv": special_functions.erfinv,
    "erfcinv": special_functions.erfcinv,
    "normcdf": special_functions.normcdf,
    "normcdfinv": special_functions.normcdfinv,
    "cyl_bessel_i0": special_functions.i0,
    "cyl_bessel_i1": special_functions.i1,
}
_CHUNK = 1 << 20


def ulps(found, exact):
    """Distance from ``exact`` in units in the last place of ``found``'s type; 0 where both are NaN or infinite."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(found.dtype)
        unit = np.spacing(np.abs(np.where(np.isinf(nearest), np.finfo(found.dtype).max, nearest))).astype(exact.dtype)
        gap = np.abs(found - exact) / unit
    alike = (np.isnan(found) & np.isnan(exact)) | (found == nearest)
    gap = np.where(alike, np.where(np.isfinite(gap), gap, 0.0), gap)
    return np.where(np.isnan(gap), np.inf, gap)


def worst(name, start=0, stop=1 << 32):
    """The greatest error over all float32 patterns, and where it is."""
    oracle = ORACLES[name]
    run = compiled(lambda code, x: library(code, f"__nv_{name}f", [x], "float"), [np.float32], np.float32, lanes=32)
    greatest, place = 0.0, None
    for first in range(start, stop, _CHUNK):
        x = np.arange(first, first + _CHUNK, dtype=np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            found, exact = run(x), oracle(x.astype(np.float64))
        # What is nearest is within half a unit.
        other = np.flatnonzero(found.view(np.uint32) != exact.astype(np.float32).view(np.uint32))
        if other.size:
            error = ulps(found[other], exact[other])
            at = int(np.argmax(error))
            if error[at] > greatest:
                greatest, place = float(error[at]), x[other[at]]
    return greatest, place


if __name__ == "__main__":
    for name in sys.argv[1:] or ORACLES:
        began = time.perf_counter()
        greatest, place = worst(name)
        print(f"{name:8} {max(greatest, 0.5):.4f} ulp at {place!r}, {time.perf_counter() - began:.0f} s", flush=True)
