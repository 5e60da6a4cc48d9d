"""Two results of the same shape, element by element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.places import Ints

Numbers = npt.NDArray[Any]


def as_numbers(values: Any) -> Numbers:
    """A torch tensor or an array as NumPy numbers that lose nothing: bf16 and fp8 become float32."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if values.dtype.is_floating_point and values.dtype.itemsize < 4:
            values = values.float()
        values = values.numpy()
    array = np.asarray(values)
    return array.astype(np.uint8) if array.dtype == bool else array


@dataclass(frozen=True)
class Difference:
    """``a`` and ``b``, of one shape. Two NaNs, and two infinities of one sign, are equal."""

    a: Numbers
    b: Numbers

    def __post_init__(self) -> None:
        if self.a.shape != self.b.shape:
            raise ValueError(f"shapes differ: {self.a.shape} and {self.b.shape}")

    @cached_property
    def equal(self) -> npt.NDArray[np.bool_]:
        """Where both are the same number, or both NaN."""
        same = self.a == self.b
        if np.issubdtype(self.a.dtype, np.floating):
            same |= np.isnan(self.a) & np.isnan(self.b)
        return np.asarray(same)

    @cached_property
    def delta(self) -> npt.NDArray[np.float64]:
        """a - b in float64; 0 where equal, NaN or infinite where only one of them is not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            delta = self.a.astype(np.float64) - self.b.astype(np.float64)
            if np.issubdtype(self.a.dtype, np.integer):
                # Large integers are not all float64: subtract first (the wrapped result is exact mod 2^64).
                exact = (self.a.astype(np.int64) - self.b.astype(np.int64)).astype(np.float64)
                delta = np.where(np.abs(delta) < 2.0**62, exact, delta)
        return np.where(self.equal, 0.0, delta)

    @property
    def largest(self) -> float:
        """The largest finite absolute difference."""
        size = np.abs(self.delta)
        return float(size[np.isfinite(size)].max(initial=0.0))

    @property
    def count(self) -> int:
        """How many elements differ."""
        return int(np.count_nonzero(~self.equal))

    def worst(self, cell_of_element: Ints, cells: int) -> Ints:
        """(cells,) the element of each cell that differs most (NaN and infinity first); -1 for none."""
        return worst(self.delta, cell_of_element, cells)


def worst(errors: Numbers, cell_of_element: Ints, cells: int) -> Ints:
    """(cells,) the element of each cell with the greatest of all ``errors`` (NaN and infinity first); -1 for none."""
    size = np.abs(errors.reshape(-1))
    rank = np.where(np.isnan(size), np.inf, size)
    order = np.lexsort((-np.arange(len(rank)), rank))  # of equal ones the first element comes last
    result = np.full(cells, -1, dtype=np.int64)
    result[cell_of_element[order]] = order
    return result
