"""`Grammar`: what may have been meant in place of a value, by its type: an expression of one more value, a number or a
function, or of two more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from triton_lab.ir import traits
from triton_lab.launch.comparison.mutations.ir_query import cost_of_number, source
from triton_lab.launch.comparison.replicas.expression import Expression, joined, of_number, of_value
from triton_lab.launch.comparison.replicas.float_grammar import FILLS, FloatGrammar
from triton_lab.launch.comparison.replicas.scope_leaves import OVERWRITTEN, TURNED, ScopeLeaf, rest
from triton_lab.localization import _, translated


def _cut(a: Any, b: Any) -> Any:
    """The quotient of integers, rounded to zero."""
    return np.trunc(np.divide(a, b)).astype(np.int64) if np.ndim(a) or np.ndim(b) else int(a / b) if b else 0


# How two numbers are joined: the words, the function, and the operation.
_WHOLE: tuple[tuple[str, Callable[[Any, Any], Any], str], ...] = (
    ("{} + {}", np.add, "arith.addi"),
    ("{} - {}", np.subtract, "arith.subi"),
    ("{} * {}", np.multiply, "arith.muli"),
    ("{} // {}", _cut, "arith.divsi"),
    ("{} % {}", rest, "arith.remsi"),
)
_EXTREMES: tuple[tuple[str, Callable[[Any, Any], Any], str], ...] = (
    ("tl.minimum({}, {})", np.minimum, "arith.minsi"),
    ("tl.maximum({}, {})", np.maximum, "arith.maxsi"),
)
# Of numbers whose bits are joined; shifts are only by constants.
_BITWISE: tuple[tuple[str, Callable[[Any, Any], Any], str], ...] = (
    ("{} ^ {}", np.bitwise_xor, "arith.xori"),
    ("{} & {}", np.bitwise_and, "arith.andi"),
    ("{} | {}", np.bitwise_or, "arith.ori"),
)
_SHIFTS: tuple[tuple[str, Callable[[Any, Any], Any], str], ...] = (
    ("{} << {}", np.left_shift, "arith.shli"),
    ("{} >> {}", np.right_shift, "arith.shrsi"),
)
_SKIPS = 5  # numbers of a program, and as many that were passed
_ANY = 0.5  # what a number costs more that is one of many
_SMALL = 9  # whole numbers up to this one are written often


class Grammar(FloatGrammar):
    """What may stand in place of the value of ``place``."""

    def forgotten(self) -> Iterator[Expression]:
        """With a value or an argument that nothing takes, in its place or beside it."""
        idle = self.scope.unread
        for one in (*self.others(), *self.simple()):
            if not idle.isdisjoint(re.findall(r"\w+", one.name)):
                yield one

    def others(self) -> Iterator[Expression]:
        """Another value in its place."""
        if self.type.bits == 1:
            yield from (replace(truth, cost=2) for truth in self.truths())
            return
        least = max([cost_of_number(self.scope.made, op, k) for op, k in self.place.uses], default=1)
        if self.is_number and self.type.is_float:
            for value, told in FILLS:
                yield replace(of_number(value, told), cost=max(least, 1.2))
        if self.is_number and self.type.is_integer and self.place.op.name != "scf.for":
            powers = range(self.type.bits - 1) if self._joins_bits else ()
            for value in sorted({*range(-2, _SMALL), *(n for k in powers for n in (1 << k, (1 << k) - 1))}):
                yield replace(of_number(value), cause=_("a wrong number"), cost=max(least, 1.2))
        for load in self.loads:
            yield replace(load, cause=_("an argument that is not used"))
        scalar = not self.scope.type(source(self.scope.made, self.place.number)).shape
        cost = max([self.own.cost, *(self.scope.cost_of_value(op, k) for op, k in self.place.uses)])
        for leaf in self.leaves("f32" if self.type.is_float else "i32"):
            if leaf.name == self.own.name:
                continue  # what a variable was before: no other name stands for it
            # One number for all lanes is taken for another one, and lanes for others.
            yield replace(
                leaf.told,
                cost=cost if leaf.scalar == scalar and not (leaf.whole and self.type.is_float) else cost + 1,
                cause=_("a wrong value"),
            )

    def simple(self) -> Iterator[Expression]:
        """With one more value, number or function."""
        type = self.type
        if type.bits == 1:
            yield from self.conditions(self.truths())
            yield from self.conditions(self.comparisons(likely=True))
        elif type.is_integer:
            yield from self.whole()
        elif type.is_float:
            yield from self.real()

    def composed(self) -> Iterator[Expression]:
        """With two more."""
        type = self.type
        if type.bits == 1:
            yield from self.conditions(chain(self.unnamed_truths(), self.comparisons(likely=False)))
        elif type.is_integer:
            yield from self.two_whole()
        elif type.is_float:
            yield from self.two_real()

    def whole(self) -> Iterator[Expression]:
        """With one more value or number."""
        leaves, one, zero = self.leaves("i32"), of_number(1), of_number(0)
        own = self.own
        for load in self.loads:
            for told, function, name in _WHOLE[:3]:
                yield replace(joined(told, function, name, own, load), cause=_("an argument that is not used"))
        if self.is_number:
            for leaf in leaves:
                if leaf.scalar:
                    yield joined("{} * {}", np.multiply, "arith.muli", own, leaf.told)
            return
        yield from self._offsets(leaves)
        yield from self.folds()
        yield from self._bits()
        for told, function, name in _EXTREMES:
            for other in (zero, *(leaf.told for leaf in leaves)):
                yield joined(told, function, name, own, other)
        for leaf in leaves:  # the last index of as many
            if leaf.scalar:
                told, function, name = _EXTREMES[0]
                last = joined("{} - {}", np.subtract, "arith.subi", leaf.told, one)
                yield joined(told, function, name, own, replace(last, cost=leaf.told.cost, joined=False))
        for other in (one, of_number(2), of_number(4)):
            for told, function, name in _WHOLE if other is not one else _WHOLE[:2]:
                yield joined(told, function, name, own, other)
        negated = joined("{} - {}", np.subtract, "arith.subi", zero, own)
        yield replace(negated, name=f"-{own.inner}", cause=_("a missing minus sign"))
        yield replace(zero, cost=2)
        for leaf in leaves:
            if leaf.name == own.name:
                yield self.added_up(leaf.told)
                yield replace(
                    joined("{} * {}", np.multiply, "arith.muli", leaf.told, own), cause=translated(OVERWRITTEN)
                )
                continue
            for told, function, name in _WHOLE:
                if leaf.scalar or told not in TURNED[2:]:
                    yield joined(told, function, name, own, leaf.told)
            if leaf.scalar:
                yield joined("{} - {}", np.subtract, "arith.subi", leaf.told, own)
                last = joined("{} - {}", np.subtract, "arith.subi", leaf.told, one)
                yield replace(
                    joined("{} - {}", np.subtract, "arith.subi", last, own),
                    name=f"{leaf.name} - 1 - {own.inner}",
                    cause=_("the direction of an index"),
                )

    def _offsets(self, leaves: Sequence[ScopeLeaf]) -> Iterator[Expression]:
        """With what each program skips: a number of its own times one that was passed."""
        passed = {self.scope.names.get(number) for number in self.scope.function.arguments}
        own = [leaf for leaf in leaves if leaf.scalar and leaf.name not in passed][:_SKIPS]
        for one in own:
            for two in [leaf for leaf in leaves if leaf.scalar and leaf.name in passed][:_SKIPS]:
                skipped = joined("{} * {}", np.multiply, "arith.muli", one.told, two.told)
                yield joined("{} + {}", np.add, "arith.addi", self.own, skipped)
        for number in self.scope.unnamed.get(self.place.op.index, ()):
            maker = self.scope.made.get(number)
            if maker is not None and maker.name == "arith.muli" and not self.scope.type(number).shape:
                skipped = replace(of_value(self.scope.called(number), (number, None)), cost=1.1, joined=True)
                yield joined("{} + {}", np.add, "arith.addi", self.own, skipped)

    @property
    def _joins_bits(self) -> bool:
        every = [traits.of(op.name) for op in self.scope.own]
        # Not those that masks are joined by.
        return any(trait.bitwise and trait.symbol and trait.absorbing is None for trait in every)

    def _bits(self) -> Iterator[Expression]:
        """With one more number, in kernels that join bits."""
        if not self._joins_bits:
            return
        for told, function, name in _BITWISE:
            for leaf in self.leaves("i32"):
                yield joined(told, function, name, self.own, leaf.told)
            for k in range(1, self.type.bits - 1):
                more = joined(told, function, name, self.own, of_number((1 << k) - 1))
                yield replace(more, cost=more.cost + _ANY)
        for told, function, name in _SHIFTS:
            for k in range(1, self.type.bits - 1):
                more = joined(told, function, name, self.own, of_number(k))
                yield replace(more, cost=more.cost + _ANY)

    def two_whole(self) -> Iterator[Expression]:
        """With two more."""
        leaves, own = self.some("i32"), self.own
        for one in leaves:
            for two in leaves:
                for told, function, name in _WHOLE:
                    if one.name == two.name or (told in TURNED[2:] and not two.scalar):
                        continue
                    if told not in TURNED and one.name > two.name:
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
                        yield joined(
                            "{} + {}", np.add, "arith.addi", joined(told, function, name, own, two.told), one.told
                        )
                    times = joined("{} * {}", np.multiply, "arith.muli", own, two.told)
                    yield joined("{} + {}", np.add, "arith.addi", times, one.told)
                    plus = joined("{} + {}", np.add, "arith.addi", own, one.told)
                    yield joined("{} * {}", np.multiply, "arith.muli", plus, two.told)
