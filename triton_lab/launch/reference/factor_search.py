"""`wrong_factor`: finds an element of an input that a result has times another number than it must.

An element of the input is increased by 1, and set far above and far below all others. If a side changes by as much for
each step, that is the element's factor. A factor that is an element of another input is told as that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.comparison.number_formats import unit_roundoff
from triton_lab.launch.recording.progress_callback import breathe
from triton_lab.launch.reference.changed_inputs import ChangedInputs, Numbers, ReferenceInput, some_of
from triton_lab.launch.reference.wrong_dependence import InputElement, WrongFactor

if TYPE_CHECKING:
    import torch

_TRIED = 12  # elements of each input
_CLOSE, _LEAST = 64, 2e-6  # roundings, and a part of a factor: what is nearer is the same


def wrong_factor(sides: ChangedInputs) -> WrongFactor | None:
    """The first element of an input with a wrong factor; None if none is known. Raises CannotReplay.

    It is told if both factors are elements of other inputs, or whole numbers.
    """
    return next(_FactorSearch(sides).found(), None)


@dataclass(frozen=True, eq=False)
class _FactorSearch:
    sides: ChangedInputs

    def found(self) -> Iterator[WrongFactor]:
        for name, flags in self.sides.used().items():
            one = next(each for each in self.sides.inputs if each.name == name)
            if not one.values.dtype.is_floating_point:
                continue
            for number in some_of(np.flatnonzero(flags), _TRIED):
                told = self._told(one, number)
                if told is not None:
                    yield told

    def _told(self, one: ReferenceInput, number: int) -> WrongFactor | None:
        found, wanted = (self._factor(side, one, number, {}) for side in (self.sides.stored, self.sides.expected))
        if found is None or wanted is None or self._same(found, wanted):
            return None
        mine = self._named(self.sides.stored, one, number, found) or found
        theirs = self._named(self.sides.expected, one, number, wanted) or wanted
        if not all(isinstance(each, InputElement) or self._same(each, round(each)) for each in (mine, theirs)):
            return None
        element = self.sides.element(one.name, number)
        return WrongFactor(self.sides.result.name, self.sides.first.index, element, mine, theirs)

    def _named(
        self, side: Callable[[Numbers], float | None], one: ReferenceInput, number: int, value: float
    ) -> InputElement | None:
        """The element of another input that a factor is: with twice its number, the factor is twice as great."""
        for other in self.sides.inputs:
            if other is one or not other.values.dtype.is_floating_point:
                continue
            alike = self._alike(other, value)
            if len(alike) != 1:
                continue
            again = self._factor(side, one, number, {other.name: _with(other, alike[0], 2 * value)})
            if again is not None and self._same(2 * value, again):
                return self.sides.element(other.name, alike[0])
        return None

    def _alike(self, other: ReferenceInput, value: float) -> list[int]:
        numbers = other.values.double().reshape(-1).numpy()
        return [int(k) for k in np.flatnonzero(np.abs(numbers - value) <= self._slack(value))]

    def _factor(
        self, side: Callable[[Numbers], float | None], one: ReferenceInput, number: int, ground: Numbers
    ) -> float | None:
        """By how much the element changes if that of the input grows by 1; None if it is not so for far numbers."""
        breathe()
        own = float(one.values.reshape(-1)[number])
        before, after = side(ground), side({**ground, one.name: _with(one, number, own + 1)})
        if before is None or after is None:
            return None
        factor = after - before
        for far in (one.far(high=True), one.far(high=False)):
            made = side({**ground, one.name: _with(one, number, far)})
            if made is None or not math.isfinite(made):
                return None
            size = max(abs(before), abs(made), abs(factor * far))
            if not abs(made - before - factor * (far - own)) <= self._slack(size):
                return None
        return factor

    def _same(self, one: float, other: float) -> bool:
        return abs(one - other) <= self._slack(max(abs(one), abs(other), abs(self.sides.size)))

    def _slack(self, size: float) -> float:
        return (_CLOSE * unit_roundoff(self.sides.result.a.dtype) + _LEAST) * abs(size)


def _with(one: ReferenceInput, number: int, value: float) -> torch.Tensor:
    """The values of an input, one of its elements another one."""
    values = one.values.clone().contiguous().reshape(-1)
    values[number] = value
    return values.reshape(one.values.shape)
