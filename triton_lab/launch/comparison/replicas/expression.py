"""`Expression`: what may be written in place of a value, with its numbers and the operations that compute it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Type, predicates, traits
from triton_lab.launch.comparison.mutations.added_operations import AddedSteps, scanned, spread_reduction

Array = NDArray[Any]
# A value of the kernel by number, and the axis along which a row of numbers is spread over a block (None: as it is).
Source = tuple[int, int | None]
# The numbers of a source in some programs, ``(programs, *block)``.
Numbers = Callable[[Source], Array]

OWN: Source = (-1, None)
"""The value that the expression stands in place of."""
_NONE: Mapping[str, Any] = {}
_RARER = 0.1  # what quotients cost more than products, and each further step of a function


@dataclass
class EditSteps(AddedSteps):
    """The operations of an edit; ``own`` is the value that they replace, and ``there`` what is taken for another."""

    own: int
    there: Callable[[int], int]

    def given(self, source: Source, type: Type) -> int:
        """A value of the kernel, spread and cast to ``type``."""
        number, axis = source
        number = self.own if number == OWN[0] else self.there(number)
        held = self.editor.type(number)
        if axis is not None:
            shape = (*held.shape[:axis], 1, *held.shape[axis:])
            number = self.then("tt.expand_dims", (number,), replace(held, shape=shape), {"axis": axis})
        return self.spread(number, type)


@dataclass(frozen=True)
class Expression:
    """``name`` as it would be written; ``cost`` is how much of it there is; ``joined``: it needs parentheses."""

    name: str
    numbers: Callable[[Numbers], Any]
    make: Callable[[EditSteps, Type], int]  # in lanes of this type
    cost: float = 1
    joined: bool = False
    own: bool = False  # whether it takes the value that it stands in place of
    cause: str = ""
    title: str = ""  # instead of "... instead of ..."

    @property
    def inner(self) -> str:
        """The name within another expression."""
        return f"({self.name})" if self.joined else self.name


def of_value(name: str, source: Source) -> Expression:
    """A value of the kernel."""
    return Expression(
        name, lambda numbers: numbers(source), lambda steps, type: steps.given(source, type), own=source == OWN
    )


def of_number(value: float, name: str = "") -> Expression:
    """A constant; one without a ``name`` is seldom what is missing."""
    return Expression(name or f"{value:g}", lambda _numbers: value, lambda steps, type: steps.constant(value, type))


def joined(
    told: str, function: Callable[[Any, Any], Any], name: str, one: Expression, two: Expression, **more: Any
) -> Expression:
    """``one`` and ``two`` joined by the operation ``name``, which computes ``function``; ``told`` takes both."""

    def make(steps: EditSteps, type: Type) -> int:
        return steps.then(name, (one.make(steps, type), two.make(steps, type)), type)

    return Expression(
        told.format(one.inner, two.inner),
        lambda numbers: function(one.numbers(numbers), two.numbers(numbers)),
        make,
        one.cost + two.cost + _RARER * any(sign in told for sign in "/%"),
        joined="(" not in told,
        own=one.own or two.own,
        **more,
    )


def applied(
    told: str, function: Callable[[Any], Any], steps_of: tuple[tuple[str, float | None, bool], ...], one: Expression
) -> Expression:
    """Some operations, each with a number before or behind (see `scope_terms`), applied to ``one``."""

    def make(steps: EditSteps, type: Type) -> int:
        number = one.make(steps, type)
        for name, other, first in steps_of:
            if other is None:
                number = steps.then(name, (number,), type)
            else:
                held = steps.constant(other, type)
                number = steps.then(name, (held, number) if first else (number, held), type)
        return number

    name = told.format(one.inner if not told.startswith("tl.") else one.name)
    return Expression(
        name,
        lambda numbers: function(one.numbers(numbers)),
        make,
        one.cost + 1 + _RARER * (len(steps_of) - 1),
        joined=not told.startswith("tl."),
        own=one.own,
    )


def folded(one: Expression, axis: int, fold: str, whole: bool, told: str, **more: Any) -> Expression:
    """The sum or the greatest along an axis, for all lanes, or (not ``whole``) of the lanes up to each one."""
    greatest = traits.of(fold).extreme > 0
    function: Any = (np.max if greatest else np.sum) if whole else np.maximum.accumulate if greatest else np.cumsum

    def numbers(given: Numbers) -> Array:
        block = one.numbers(given)
        found = function(block, axis=axis + 1)
        return np.broadcast_to(np.expand_dims(found, axis + 1), block.shape) if whole else found

    def make(steps: EditSteps, type: Type) -> int:
        number, editor, near = one.make(steps, type), steps.editor, steps.near
        ops = (
            spread_reduction(editor, near, number, fold, axis) if whole else [scanned(editor, near, number, fold, axis)]
        )
        steps.made += ops
        return ops[-1].results[0]

    return Expression(told.format(one.name), numbers, make, one.cost + 1, own=one.own, **more)


def compared(sign: str, one: Expression, two: Expression, lanes: Type) -> Expression:
    """A comparison of two expressions of ``lanes``, which are whole numbers or floats."""
    number = predicates.NUMBERS["float" if lanes.is_float else "integer"][sign]
    name = "arith.cmpf" if lanes.is_float else "arith.cmpi"

    def make(steps: EditSteps, type: Type) -> int:
        sides = (one.make(steps, lanes), two.make(steps, lanes))
        return steps.then(name, sides, replace(lanes, element="i1"), {"predicate": number})

    function = COMPARED[sign]
    return Expression(
        f"{one.inner} {sign} {two.inner}",
        lambda numbers: function(one.numbers(numbers), two.numbers(numbers)),
        make,
        one.cost + two.cost,
        joined=True,
        own=one.own or two.own,
    )


def chosen(condition: Expression, one: Expression, other: float, told: str, where: bool = True) -> Expression:
    """``one`` where the condition holds (or not, without ``where``), and the number ``other``, written ``told``."""

    def make(steps: EditSteps, type: Type) -> int:
        truth = condition.make(steps, replace(type, element="i1"))
        sides = one.make(steps, type), steps.constant(other, type)
        return steps.then("arith.select", (truth, *(sides if where else sides[::-1])), type)

    def numbers(given: Numbers) -> Array:
        truth = np.asarray(condition.numbers(given), np.bool_)
        return np.where(truth == where, one.numbers(given), other)

    names = (one.name, told) if where else (told, one.name)
    return Expression(
        f"tl.where({condition.name}, {names[0]}, {names[1]})",
        numbers,
        make,
        condition.cost + one.cost + 1,
        own=one.own,
    )


COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
