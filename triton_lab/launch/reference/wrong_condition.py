"""`WrongCondition`: a condition on a kernel's values that holds where a result is wrong, and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.localization import _

Array = NDArray[Any]
Flags = NDArray[np.bool_]

# How unlikely it must be by chance that a condition fits, in bits beyond those of choosing it among the others.
_BITS = 8.0
# Values of which pairs are compared, and conditions that are combined: the simplest ones.
_VALUES, _COMBINED = 16, 64
# Prices: of a comparison of two values, of a number that is chosen, and of a second condition.
_PAIR, _BOUND, _TOGETHER = 2, 4, 2
_DIGITS = 6  # significant digits of a bound


@dataclass(frozen=True)
class WrongCondition:
    """Of the elements of ``argument`` that were looked at, the ``wrong`` ones are those where all ``conditions`` hold.

    ``right`` says how many others there are, in all ``runs`` together: the launch's, and those with other inputs.
    """

    argument: str
    conditions: tuple[str, ...]
    wrong: int
    right: int
    runs: int

    def __str__(self) -> str:
        return _("{name} is wrong where {condition}, and right elsewhere ({wrong} of {elements} in {runs})").format(
            name=self.argument,
            condition=_(" and ").join(self.conditions),
            wrong=messages.number(self.wrong),
            elements=messages.count(self.wrong + self.right, "element"),
            runs=messages.count(self.runs, "run"),
        )


@dataclass(frozen=True, eq=False)
class LaneCondition:
    """``text``, and where it ``holds``. A simpler one has a lower ``price``."""

    text: str
    holds: Flags
    price: int


@dataclass(frozen=True, eq=False)
class ConditionTerm:
    """Values of a kernel that are called ``text``: in one program and lane after the other, or in any other shape."""

    text: str
    values: Array
    price: int


def fitted(
    argument: str, terms: Sequence[ConditionTerm], others: Sequence[LaneCondition], wrong: Flags, runs: int = 1
) -> WrongCondition | None:
    """The simplest condition that holds at the ``wrong`` lanes and at no others; None if none fits, or by chance.

    ``terms`` are values at the same lanes, of so many ``runs`` one after the other, and ``others`` conditions beside
    those that these values decide.
    """
    count, size = int(np.count_nonzero(wrong)), len(wrong)
    if not 0 < count < size:
        return None
    tried = sorted([*_conditions(terms, wrong), *others], key=lambda one: one.price)
    around = _apart([one for one in tried if not (wrong & ~one.holds).any()])
    fitting: list[tuple[int, tuple[LaneCondition, ...]]] = [
        (one.price, (one,)) for one in around if np.array_equal(one.holds, wrong)
    ]
    choices = len(tried)
    if not fitting or fitting[0][0] > _TOGETHER:
        pairs = list(combinations(around[:_COMBINED], 2))
        choices *= max(len(tried), 1)
        fitting += [
            (one.price + two.price + _TOGETHER, (one, two))
            for one, two in pairs
            if np.array_equal(one.holds & two.holds, wrong)
        ]
    if not fitting or math.log2(choices) + _BITS > _ways(size, count):
        return None
    found = min(fitting, key=lambda one: one[0])[1]
    return WrongCondition(argument, tuple(one.text for one in found), count, size - count, runs)


def _apart(conditions: Sequence[LaneCondition]) -> list[LaneCondition]:
    """The first of those that hold at the same lanes, without those that hold at all of them."""
    first: dict[bytes, LaneCondition] = {}
    for one in conditions:
        if not one.holds.all():
            first.setdefault(one.holds.tobytes(), one)
    return list(first.values())


def _ways(size: int, count: int) -> float:
    """In how many ways so many of ``size`` lanes may be wrong, in bits."""
    logs = math.lgamma(size + 1) - math.lgamma(count + 1) - math.lgamma(size - count + 1)
    return logs / math.log(2)


def _conditions(terms: Sequence[ConditionTerm], wrong: Flags) -> Iterator[LaneCondition]:
    """The conditions that values of a kernel may decide."""
    numbers = [one for one in terms if one.values.dtype.kind != "b"]
    for one in terms:
        if one.values.dtype.kind == "b":
            named = one.text.isidentifier()
            true, false = _("{name} is true"), _("{name} is false")
            yield LaneCondition(true.format(name=one.text) if named else one.text, one.values, one.price + 1)
            yield LaneCondition(false.format(name=one.text if named else f"({one.text})"), ~one.values, one.price + 1)
    for one in numbers:
        yield from of_number(one)
    for one, other in combinations(numbers[:_VALUES], 2):
        if one.values.dtype.kind == other.values.dtype.kind:
            yield from _of_two(one, other)
    for one in numbers:
        yield from _bounded(one, wrong)


def of_number(one: ConditionTerm) -> Iterator[LaneCondition]:
    """The conditions on one number alone: its sign, and what kind of number it is."""
    yield from _of_two(one, ConditionTerm("0", np.zeros((), one.values.dtype), -_PAIR))
    kinds = {}
    if one.values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = np.floor(one.values) == one.values
        kinds[_("{name} is a whole number")] = whole
        kinds[_("{name} is not a whole number")] = ~whole
        kinds[_("{name} is NaN")] = np.isnan(one.values)
        kinds[_("{name} is infinite")] = np.isinf(one.values)
    else:
        kinds[_("{name} is odd")] = one.values % 2 != 0
        kinds[_("{name} is even")] = one.values % 2 == 0
    for text, holds in kinds.items():
        yield LaneCondition(text.format(name=one.text), holds, one.price + 1)


def _of_two(one: ConditionTerm, other: ConditionTerm) -> Iterator[LaneCondition]:
    """The comparisons of two values: those with a bound that belongs to them are less usual."""
    with np.errstate(invalid="ignore"):
        ways = {"<": one.values < other.values, ">": one.values > other.values, "==": one.values == other.values}
        less_usual = {
            "<=": one.values <= other.values,
            ">=": one.values >= other.values,
            "!=": one.values != other.values,
        }
    for sign, holds in {**ways, **less_usual}.items():
        price = one.price + other.price + _PAIR + (sign in less_usual)
        yield LaneCondition(f"{one.text} {sign} {other.text}", holds, price)


def _bounded(one: ConditionTerm, wrong: Flags) -> Iterator[LaneCondition]:
    """A bound that has all wrong lanes on one side and the right ones on the other, if there is one."""
    values = one.values.astype(np.float64)
    inside, outside = values[wrong], values[~wrong]
    if not (np.isfinite(inside).all() and np.isfinite(outside).all()):
        return
    if inside.min() > outside.max():
        low = _between(float(outside.max()), float(inside.min()))
        yield LaneCondition(f"{one.text} >= {low:.6g}", values >= low, one.price + _BOUND)
    if inside.max() < outside.min():
        high = -_between(-float(outside.min()), -float(inside.max()))
        yield LaneCondition(f"{one.text} <= {high:.6g}", values <= high, one.price + _BOUND)


def _between(low: float, high: float) -> float:
    """The number with the fewest digits that is greater than ``low`` and at most ``high``."""
    if low < 0 <= high:
        return 0.0
    for digits in range(_DIGITS):
        step = 10.0 ** (math.floor(math.log10(max(abs(low), abs(high)))) - digits)
        found = math.floor(high / step) * step
        if low < found <= high:
            return found
    return high
