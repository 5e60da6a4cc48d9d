"""`FloatGrammar`: what may be written in place of a float."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from triton_lab.ir import traits
from triton_lab.launch.comparison.matching.scope_terms import FUNCTIONS
from triton_lab.launch.comparison.replicas.expression import Expression, applied, chosen, joined, of_number
from triton_lab.launch.comparison.replicas.scope_leaves import TURNED, ScopeLeaves
from triton_lab.localization import _

Function = Callable[[Any, Any], Any]


def _times(a: Any, b: Any) -> Any:
    return a * b


# How two numbers are joined: the words, the function, and the operation.
_FLOATS: tuple[tuple[str, Function, str], ...] = (
    ("{} + {}", np.add, "arith.addf"),
    ("{} - {}", np.subtract, "arith.subf"),
    ("{} * {}", np.multiply, "arith.mulf"),
    ("{} / {}", np.divide, "arith.divf"),
    ("tl.maximum({}, {})", np.fmax, "arith.maxnumf"),
    ("tl.minimum({}, {})", np.fmin, "arith.minnumf"),
)
_ROUND = (2.0, 0.5, 4.0, 0.25)
FILLS = ((0.0, "0.0"), (-math.inf, 'float("-inf")'), (1.0, "1.0"), (math.inf, 'float("inf")'))


class FloatGrammar(ScopeLeaves):
    """The expressions of floats."""

    def real(self) -> Iterator[Expression]:
        """With one more value, number or function."""
        leaves, own = self.leaves("f32"), self.own
        if self.is_number:
            return
        for load in self.loads:
            of = [load, *(applied(told, function, steps, load) for told, function, steps in FUNCTIONS[:1])]
            for one in of:
                for more in self._with(one):
                    yield replace(more, cause=_("an argument that is not used"))
        for told, function, steps in FUNCTIONS:
            cause = _("a missing function") if told.startswith("tl.") else _("a missing term")
            yield replace(applied(told, function, steps, own), cause=cause)
        squared = joined("{} * {}", np.multiply, "arith.mulf", own, own)
        title = _("{name}, squared").format(name=own.name)
        yield replace(squared, cause=_("a missing function"), title=title)
        yield from self.folds()
        negated = applied("-{}", np.negative, (("arith.negf", None, False),), own)
        yield replace(negated, cause=_("a missing minus sign"))
        for value in _ROUND:
            cause = _("a missing factor")
            cost = 2.05 if value in _ROUND[:2] else 3
            yield replace(joined("{1} * {0}", _times, "arith.mulf", own, of_number(value)), cost=cost, cause=cause)
        for value in (1.0, 0.5):
            for word, join, name in _FLOATS[:2]:
                more = joined(word, join, name, own, of_number(value))
                yield replace(more, cost=3, cause=_("a missing term"))
        for truth in self.truths():
            for value, told in FILLS[:3]:
                yield replace(chosen(truth, own, value, told), cause=_("a missing condition"))
        for leaf in leaves:
            yield from self._with(leaf.told)
            ways = FUNCTIONS if leaf.idle else (*FUNCTIONS[:2], FUNCTIONS[3]) if leaf.scalar else ()
            for told, function, steps in ways:
                yield from self._with(applied(told, function, steps, leaf.told))

    def _with(self, other: Expression) -> Iterator[Expression]:
        own = self.own
        if other.name == own.name:
            yield self.added_up(other)
        twice = other.name.partition("[")[0] == own.name
        for told, function, name in _FLOATS[2:] if twice else _FLOATS:
            cause = _("a missing term") if traits.of(name).sums else _("a missing factor")
            cause = _("a missing function") if told.startswith("tl.") else cause
            yield replace(joined(told, function, name, own, other), cause=cause)
            if told in TURNED:
                yield replace(joined(told, function, name, other, own), cause=cause)

    def two_real(self) -> Iterator[Expression]:
        """With two more, or a function of one."""
        leaves, own = self.some("f32"), self.own
        for leaf in [each for each in leaves if not each.whole]:
            for told, function, steps in FUNCTIONS:
                of = applied(told, function, steps, leaf.told)
                yield replace(of, cost=of.cost + self.is_number)
                if not self.is_number:
                    yield from list(self._with(of))[:6]
        for one in leaves:
            for two in leaves:
                for word, join, name in _FLOATS[:4]:
                    alike = one.name == two.name and word != "{} * {}"  # a square is usual
                    if alike or (word not in TURNED and one.name > two.name):
                        continue
                    both = joined(word, join, name, one.told, two.told)
                    yield replace(both, cost=both.cost + self.is_number)
                    if not self.is_number:
                        yield joined("{} + {}", np.add, "arith.addf", own, both)
                        yield joined("{} - {}", np.subtract, "arith.subf", own, both)
                        yield joined("{} * {}", np.multiply, "arith.mulf", own, both)
        for fold in self.folds():
            if fold.own:
                for word, join, name in _FLOATS[1:4]:
                    yield joined(word, join, name, own, fold)
        half = of_number(0.5)
        for leaf in leaves if not self.is_number else ():
            squared = joined("{} * {}", np.multiply, "arith.mulf", leaf.told, leaf.told)
            times_half = [joined("{} * {}", np.multiply, "arith.mulf", half, one) for one in (squared, leaf.told)]
            for other in (squared, *times_half):
                yield joined("{} + {}", np.add, "arith.addf", own, other)
                yield joined("{} - {}", np.subtract, "arith.subf", own, other)
        if self.type.shape and not self.is_number:
            for truth in self.unnamed_truths():
                for where in (True, False):
                    yield replace(chosen(truth, own, *FILLS[0], where), cause=_("a missing condition"))
            for truth in self.comparisons(likely=True):
                for value, told in FILLS[:2]:
                    yield replace(chosen(truth, own, value, told), cause=_("a missing condition"))
