"""`Compared`: one argument in two results: where they differ, by how much, and whether rounding explains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.comparison import number_formats
from triton_lab.launch.comparison.bound import CHOICE, CONTINUOUS, WHOLE, Bound
from triton_lab.localization import N_, _

Array = NDArray[Any]

EQUAL = "bit-equal"
NEAR = N_("equal up to rounding")
UNKNOWN = N_("not known")
DIFFERENT = "different"
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
    `error_bounds`); it is None if only equal values are right, or if it is not known, with the ``reason``. ``dtype`` is
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
        if self.a.dtype == self.b.dtype and not number_formats.is_float(self.a.dtype):
            return self.a, self.b
        return number_formats.wide(self.a), number_formats.wide(self.b)

    @cached_property
    def same(self) -> Array:
        """Where the two are bit-equal (any NaN equals any other); two dtypes are first rounded to the coarser one."""
        a, b = self.a, self.b
        if a.dtype != b.dtype:
            with np.errstate(all="ignore"):
                a, b = a.astype(self.dtype), b.astype(self.dtype)
        return np.asarray(
            (number_formats.bits(a) == number_formats.bits(b)) | (number_formats.is_nan(a) & number_formats.is_nan(b))
        )

    @cached_property
    def nan(self) -> Array:
        """Where one is NaN and the other is not."""
        return np.asarray(number_formats.is_nan(self.a) != number_formats.is_nan(self.b))

    @cached_property
    def infinite(self) -> Array:
        """Where one is infinite and the other is a different number."""
        a, b = self.numbers
        with np.errstate(invalid="ignore"):
            return np.asarray(
                (number_formats.is_infinite(self.a) | number_formats.is_infinite(self.b)) & (a != b) & ~self.nan
            )

    @cached_property
    def finite(self) -> Array:
        """Where both are finite."""
        strange = (number_formats.is_nan(one) | number_formats.is_infinite(one) for one in (self.a, self.b))
        return ~np.logical_or(*strange)

    @cached_property
    def absolute(self) -> Array:
        """|a - b| in float64; 0 where the two are the same, NaN where they differ and one is not finite."""
        a, b = self.numbers
        if a.dtype == b.dtype and not number_formats.is_float(a.dtype):
            return number_formats.magnitude(a, b).astype(np.float64)
        with np.errstate(all="ignore"):
            return np.where(self.same, 0.0, np.where(self.finite, np.abs(a - b), np.nan))

    @cached_property
    def relative(self) -> Array:
        """|a - b| / |b|, infinite where b alone is 0."""
        with np.errstate(all="ignore"):
            return np.where(self.absolute == 0, 0.0, self.absolute / np.abs(number_formats.wide(self.numbers[1])))

    @cached_property
    def ulps(self) -> Array:
        """The error in units in the last place: steps of the dtype between the two, or for two dtypes units at b."""
        if self.a.dtype == self.b.dtype:
            counted = number_formats.steps(self.a, self.b).astype(np.float64)
        else:
            with np.errstate(all="ignore"):
                counted = self.absolute / number_formats.ulp(self.numbers[1], self.dtype)
        return np.where(self.same, 0.0, np.where(self.finite, counted, np.nan))

    @cached_property
    def explained(self) -> Array:
        """Where the two are the same, or equal up to rounding."""
        if self.bound is None or not self.count:
            return self.same
        return np.asarray(self.same | (self._within & self._attained))

    @cached_property
    def unknown(self) -> Array:
        """Where the two differ, and it is not known whether rounding explains it: there is no bound, or another
        evaluation gives some of the numbers within it, and not all.
        """
        if not self.count:
            return np.zeros(self.a.shape, np.bool_)
        if self.bound is None:
            return ~self.same if self.reason else np.zeros(self.a.shape, np.bool_)
        within = self._within & (self.bound.kind == CHOICE)
        return np.asarray(~self.same & (within | ~np.isfinite(self._allowed)))

    @cached_property
    def _allowed(self) -> Array:
        """The largest difference that rounding explains, on the side on which the other value lies."""
        assert self.bound is not None
        if self.bound.below is self.bound.above:
            return self.bound.below
        a, b = self.numbers
        with np.errstate(invalid="ignore"):
            found: Array = np.where(a < b, self.bound.above, self.bound.below)
            strange = np.isnan(number_formats.wide(a)) | np.isnan(number_formats.wide(b))
        return np.where(strange, self.bound.size, found) if strange.any() else found

    @cached_property
    def _within(self) -> Array:
        """Where the other value is within a known bound."""
        with np.errstate(all="ignore"):
            bound = np.where(np.isfinite(self._allowed), self._allowed, -1.0)
            near = self.finite & (self.absolute <= bound)
            if not self.infinite.any():
                return np.asarray(near)
            # A number just below the largest one may be rounded to infinity.
            left, right = (np.abs(number_formats.wide(one)) for one in self.numbers)
            size = np.where(np.isfinite(left), left, right)
            over = self.infinite & np.isfinite(size) & (size + bound >= number_formats.largest(self.dtype))
            return np.asarray(near | (over & (bound > 0)))

    @cached_property
    def _attained(self) -> Array:
        """Where another evaluation may give the other value, if it is within the bound."""
        assert self.bound is not None
        kind = self.bound.kind
        if not kind.any():
            return np.ones((1,) * self.a.ndim, np.bool_)
        b = number_formats.wide(self.b)
        return np.asarray((kind <= CONTINUOUS) | ((kind == WHOLE) & (b == np.rint(b))))

    @cached_property
    def undecided(self) -> int:
        """How many elements differ of which it is not known whether rounding explains them."""
        return int(np.count_nonzero(self.unknown))

    @cached_property
    def beyond(self) -> int:
        """How many elements differ by more than their known bound."""
        return int(np.count_nonzero(~self.explained & ~self.unknown))

    @cached_property
    def count(self) -> int:
        """How many elements are not bit-equal."""
        return int(np.count_nonzero(~self.same))

    @property
    def zeros(self) -> int:
        """How many elements are zeros of different signs."""
        return int(np.count_nonzero(~self.same & (self.absolute == 0)))

    @property
    def verdict(self) -> str:
        """``bit-equal``, ``equal up to rounding``, ``not known`` or ``different``."""
        if not self.count:
            return EQUAL
        if self.beyond:
            return DIFFERENT
        return UNKNOWN if self.undecided else NEAR

    def _worst(self, errors: Array) -> Worst | None:
        if not self.finite.any():
            return None
        at = int(np.argmax(np.where(self.finite, errors, -1.0)))
        return Worst(float(errors.reshape(-1)[at]), messages.index(at, self.a.shape))

    @property
    def largest_absolute(self) -> Worst | None:
        """The largest absolute error between finite numbers, and its index; None if there are no finite numbers."""
        return self._worst(self.absolute)

    @property
    def largest_relative(self) -> Worst | None:
        """The largest relative error."""
        return self._worst(self.relative)

    @property
    def largest_ulps(self) -> Worst | None:
        """The largest error in units in the last place."""
        return self._worst(self.ulps)

    def told(self) -> str:
        """The verdict in a sentence: ``out_ptr: different: 3 of 64 elements, by 2 ulp at most, at out_ptr[3]``."""
        if not self.count:
            return f"{self.name}: {EQUAL}"
        parts = [f"{messages.number(self.count)} of {messages.count(self.a.size, 'element')}"]
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
        parts += [f"{messages.number(n)} in {what}" for n, what in self._patterns() if n]
        if self.undecided and self.bound is not None:
            parts.append(
                _("{undecided} depend on a choice that rounding can change").format(
                    undecided=messages.number(self.undecided)
                )
            )
        return f"{self.name}: {self.verdict}: {'; '.join(parts)}"

    def _patterns(self) -> list[tuple[int, str]]:
        counts = (self.nan, self.infinite)
        return [
            *((int(np.count_nonzero(where)), what) for where, what in zip(counts, ("NaN", "infinity"), strict=True)),
            (self.zeros, _("the sign of zero")),
        ]
