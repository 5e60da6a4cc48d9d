"""`MemoryBounds`: bounds of the elements in memory during a replay."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.bounds.bound import CHOICE, CONTINUOUS, Bound
from triton_lab.launch.comparison.bounds.rounding_rules import gamma, times
from triton_lab.launch.comparison.number_formats import wide

Array = NDArray[Any]
_MAKES = threading.Lock()


class _Elements:
    """The bounds of a region's elements of one size, each array dense over the region; ``above`` may be ``below``."""

    def __init__(self, region: MemoryRegion, size: int, phase: int, shared: bool) -> None:
        self.start, self.size = region.start + phase, size
        self.count = max(0, region.size - phase) // size
        self.below = self.above = np.zeros(self.count)
        if shared:  # one thread must not exchange the array that another one writes to
            self.above = np.zeros(self.count)
        # Which elements were stored to, for `MemoryBounds.of`.
        self.stored = np.zeros(self.count, np.bool_) if shared else None
        self.kind: Array | None = None
        self.amount: Array | None = None  # the sum of magnitudes that atomics added; `terms` counts them
        self.terms: Array | None = None
        self.unlike = False  # whether elements of another size, or that lie otherwise, were accessed

    def at(self, places: Array) -> Array:
        """The positions of elements at these addresses."""
        return (places - self.start) // self.size

    def fits(self, places: Array, size: int) -> bool:
        return size == self.size and (not len(places) or not ((places - self.start) % size).any())

    @property
    def some(self) -> bool:
        """Whether any element may differ."""
        added = self.terms is not None and bool((self.terms > 1).any())
        return added or bool(self.below.any() or self.above.any())

    def split(self) -> None:
        """Let both distances have arrays of their own."""
        if self.above is self.below:
            self.above = self.below.copy()

    def kinds(self) -> Array:
        with _MAKES:
            if self.kind is None:
                self.kind = np.zeros(self.count, np.int8)
            return self.kind

    def sums(self) -> tuple[Array, Array]:
        if self.amount is None or self.terms is None:
            self.amount, self.terms = np.zeros(self.count), np.zeros(self.count)
        return self.amount, self.terms


class MemoryBounds:
    """Bounds by region and element, of stored values and of values that atomics add in any order.

    False while all of memory is exact. With ``shared``, several threads note what programs store that keep apart.
    """

    def __init__(self, memory: Memory, shared: bool = False) -> None:
        self._memory = memory
        self._shared = shared
        self._lock = threading.Lock()
        self._lanes = 0  # how many were stored, if it is shared
        self._known: dict[int, _Elements] = {}
        self._lost: set[int] = set()  # the starts of regions of which nothing is known
        self.all_lost = False

    def __bool__(self) -> bool:
        return bool(self._known or self._lost or self.all_lost)

    def lose(self, regions: Any = None) -> None:
        """Nothing is known any more of these regions; of None, of all memory."""
        if regions is None:
            self.all_lost = True
        else:
            self._lost.update(region.start for region in regions)

    def holds(self, regions: Collection[MemoryRegion] | None) -> bool:
        """Whether anything is noted of these regions; of None, of any memory."""
        if regions is None or self.all_lost:
            return bool(self)
        return any(region.start in self._known or region.start in self._lost for region in regions)

    def stored(self, places: Array, size: int, bound: Bound) -> None:
        """Set the bounds of stored elements; if several lanes store to one element, the largest error counts."""
        some = bound.any
        for region, here, part in self._regions(places, bound):
            known = self._elements(region, here, size, some or self._shared)
            if known is None:
                continue
            at = known.at(here)
            if known.stored is not None:
                known.stored[at] = True
                with self._lock:
                    self._lanes += len(at)
            if part.above is not part.below:
                known.split()
            repeats = False
            for array, new in self._pairs(known, part):
                array[at] = new
                if some and (array[at] != new).any():
                    repeats = True
                    array[at] = 0.0
                    np.maximum.at(array, at, new)
            if known.kind is not None or part.kind.any():
                known.kinds()[at] = np.max(part.kind, initial=0) if repeats else part.kind
            if known.terms is not None and known.amount is not None:
                known.terms[at] = known.amount[at] = 0.0

    def chosen(self, places: Array, size: int, bound: Bound) -> None:
        """Update the bounds after a maximum or minimum, or after another choice of one of the two values."""
        some = bound.any
        for region, here, part in self._regions(places, bound):
            known = self._elements(region, here, size, some)
            if known is None or not some:
                continue
            at = known.at(here)
            if part.above is not part.below:
                known.split()
            for array, new in self._pairs(known, part):
                np.maximum.at(array, at, np.broadcast_to(new, at.shape))
            self._mixed(known, at, part)

    def added(self, places: Array, size: int, bound: Bound, amount: Array | None) -> None:
        """Update the bounds after atomic additions; ``amount`` are the sizes of floats, None for integers."""
        some = amount is not None or bound.any
        for region, here, part, *sizes in self._regions(places, bound, amount):
            known = self._elements(region, here, size, some)
            if known is None or not some:
                continue
            at = known.at(here)
            if part.above is not part.below:
                known.split()
            for array, new in self._pairs(known, part):
                np.add.at(array, at, new)
            if amount is not None:
                sums, terms = known.sums()
                np.add.at(sums, at, np.where(np.isfinite(sizes[0]), sizes[0], 0.0))
                np.add.at(terms, at, 1.0)
            self._mixed(known, at, part)

    @property
    def overlaps(self) -> bool:
        """Whether an element was stored to more than once, if this is shared: its bound is then not known."""
        distinct = sum(int(np.count_nonzero(one.stored)) for one in self._known.values() if one.stored is not None)
        return distinct != self._lanes or any(one.unlike for one in self._known.values())

    def at(self, places: Array, size: int) -> Bound | None:
        """The bounds of loaded values, None if all are exact; infinite for elements with several atomic additions."""
        found = Bound.around(np.zeros(len(places)))
        parts = []
        for region, rows in self._split(places):
            here = places[rows]
            known = self._known.get(region.start) if region is not None else None
            gone = self.all_lost or (region is not None and region.start in self._lost)
            if known is not None and not known.fits(here, size):
                gone = gone or known.some
            if gone:
                parts.append((rows, Bound.around(np.full(len(here), np.inf))))
            elif known is not None and known.fits(here, size):
                at = known.at(here)
                below = known.below[at]
                above = below if known.above is known.below else known.above[at]
                if known.terms is not None:
                    several = known.terms[at] > 1
                    below, above = (np.where(several, np.inf, part) for part in (below, above))
                kind = np.asarray(0) if known.kind is None else known.kind[at].astype(np.float64)
                parts.append((rows, Bound(below, above, kind)))
        if len(parts) == 1 and len(parts[0][1].below) == len(places):
            found = parts[0][1]
        elif parts:
            whole = [np.zeros(len(places)) for _ in range(3)]
            for rows, part in parts:
                for target, source in zip(whole, (part.below, part.above, part.kind), strict=True):
                    target[rows] = source
            found = Bound(*whole)
        return found if found.any else None

    def of(self, argument: Argument, final: Array, u: float, same: bool, whole: bool = True) -> Bound:
        """The bound of each element of an argument, whose values at the end are ``final``.

        For ``n`` additions it is gamma_n times all magnitudes. The start value is at most the final value plus all
        magnitudes that were added. A single addition is rounded once, in the same way in runs of the ``same`` kernel.
        If not the ``whole`` launch was looked at, nothing is known of elements that were not stored to.
        """
        shape = argument.shape
        region = self._memory.holding(argument.address) if final.size else None
        if self.all_lost or (region is not None and region.start in self._lost):
            return Bound.around(np.full(shape, np.inf))
        known = None if region is None else self._known.get(region.start)
        if known is None or not final.size:
            return Bound.around(np.full(shape, 0.0 if whole else np.inf))
        if known.unlike or known.size != argument.itemsize or (argument.address - known.start) % known.size:
            return Bound.around(np.full(shape, np.inf if known.some else 0.0))

        def seen(array: Array) -> Array:
            strides = tuple(stride * array.itemsize for stride in argument.strides)
            first = (argument.address - known.start) // known.size * array.itemsize
            return np.ndarray(shape, array.dtype, array, first, strides)

        below = seen(known.below)
        above = below if known.above is known.below else seen(known.above)
        kind = np.asarray(0) if known.kind is None else seen(known.kind)
        if not whole and known.stored is not None:
            below, above = (np.where(seen(known.stored), part, np.inf) for part in (below, above))
        if known.terms is None or known.amount is None:
            return Bound(below, above, kind)
        terms, amount, now = seen(known.terms), seen(known.amount), np.abs(wide(final))
        free = np.where(terms > (1 if same else 0), terms, 0.0)
        sums = times(2 * gamma(free, u), 2 * amount + np.where(np.isfinite(now), now, 0.0))
        return Bound(below + sums, above + sums, kind)

    # --- Regions ------------------------------------------------------------------------------

    def _split(self, places: Array) -> list[tuple[MemoryRegion | None, Any]]:
        """The regions of these addresses, and which addresses lie in each; None: in no known region."""
        if not len(places):
            return []
        first = self._memory.holding(int(places.min()))
        if first is not None and int(places.max()) < first.stop:
            return [(first, slice(None))]
        found: list[tuple[MemoryRegion | None, Any]] = []
        left = np.ones(len(places), np.bool_)
        for region in self._memory.regions:
            here = left & (places >= region.start) & (places < region.stop)
            if here.any():
                found.append((region, np.flatnonzero(here)))
                left &= ~here
        return [*found, (None, np.flatnonzero(left))] if left.any() else found

    def _regions(self, places: Array, bound: Bound, *more: Array | None) -> list[Any]:
        """The region, the addresses and the bound of each part of an access."""
        shape = places.shape
        found = []
        for region, rows in self._split(places):
            if region is None:
                if bound.any:
                    self.lose()
                continue
            below = np.broadcast_to(bound.below, shape)[rows]
            above = below if bound.above is bound.below else np.broadcast_to(bound.above, shape)[rows]
            kind = np.broadcast_to(bound.kind, shape)[rows] if bound.kind.any() else np.asarray(0)
            others = [None if one is None else np.broadcast_to(one, shape)[rows] for one in more]
            found.append((region, places[rows], Bound(below, above, kind), *others))
        return found

    def _elements(self, region: MemoryRegion, places: Array, size: int, some: bool) -> _Elements | None:
        """The region's elements; None if there is nothing to note: all is exact, or nothing is known of it."""
        if region.start in self._lost:
            return None
        known = self._known.get(region.start)
        if known is None:
            if not some:
                return None
            phase = int(places[0] - region.start) % size if len(places) else 0
            with self._lock:
                known = self._known.get(region.start)
                if known is None:
                    known = self._known[region.start] = _Elements(region, size, phase, self._shared)
        if not known.fits(places, size):
            known.unlike = True
            if self._shared or some or known.some:
                self._lost.add(region.start)
            return None
        return known

    @staticmethod
    def _pairs(known: _Elements, part: Bound) -> list[tuple[Array, Array]]:
        if known.above is known.below:
            return [(known.below, part.below)]
        return [(known.below, part.below), (known.above, part.above)]

    @staticmethod
    def _mixed(known: _Elements, at: Array, part: Bound) -> None:
        """Elements that are made of several values, some of which are no continuous ones."""
        if known.kind is not None or part.kind.any():
            kind = np.broadcast_to(part.kind, at.shape)
            np.maximum.at(known.kinds(), at, np.where(kind > CONTINUOUS, CHOICE, CONTINUOUS).astype(np.int8))
