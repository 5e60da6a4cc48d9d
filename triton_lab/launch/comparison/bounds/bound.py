"""`Bound`: by how much other lawful evaluations of an operation may lie below and above the computed value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Which numbers within a bound another evaluation gives: those at its ends (one rounding that goes the other way); none
# for certain, as the bound is an estimate; every whole number; only some numbers, of which it is not known which.
SHARP, CONTINUOUS, WHOLE, CHOICE = -1, 0, 1, 2
# Whole numbers beyond this are not exact in float64, in which bounds are computed.
EXACT = 2.0**52


@dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """Another evaluation of a value ``v`` lies in ``[v - below, v + above]``.

    ``below`` and ``above`` are distances in float64, 0 or more, and infinite where nothing is known; they are one
    object if the bound is symmetric. ``kind`` says which numbers in between another evaluation may give: `SHARP`,
    `CONTINUOUS`, `WHOLE` or `CHOICE`. All three broadcast to the shape of the value.
    """

    below: Array
    above: Array
    kind: Array

    @classmethod
    def around(cls, error: Any, kind: Any = CONTINUOUS) -> Bound:
        """A symmetric bound."""
        error = np.asarray(error, np.float64)
        return cls(error, error, np.asarray(kind))

    @classmethod
    def between(cls, low: Array, value: Array, high: Array, kind: Any = CONTINUOUS) -> Bound:
        """The bound of ``value`` whose other evaluations lie from ``low`` to ``high``; NaN means that all is lost."""
        return cls(distance(low, value), distance(value, high), np.asarray(kind))

    @property
    def size(self) -> Array:
        """The greater of both distances."""
        return self.below if self.below is self.above else np.maximum(self.below, self.above)

    @property
    def any(self) -> bool:
        """Whether any element may differ."""
        return some(self.below) or (self.above is not self.below and some(self.above))

    @property
    def uncertain(self) -> Array:
        """Which elements may differ."""
        return np.asarray(self.size > 0)

    def where(self, there: Array, other: Bound) -> Bound:
        """This bound where ``there``, else the ``other``."""
        below = np.where(there, self.below, other.below)
        same = self.below is self.above and other.below is other.above
        above = below if same else np.where(there, self.above, other.above)
        return Bound(below, above, np.where(there, self.kind, other.kind))

    def mapped(self, function: Callable[[Array], Array]) -> Bound:
        """The bound with ``function`` of each array."""
        below = function(self.below)
        above = below if self.below is self.above else function(self.above)
        return Bound(below, above, function(self.kind))

    def joined(self, other: Bound) -> Bound:
        """The bound of a difference of two values that have these bounds."""
        kind = np.maximum(self.kind, other.kind)
        return Bound(self.below + other.above, self.above + other.below, kind)


NOTHING = Bound.around(0.0)
LOST = Bound.around(np.inf)


def some(error: Array) -> bool:
    """Whether any number is not 0. The first one mostly tells, and a look at all of them is a pass over memory."""
    return bool(error.size) and (error.item(0) != 0 or bool(error.any()))


def distance(low: Array, high: Array) -> Array:
    """How far ``high`` is above ``low``: 0 if they are equal (both infinite, too), and infinite if one is NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.where(low == high, 0.0, np.maximum(high - low, 0.0))
        return np.where(np.isnan(found), np.inf, found)


def kinds(bounds: Sequence[Bound]) -> Array:
    """The kind of what is made of values with these bounds: continuous, if all are, else a choice."""
    worst: Any = CONTINUOUS
    for one in bounds:
        if one.kind.any():
            worst = np.maximum(worst, np.where((one.kind > CONTINUOUS) & one.uncertain, CHOICE, CONTINUOUS))
    return np.asarray(worst)


def alone(bounds: Sequence[Bound]) -> Array:
    """The kind of a sum of whole numbers or the like: that of the only operand that is uncertain, else a choice.

    Several uncertain operands may depend on one another, so that not every combination of them is possible.
    """
    count: Any = 0
    worst: Any = WHOLE
    for one in bounds:
        count = count + one.uncertain.astype(np.int8)
        worst = np.maximum(worst, np.where(one.uncertain, one.kind, WHOLE))
    return np.where(np.asarray(count) > 1, CHOICE, worst)


def decided(kind: Array) -> Array:
    """The kind of a whole number that a float with a bound of this ``kind`` was rounded to.

    It is one of those within the bound if the float may be any number between its ends, and may reach them.
    """
    return np.where((kind == SHARP) | (kind == WHOLE), WHOLE, CHOICE)
