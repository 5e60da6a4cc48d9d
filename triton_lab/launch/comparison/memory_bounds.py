"""`MemoryBounds`: error bounds of the elements in memory during a replay."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.rounding_rules import gamma, times
from triton_lab.launch.element_index import offsets

Array = NDArray[Any]


class MemoryBounds:
    """Error bounds by address, of stored values and of values that atomics add in any order.

    False while all of memory is exact.
    """

    def __init__(self) -> None:
        self._known = np.zeros(0, np.int64)  # addresses, ascending
        self._error = np.zeros(0)
        self._amount = np.zeros(0)  # the sum of magnitudes that were added; `_terms` counts them
        self._terms = np.zeros(0)

    def __bool__(self) -> bool:
        return bool(len(self._known))

    def stored(self, places: Array, size: int, error: Array) -> None:
        """Set the bounds of stored elements; if several lanes store to one element, the largest error counts."""
        at = self._at(places)
        self._error[at] = self._amount[at] = self._terms[at] = 0.0
        np.maximum.at(self._error, at, error)

    def greatest(self, places: Array, size: int, error: Array) -> None:
        """Update the bounds after a maximum or minimum, or after another choice of one of the two values."""
        at = self._at(places)
        np.maximum.at(self._error, at, error)

    def added(self, places: Array, size: int, error: Array, amount: Array) -> None:
        """Update the bounds after atomic additions."""
        at = self._at(places)
        np.add.at(self._error, at, error)
        np.add.at(self._amount, at, np.where(np.isfinite(amount), amount, 0.0))
        np.add.at(self._terms, at, 1.0)

    def at(self, places: Array, size: int) -> Array:
        """The error bounds of loaded values; infinite for elements with several atomic additions."""
        if not len(self._known):
            return np.zeros(len(places))
        at = np.minimum(np.searchsorted(self._known, places), len(self._known) - 1)
        there = self._known[at] == places
        return np.where(there, np.where(self._terms[at] > 1, np.inf, self._error[at]), 0.0)

    def of(self, argument: Argument, final: Array, u: float, same: bool) -> Array:
        """The bound of each element of an argument, whose values at the end are ``final``.

        For ``n`` additions it is gamma_n times all magnitudes. The start value is at most the final value plus all
        magnitudes that were added. A single addition is rounded once, in the same way in runs of the ``same`` kernel.
        """
        places = offsets(argument.shape, argument.strides) * argument.itemsize + argument.address
        found = np.zeros(len(places))
        if len(self._known) and len(places):
            at = np.minimum(np.searchsorted(self._known, places), len(self._known) - 1)
            there = self._known[at] == places
            now = np.abs(wide(final.reshape(-1)))
            free = np.where(self._terms[at] > (1 if same else 0), self._terms[at], 0.0)
            sums = times(2 * gamma(free, u), 2 * self._amount[at] + np.where(np.isfinite(now), now, 0.0))
            found = np.where(there, self._error[at] + sums, 0.0)
        return found.reshape(argument.shape)

    def _at(self, places: Array) -> Array:
        """The positions of these addresses in the arrays; new addresses are inserted."""
        missing = np.setdiff1d(places, self._known)
        if len(missing):
            known = np.concatenate([self._known, missing])
            order = np.argsort(known, kind="stable")
            self._known = known[order]
            for name in ("_error", "_amount", "_terms"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros(len(missing))])[order])
        return np.searchsorted(self._known, places)
