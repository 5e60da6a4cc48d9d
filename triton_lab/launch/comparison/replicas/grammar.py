"""`simple` and `composed`: what may have been meant in place of a value, by its type: an expression of one more value,
a number or a function, or of two more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from triton_lab.ir import Type
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.mutations.scope_terms import FUNCTIONS
from triton_lab.launch.comparison.mutations.value_conversion import may_stand_for
from triton_lab.launch.comparison.relations import numbers
from triton_lab.launch.comparison.replicas.expression import (
    OWN,
    Expression,
    applied,
    chosen,
    compared,
    joined,
    of_number,
    of_value,
)
from triton_lab.launch.comparison.replicas.replica_run import Place
from triton_lab.localization import _

_VALUES, _IN_PAIRS = 40, 8  # values in scope that are taken: the newest ones, and as many arguments
_MOST = 1 << 20


def _cut(a: Any, b: Any) -> Any:
    """The quotient of integers, rounded to zero."""
    return np.trunc(np.divide(a, b)).astype(np.int64) if np.ndim(a) or np.ndim(b) else int(a / b) if b else 0


def _rest(a: Any, b: Any) -> Any:
    return np.fmod(a, b)


def _times(a: Any, b: Any) -> Any:
    return a * b


# How two numbers are joined: the words, the function, and the operation.
_WHOLE = (
    ("{} + {}", np.add, "arith.addi"),
    ("{} - {}", np.subtract, "arith.subi"),
    ("{} * {}", np.multiply, "arith.muli"),
    ("{} // {}", _cut, "arith.divsi"),
    ("{} % {}", _rest, "arith.remsi"),
)
_FLOATS = (
    ("{} + {}", np.add, "arith.addf"),
    ("{} - {}", np.subtract, "arith.subf"),
    ("{} * {}", np.multiply, "arith.mulf"),
    ("{} / {}", np.divide, "arith.divf"),
    ("tl.maximum({}, {})", np.fmax, "arith.maxnumf"),
    ("tl.minimum({}, {})", np.fmin, "arith.minnumf"),
)
_TURNED = ("{} - {}", "{} / {}", "{} // {}", "{} % {}")  # the order of operands counts
_ROUND = (2.0, 0.5, 4.0, 0.25)
_FILLS = ((0.0, "0.0"), (-math.inf, 'float("-inf")'), (1.0, "1.0"), (math.inf, 'float("inf")'))


@dataclass(frozen=True)
class _Leaf:
    """One value or number that may be taken, and whether it is one number in all lanes."""

    told: Expression
    scalar: bool
    name: str


@dataclass
class Grammar:
    """What may stand in place of the value of ``place``."""

    scope: KernelScope
    place: Place

    @cached_property
    def type(self) -> Type:
        """The type of the value."""
        return self.scope.type(self.place.number)

    @cached_property
    def own(self) -> Expression:
        """The value itself."""
        return of_value(self.scope.called(self.place.number), OWN)

    @cached_property
    def is_number(self) -> bool:
        """Whether a constant of the kernel stands there."""
        return constant(self.scope.made, self.place.number) is not None

    def simple(self) -> Iterator[Expression]:
        """With one more value, number or function."""
        type = self.type
        if type.bits == 1:
            yield from self._conditions(self._truths())
            yield from self._conditions(self._comparisons(likely=True))
        elif type.is_integer:
            yield from self._whole()
        elif type.is_float:
            yield from self._real()

    def composed(self) -> Iterator[Expression]:
        """With two more."""
        type = self.type
        if type.bits == 1:
            yield from self._conditions(self._comparisons(likely=False))
        elif type.is_integer:
            yield from self._two_whole()
        elif type.is_float:
            yield from self._two_real()

    # --- Values in scope ---------------------------------------------------------------------------------------

    def leaves(self, element: str) -> list[_Leaf]:
        """The values of the kind of numbers of ``element`` in scope, the newest of each name first, and constants."""
        lanes, found, names = replace(self.type, element=element), [], set()
        op = self.place.op
        for number in self.scope.scope.get(op.index, ()):
            given, name = self.scope.type(number), self.scope.names[number]
            if name in names or number in op.results:
                continue
            names.add(name)
            if number == self.place.number or given.is_pointer or given.is_opaque:
                continue
            if (given.bits == 1) != (lanes.bits == 1) or (given.is_float and not lanes.is_float):
                continue
            if lanes.is_float and given.is_integer and given.shape:
                continue  # whole numbers that a kernel computes in lanes are indices
            if may_stand_for(given, lanes) and len(given.shape) in (0, len(lanes.shape)):
                found.append(_Leaf(of_value(name, (number, None)), not given.shape, name))
            elif len(given.shape) == 1 and len(lanes.shape) == 2:
                for axis, told in ((0, f"{name}[None, :]"), (1, f"{name}[:, None]")):
                    if given.shape[0] == lanes.shape[1 - axis]:
                        found.append(_Leaf(of_value(told, (number, axis)), False, name))
        del found[_VALUES:]
        known = numbers(self.scope.launch)
        for name, value in known.items() if lanes.bits > 1 else ():
            if name not in names and value == int(value) and abs(value) < _MOST and value not in (0, 1):
                found.append(_Leaf(of_number(value, name), True, name))
        return found

    def some(self, element: str) -> list[_Leaf]:
        """The newest of them, and some of the arguments and constants."""
        every = self.leaves(element)
        known = {self.scope.names.get(number) for number in self.scope.function.arguments}
        known |= set(numbers(self.scope.launch))
        passed = [leaf for leaf in every if leaf.name in known]
        return [leaf for leaf in every if leaf.name not in known][:_IN_PAIRS] + passed[:_IN_PAIRS]

    def _truths(self) -> list[Expression]:
        return [leaf.told for leaf in self.leaves("i1")]

    def _whole_lanes(self) -> Type:
        return replace(self.type, element="i32")

    def _comparisons(self, likely: bool) -> Iterator[Expression]:
        """Of lanes with a scalar, or (not ``likely``) of two of any kind, of sums, and of remainders with zero."""
        lanes = self._whole_lanes()
        leaves = self.leaves("i32") if likely else self.some("i32")
        zero, one = of_number(0), of_number(1)
        for leaf in leaves:
            if leaf.scalar and likely:
                continue
            for other in leaves:
                if other.name == leaf.name or other.scalar is not likely:
                    continue
                for sign in ("<", ">=", "!=") if other.scalar else ("<", "<=", ">", ">=", "==", "!="):
                    yield compared(sign, leaf.told, other.told, lanes)
            if likely:
                for sign in (">=", "==", "!="):
                    yield compared(sign, leaf.told, zero, lanes)
                yield compared(">=", leaf.told, one, lanes)
                continue
            for other in [each for each in leaves if each.scalar and each.name != leaf.name]:
                after = joined("{} + {}", np.add, "arith.addi", leaf.told, one)
                if not leaf.scalar:
                    yield compared("<", after, other.told, lanes)
                else:
                    yield compared("<", leaf.told, other.told, lanes)
                    yield compared("!=", leaf.told, other.told, lanes)
                yield compared("==", joined("{} % {}", _rest, "arith.remsi", leaf.told, other.told), zero, lanes)
        if likely:
            return
        floats = replace(self.type, element="f32")
        for leaf in [each for each in self.leaves("f32") if not each.scalar]:
            for sign in (">", "<", "!="):
                yield compared(sign, leaf.told, of_number(0), floats)

    def _conditions(self, truths: Sequence[Expression] | Iterator[Expression]) -> Iterator[Expression]:
        """Further conditions, others instead, and alternatives."""
        for truth in truths:
            yield replace(
                joined("{} & {}", np.logical_and, "arith.andi", self.own, truth),
                cause=_("a missing condition"),
                title=_("{other} as a further condition").format(other=truth.name),
            )
            yield replace(truth, cost=truth.cost + 1)
            yield replace(joined("{} | {}", np.logical_or, "arith.ori", self.own, truth), cost=truth.cost + 2)

    # --- Whole numbers -----------------------------------------------------------------------------------------

    def _whole(self) -> Iterator[Expression]:
        leaves, one, zero = self.leaves("i32"), of_number(1), of_number(0)
        for leaf in leaves:
            yield replace(leaf.told, cause=_("a wrong value"))
        if self.is_number:
            return
        own = self.own
        for other in (one, of_number(2)):
            for told, function, name in _WHOLE if other is not one else _WHOLE[:2]:
                yield joined(told, function, name, own, other)
        yield replace(zero, cost=2)
        for leaf in leaves:
            for told, function, name in _WHOLE:
                if leaf.scalar or told not in _TURNED[2:]:
                    yield joined(told, function, name, own, leaf.told)
            if leaf.scalar:
                yield joined("{} - {}", np.subtract, "arith.subi", leaf.told, own)
                last = joined("{} - {}", np.subtract, "arith.subi", leaf.told, one)
                yield replace(
                    joined("{} - {}", np.subtract, "arith.subi", last, own),
                    name=f"{leaf.name} - 1 - {own.inner}",
                    cause=_("the direction of an index"),
                )

    def _two_whole(self) -> Iterator[Expression]:
        leaves, own = self.some("i32"), self.own
        for one in leaves:
            for two in leaves:
                for told, function, name in _WHOLE:
                    if one.name == two.name or (told in _TURNED[2:] and not two.scalar):
                        continue
                    if told not in _TURNED and one.name > two.name:
                        continue
                    both = joined(told, function, name, one.told, two.told)
                    yield both
                    if self.is_number:
                        continue
                    for outer, apply, as_name in _WHOLE[:2]:
                        if told != "{} + {}":
                            yield joined(outer, apply, as_name, own, both)
                    if two.scalar and told == "{} + {}":
                        yield joined("{} + {}", np.add, "arith.addi", own, both)
            for two in leaves if not self.is_number else ():
                if two.scalar:
                    for told, function, name in _WHOLE[3:]:
                        yield joined("{} + {}", np.add, "arith.addi", joined(told, function, name, own, two.told), one.told)
                    times = joined("{} * {}", np.multiply, "arith.muli", own, two.told)
                    yield joined("{} + {}", np.add, "arith.addi", times, one.told)
                    plus = joined("{} + {}", np.add, "arith.addi", own, one.told)
                    yield joined("{} * {}", np.multiply, "arith.muli", plus, two.told)

    # --- Floats ------------------------------------------------------------------------------------------------

    def _real(self) -> Iterator[Expression]:
        leaves, own = self.leaves("f32"), self.own
        if self.is_number:
            for value, told in _FILLS:
                yield of_number(value, told)
        for leaf in leaves:
            yield replace(leaf.told, cause=_("a wrong value"))
        if self.is_number:
            return
        for told, function, steps in FUNCTIONS:
            yield replace(applied(told, function, steps, own), cause=_("a missing function"))
        yield joined("{} * {}", np.multiply, "arith.mulf", own, own)
        negated = applied("-{}", np.negative, (("arith.negf", None, False),), own)
        yield replace(negated, cause=_("a missing minus sign"))
        for value in _ROUND:
            cause = _("a missing factor")
            yield replace(joined("{1} * {0}", _times, "arith.mulf", own, of_number(value)), cost=3, cause=cause)
        for value in (1.0, -1.0, 0.5, -0.5):
            cause = _("a missing term")
            yield replace(joined("{} + {}", np.add, "arith.addf", own, of_number(value)), cost=3, cause=cause)
        for truth in self._truths():
            for value, told in _FILLS[:3]:
                yield replace(chosen(truth, own, value, told), cause=_("a missing condition"))
        for leaf in leaves:
            yield from self._with(leaf.told)
            for told, function, steps in FUNCTIONS[:4] if leaf.scalar else ():
                yield from self._with(applied(told, function, steps, leaf.told))

    def _with(self, other: Expression) -> Iterator[Expression]:
        own = self.own
        twice = other.name.partition("[")[0] == own.name
        for told, function, name in _FLOATS[2:] if twice else _FLOATS:
            cause = _("a missing term") if name in ("arith.addf", "arith.subf") else _("a missing factor")
            cause = _("a missing function") if told.startswith("tl.") else cause
            yield replace(joined(told, function, name, own, other), cause=cause)
            if told in _TURNED:
                yield replace(joined(told, function, name, other, own), cause=cause)

    def _two_real(self) -> Iterator[Expression]:
        leaves, own = self.some("f32"), self.own
        for leaf in leaves:
            for told, function, steps in FUNCTIONS:
                of = applied(told, function, steps, leaf.told)
                yield of
                if not self.is_number:
                    yield from list(self._with(of))[:6]
        for one in leaves:
            for two in leaves:
                for told, function, name in _FLOATS[:4]:
                    if one.name == two.name or (told not in _TURNED and one.name > two.name):
                        continue
                    both = joined(told, function, name, one.told, two.told)
                    yield both
                    if not self.is_number:
                        yield joined("{} + {}", np.add, "arith.addf", own, both)
                        yield joined("{} - {}", np.subtract, "arith.subf", own, both)
                        yield joined("{} * {}", np.multiply, "arith.mulf", own, both)
        if self.type.shape and not self.is_number:
            for truth in self._comparisons(likely=True):
                for value, told in _FILLS[:2]:
                    yield replace(chosen(truth, own, value, told), cause=_("a missing condition"))
