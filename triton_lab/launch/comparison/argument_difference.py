"""`Compared`: one argument in two results: where they differ, by how much, and whether rounding explains it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.comparison import number_formats
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.chunks import gathered, mapped
from triton_lab.launch.comparison.element_differences import (
    BEYOND,
    EXPLAINED,
    SAME,
    UNCLEAR,
    absolute,
    are_finite,
    comparable,
    is_infinite,
    is_one_nan,
    is_same,
    judged,
    relative,
    ulps,
    worst_of,
    zeros_apart,
)
from triton_lab.localization import N_, _, translated

Array = NDArray[Any]

EQUAL = N_("bit-equal")
NEAR = N_("equal up to rounding")
UNKNOWN = N_("not known")
DIFFERENT = N_("different")
# From the best to the worst.
VERDICTS = (EQUAL, NEAR, UNKNOWN, DIFFERENT)


@dataclass(frozen=True)
class Worst:
    """The largest error of a kind, and the index of its element."""

    value: float
    index: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Compared:
    """Argument ``name`` in results ``a`` and ``b``, arrays of one shape.

    ``written`` says whether the launch wrote it. ``bound`` says which other values of ``a`` rounding explains (see
    `bounds`); it is None if only equal values are right, or if it is not known, with the ``reason``. ``dtype`` is
    the coarser of the two dtypes: errors are counted in its units in the last place.
    """

    name: str
    a: Array = field(repr=False)
    b: Array = field(repr=False)
    written: bool = True
    bound: Bound | None = field(default=None, repr=False)
    reason: str = ""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The coarser dtype, in whose units the two are compared."""
        return number_formats.coarser(self.a.dtype, self.b.dtype)

    @cached_property
    def numbers(self) -> tuple[Array, Array]:
        """Both as arrays that can be subtracted: integers of one type, or float64."""
        return comparable(self.a, self.b)

    @cached_property
    def same(self) -> Array:
        """Where the two are bit-equal (any NaN equals any other); two dtypes are first rounded to the coarser one."""
        return mapped(is_same, np.bool_, self.a, self.b)

    @cached_property
    def nan(self) -> Array:
        """Where one is NaN and the other is not."""
        return mapped(is_one_nan, np.bool_, self.a, self.b)

    @cached_property
    def infinite(self) -> Array:
        """Where one is infinite and the other is a different number."""
        return mapped(is_infinite, np.bool_, self.a, self.b)

    @cached_property
    def finite(self) -> Array:
        """Where both are finite."""
        return mapped(are_finite, np.bool_, self.a, self.b)

    @cached_property
    def absolute(self) -> Array:
        """|a - b| in float64; 0 where the two are the same, NaN where they differ and one is not finite."""
        return mapped(absolute, np.float64, self.a, self.b)

    @cached_property
    def relative(self) -> Array:
        """|a - b| / |b|, infinite where b alone is 0."""
        return mapped(relative, np.float64, self.a, self.b)

    @cached_property
    def ulps(self) -> Array:
        """The error in units in the last place: steps of the dtype between the two, or for two dtypes units at b."""
        return mapped(ulps, np.float64, self.a, self.b)

    @cached_property
    def _judged(self) -> Array:
        """For each element `SAME`, `EXPLAINED`, `UNCLEAR` or `BEYOND`, uint8."""
        if self.bound is None:
            other = UNCLEAR if self.reason else BEYOND
            return np.where(self.same, np.uint8(SAME), np.uint8(other))
        return mapped(judged, np.uint8, self.a, self.b, self.bound.below, self.bound.above, self.bound.kind)

    @cached_property
    def explained(self) -> Array:
        """Where the two are the same, or equal up to rounding."""
        return np.asarray(self._judged <= EXPLAINED) if self.count else self.same

    @cached_property
    def unknown(self) -> Array:
        """Where the two differ, and it is not known whether rounding explains it: there is no bound, or another
        evaluation gives some of the numbers within it, and not all.
        """
        return np.asarray(self._judged == UNCLEAR) if self.count else np.zeros(self.a.shape, np.bool_)

    @cached_property
    def undecided(self) -> int:
        """The number of elements that differ, and for which it is not known whether rounding explains it."""
        return int(np.count_nonzero(self.unknown))

    @cached_property
    def beyond(self) -> int:
        """How many elements differ by more than their known bound."""
        return int(np.count_nonzero(self._judged == BEYOND)) if self.count else 0

    @cached_property
    def count(self) -> int:
        """How many elements are not bit-equal."""
        return self.a.size - int(np.count_nonzero(self.same))

    @cached_property
    def zeros(self) -> int:
        """How many elements are zeros of different signs."""
        return sum(gathered(zeros_apart, self.a, self.b)) if self.count else 0

    @property
    def verdict(self) -> str:
        """``bit-equal``, ``equal up to rounding``, ``not known`` or ``different``."""
        if not self.count:
            return EQUAL
        if self.beyond:
            return DIFFERENT
        return UNKNOWN if self.undecided else NEAR

    @cached_property
    def _worst(self) -> list[Worst | None]:
        """The largest absolute, relative and other error, of one look at all elements."""
        pieces = gathered(worst_of, self.a, self.b)
        result: list[Worst | None] = []
        for k in range(3):
            value, at = max((piece[k] for piece in pieces), key=lambda one: (one[0], -one[1]), default=(-1.0, 0))
            result.append(Worst(value, messages.index(at, self.a.shape)) if value >= 0 else None)
        return result

    @property
    def largest_absolute(self) -> Worst | None:
        """The largest absolute error between finite numbers, and its index; None if there are no finite numbers."""
        return self._worst[0]

    @property
    def largest_relative(self) -> Worst | None:
        """The largest relative error."""
        return self._worst[1]

    @property
    def largest_ulps(self) -> Worst | None:
        """The largest error in units in the last place."""
        return self._worst[2]

    def told(self) -> str:
        """The verdict in a sentence: ``out_ptr: different: 3 of 64 elements, by 2 ulp at most, at out_ptr[3]``."""
        if not self.count:
            return f"{self.name}: {translated(EQUAL)}"
        every = messages.count(self.a.size, "element")
        parts = [_("{some} of {every}").format(some=messages.number(self.count), every=every)]
        worst, most = self.largest_ulps, self.largest_absolute
        if worst is not None and most is not None and worst.value:
            # The unit of integers is one, and units near zero say little: then only the difference is reported.
            small = number_formats.is_float(self.dtype) and worst.value < 1e6
            unit = f" ({messages.significant(worst.value)} ulp)" if small else ""
            at = worst if small else most
            parts.append(
                _("by {value} at most{unit}, at {element_at}").format(
                    value=messages.significant(most.value),
                    unit=unit,
                    element_at=messages.element_at(self.name, at.index),
                )
            )
        parts += [
            _("{number} in {what}").format(number=messages.number(n), what=what) for n, what in self._patterns() if n
        ]
        if self.undecided and self.bound is not None:
            parts.append(
                _("{undecided} depend on a choice that rounding can change").format(
                    undecided=messages.number(self.undecided)
                )
            )
        return f"{self.name}: {translated(self.verdict)}: {'; '.join(parts)}"

    def _patterns(self) -> list[tuple[int, str]]:
        counts = (self.nan, self.infinite)
        return [
            *((int(np.count_nonzero(where)), what) for where, what in zip(counts, ("NaN", _("infinity")), strict=True)),
            (self.zeros, _("the sign of zero")),
        ]


# How many different values must become right (fewer may by chance), and for integers how many elements.
DISTINCT, _WHOLE = 4, 16
# Or so many bits of chance: which elements are wrong, and what was expected there.
_BITS = 24
# Bits beyond which nothing is chance; and those of a float that rounding may take.
_CERTAIN, _ROUNDED = 64.0, 4.0


def beyond_chance(plain: Sequence[Compared], found: Sequence[Compared] = ()) -> bool:
    """Whether the differing elements (that are right in ``found``) are too many to become right by chance."""
    bits = 0.0
    for k, one in enumerate(plain):
        wrong = ~one.explained & found[k].same if found else ~one.explained
        expected = np.asarray(number_formats.wide(one.b))
        counts = np.unique(expected[wrong], return_counts=True)[1]
        whole = number_formats.is_float(one.dtype) or counts.sum() >= _WHOLE
        if (len(counts) >= DISTINCT and whole) or (len(counts) > 1 and counts.sum() - counts.max() >= _WHOLE):
            return True
        # One number for all of them: then which elements they are is no chance.
        if not found and counts.sum() >= _WHOLE and np.count_nonzero(~wrong) >= _WHOLE:
            return True
        if not found and wrong.any():
            shares = np.unique(expected, return_counts=True)[1] / expected.size
            bits += _ways(expected.size, int(counts.sum())) - counts.sum() * math.log2(float((shares**2).sum()))
    return bits >= _BITS


def chance_bits(plain: Sequence[Compared]) -> float:
    """How unlikely it is that a change makes all differing elements right by chance, in bits.

    A float of many digits is hardly met by chance, a whole number the less so the wider the numbers spread.
    """
    if beyond_chance(plain):
        return _CERTAIN
    bits = 0.0
    for one in plain:
        wrong = ~np.asarray(one.explained)
        if wrong.any():
            bits += _ways(one.a.size, int(np.count_nonzero(wrong))) + _digits(one, wrong)
    return bits


def _digits(one: Compared, wrong: Array) -> float:
    """How many bits the expected numbers have at the elements that are ``wrong``."""
    expected = np.asarray(number_formats.wide(one.b))
    values, counts = np.unique(expected, return_counts=True)
    there = expected[wrong]
    if number_formats.is_float(one.dtype) and not (there == np.round(there)).all():
        digits = -math.log2(number_formats.unit_roundoff(one.dtype)) - _ROUNDED
        return float(digits * len(np.unique(there)))
    shares = counts / expected.size
    each = -math.log2(float((shares**2).sum()))
    if len(values) == expected.size and np.isfinite(values).all():  # then their spread says more
        each = max(each, math.log2(float(values[-1] - values[0]) + 1))
    return each * there.size


def _ways(count: int, chosen: int) -> float:
    """In how many ways so many are chosen, in bits."""
    return (math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)) / math.log(2)
