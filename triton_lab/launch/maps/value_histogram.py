"""`Histogram`: counts of values over even bins, with NaN and the infinities counted separately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

BINS = 32


@dataclass(frozen=True)
class Histogram:
    """``counts`` (bins,) of values between ``edges`` (bins + 1,); the last bin includes its upper edge.

    ``low`` and ``high`` are the least and the greatest finite value.
    """

    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    nan: int
    plus_infinity: int
    minus_infinity: int
    low: float = 0.0
    high: float = 0.0

    @property
    def finite(self) -> int:
        """The number of finite values."""
        return int(self.counts.sum())


def histogram(values: npt.NDArray[Any]) -> Histogram:
    """Bins over the finite values; whole numbers in a small range, of any type, get one bin each."""
    numbers = as_float(values).reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    whole = bool(finite.size) and bool((finite == np.floor(finite)).all())
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if whole and high - low < BINS:
        counts = np.bincount((finite - low).astype(np.int64), minlength=int(high - low) + 1)
        edges = low + np.arange(len(counts) + 1, dtype=np.float64) - 0.5
    elif low == high:
        counts, edges = np.array([finite.size]), np.array([low, low])
    else:
        edges = low + (high / BINS - low / BINS) * np.arange(BINS + 1, dtype=np.float64)
        edges[-1] = high
        # np.histogram refuses a range that is too narrow for float64 to divide.
        place = np.searchsorted(edges, finite, side="right") - 1
        counts = np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS)
    return Histogram(
        edges.astype(np.float64),
        counts.astype(np.int64),
        int(np.isnan(numbers).sum()),
        int(np.isposinf(numbers).sum()),
        int(np.isneginf(numbers).sum()),
        low,
        high,
    )


def as_float(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Values of any of the kernel's types as float64; small floats are converted by way of float32."""
    if values.dtype.kind not in "biuf":
        values = values.astype(np.float32)
    return values.astype(np.float64)
