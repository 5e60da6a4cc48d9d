"""Switches found by numbers: what a value should have been, divided by what it is or less it, is something in scope.

One replay gives all values, and a few more what they should have been. A factor, a term, a function or another value
that has exactly these numbers becomes an experiment; nothing is named that a run of all programs does not confirm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Op, Type, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.matching.element_lookup import loaded, moved_stores
from triton_lab.launch.comparison.matching.scope_terms import ScopeTerm, ScopeTerms, functions, pairs
from triton_lab.launch.comparison.matching.value_record import ValueRecord
from triton_lab.launch.comparison.matching.wanted_values import Solver, ValuePlace, Wanted, places
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.relations import named_factor, numbers
from triton_lab.localization import _

Array = NDArray[Any]

_PLACES, _EACH = 32, 3  # places that are looked at, and experiments for each of them
_CLOSE, _ROUNDING = 1e-3, 2e-5  # how far numbers may be apart, of themselves and of the greatest one
_LANES = 4  # lanes that must agree
_ROUND = (-1, 2, -2, 0.5, -0.5, 4, 0.25, 8, 0.125)
_SAMPLED = 256
# The share of the lanes that must fit: where what is stored hardly depends on a number, it is found roughly.
_AGREE = 0.8


@dataclass(frozen=True)
class _Aim:
    """What a term must be: ``numbers`` in the known lanes, up to ``error``; the operation that applies the term."""

    told: str
    cause: str
    numbers: Array
    error: Array
    name: str  # "": the term stands for the value
    first: bool = False  # whether the term is the first operand


def matches(scope: KernelScope, probe: Probe) -> list[Iterator[Switch]]:
    """The experiments by kind, the simplest first; those at the places that are nearest to the stores first.

    The last kind, of two values in scope, may stand for many others.
    """
    try:
        record = ValueRecord.of(probe)
    except Exception:  # a kernel that fails fails again
        return [iter(())]
    solver, terms = Solver(scope, probe, record), ScopeTerms(scope, record)
    known = [one for one in map(solver.solve, islice(places(scope), _PLACES)) if one is not None]
    found = [_Matches(scope, terms, one) for one in known if one.certain or _lanes(one).sum() >= _LANES]
    kinds = (_Matches.own, _Matches.constants, _Matches.simple, _Matches.functions, _Matches.loads)
    return [*(_at_all(kind, found) for kind in kinds), moved_stores(terms, probe), _at_all(_Matches.combined, found)]


def _at_all(kind: Callable[[_Matches], Iterator[Switch]], found: Sequence[_Matches]) -> Iterator[Switch]:
    for one in found:
        yield from islice(kind(one), _EACH)


def _lanes(one: Wanted) -> Array:
    return np.asarray(np.isfinite(one.wanted) & np.isfinite(one.is_now))


@dataclass
class _Matches:
    """The experiments at one place."""

    scope: KernelScope
    terms: ScopeTerms
    one: Wanted

    @property
    def type(self) -> Type:
        return self.scope.type(self.one.place.number)

    @property
    def user(self) -> Op:
        """The operation before or behind which something is missing: values in scope there may be used."""
        return self.one.place.op

    def aims(self) -> list[_Aim]:
        """What a factor, a divisor, a term and another value would have to be."""
        lanes = _lanes(self.one)
        now, wanted = self.one.is_now[lanes], self.one.wanted[lanes]
        near = _ROUNDING * float(np.abs(wanted).max())
        with np.errstate(all="ignore"):
            ratio, inverse = wanted / now, now / wanted
            aims = [
                _Aim("{value} * {term}", _("a missing factor"), ratio, near / np.abs(now), "arith.mulf"),
                _Aim("{value} / {term}", _("a missing factor"), inverse, near * np.abs(inverse / wanted), "arith.divf"),
                _Aim("{value} + {term}", _("a missing term"), wanted - now, near + 0 * now, "arith.addf"),
                _Aim("{value} - {term}", _("a missing term"), now - wanted, near + 0 * now, "arith.subf"),
                _Aim("{term} - {value}", _("a missing term"), wanted + now, near + 0 * now, "arith.subf", True),
                _Aim("{term} / {value}", _("a missing factor"), wanted * now, near * np.abs(now), "arith.divf", True),
            ]
            # What a cast gives is not replaced: what it takes may be right, and lose digits.
            if traits.of(self.one.place.op.name).kind is not Kind.CASTS:
                aims.append(_Aim("{term}", _("a wrong value"), wanted, near + 0 * now, ""))
            return aims

    def constants(self) -> Iterator[Switch]:
        """A factor, a divisor or a term that is one number and follows from the launch or stands in the kernel.

        Or a factor that is a power of two.
        """
        named = {value: name for name, value in numbers(self.scope.launch).items()}
        named = {**{each: f"{each:g}" for each in self._written}, **named}
        scaled, divided, added, *_others = self.aims()
        for aim in (scaled, divided, added):
            counts = np.isfinite(aim.numbers) & (aim.error < _CLOSE * np.abs(aim.numbers) + 1e-30)
            if counts.sum() < _LANES or (~np.isfinite(aim.numbers)).sum() > counts.sum():
                continue
            middle = float(np.median(aim.numbers[counts]))
            there = np.abs(aim.numbers - middle) <= 2e-5 * abs(middle) + 2 * aim.error
            if not middle or np.mean(there[counts]) < _AGREE:
                continue
            factor = aim is not added
            if abs(middle - 1) < 1e-3 and factor:
                continue
            close = [value for value in named if abs(value - middle) <= 1e-4 * abs(middle)]
            told = named_factor(middle, self.scope.launch, 1e-4, ratios=False) if aim is scaled else ""
            round = [each for each in _ROUND if abs(each - middle) <= 1e-4 * abs(middle)] if aim is scaled else []
            if not close and not told and not round:
                continue  # any other number would explain too much
            best = [*close, *round, middle][0]
            name = named.get(best, f"{best:g}") + ("" if close else told)
            number = _constant(best)
            cost = 1 if best in named else 2
            yield self._switch(aim, ScopeTerm(name, aim.numbers, number, bare=True, cost=cost))

    @property
    def _written(self) -> set[float]:
        """The numbers that stand in the kernel, but for 0 and 1."""
        held = (constant(self.scope.made, number) for number in self.scope.made)
        return {float(one) for one in held if one is not None and one not in (0, 1) and math.isfinite(one)}

    def simple(self) -> Iterator[Switch]:
        """With a value in scope."""
        yield from self._fitting(self._floats())

    def own(self) -> Iterator[Switch]:
        """With a function of the value itself."""
        number = self.one.place.number
        itself = ScopeTerm(self._name(), self.one.is_now, lambda editor, near, type: ([], number))
        of_own = [one for one in self.aims() if not one.name]
        same = np.ptp(self.one.is_now[_lanes(self.one)]) == 0
        yield from self._fitting(functions(itself, of_one_number=bool(same)), of_own)

    def functions(self) -> Iterator[Switch]:
        """With a function of a value in scope, and with the sum of a block."""
        itself = (self.one.place.number, self.one.is_now)
        folds = list(self.terms.folds(self.user, itself, self.type))
        yield from self._fitting(chain(folds, *map(functions, self._floats())))

    def combined(self) -> Iterator[Switch]:
        """With the product, quotient, sum or difference of two values in scope."""
        yield from self._fitting(pairs(self._floats()))

    def loads(self) -> Iterator[Switch]:
        """With elements of an argument."""
        if self.one.place.op.name == "scf.for" and self.one.place.position is not None:
            return
        lanes = _lanes(self.one)
        for aim in self.aims():
            if np.isfinite(aim.numbers).mean() > 0.9:
                for term in loaded(self.terms, self.user, self.type, aim.numbers, aim.error, lanes):
                    yield self._switch(aim, term)

    def _floats(self) -> list[ScopeTerm]:
        return self.terms.floats(self.user, self.one.place.number, self.type)

    def _fitting(self, terms: Any, aims: Sequence[_Aim] = ()) -> Iterator[Switch]:
        lanes = _lanes(self.one)
        every = list(aims or self.aims())
        some = np.linspace(0, lanes.sum() - 1, min(_SAMPLED, int(lanes.sum()))).astype(np.int64)
        flat = np.flatnonzero(lanes.reshape(-1))[some]
        sampled = [(one.numbers[some], _CLOSE * np.abs(one.numbers[some]) + one.error[some]) for one in every]
        for term in terms:
            numbers = term.numbers.reshape(-1)[flat]
            with np.errstate(all="ignore"):
                for aim, (aimed, error) in zip(every, sampled, strict=True):
                    told = np.isfinite(aimed) & (error < 0.1 * np.abs(aimed) + 1e-30)
                    if told.sum() < min(_LANES, len(some)) or told.sum() * 2 < len(some):
                        continue
                    if np.mean(np.abs(numbers - aimed)[told] <= error[told]) < _AGREE or _idle(aim, numbers):
                        continue
                    # One number is met by many functions by chance.
                    if term.telling or np.ptp(aimed[told]) > _CLOSE * abs(float(aimed[told][0])):
                        yield self._switch(aim, term)

    def _name(self) -> str:
        return self.scope.called(self.one.place.number)

    def _switch(self, aim: _Aim, term: ScopeTerm) -> Switch:
        place = self.one.place
        told = f"({term.name})" if aim.name and not aim.first and " " in term.name and not term.bare else term.name
        title = aim.told.format(value=self._name(), term=told) + self._where()
        function = not aim.name and not term.bare and term.name.startswith("tl.")
        cause = _("a missing function") if function else aim.cause
        made = switch_of(title, cause, place.op, _applying(place, aim, term), cost=term.cost + bool(aim.name))
        # What is added already would rather be multiplied.
        summed = [place.number, *(place.op.results if traits.of(place.op.name).sums else ())]
        beside = {self.scope.called(each) for number in summed for each in self.scope.summands(number)}
        again = bool(aim.name) and traits.of(aim.name).sums and term.name in beside
        return replace(made, unusual=again)

    def _where(self) -> str:
        """The lines between which it is missing: where the value is made or starts, and where it is taken."""
        place = self.one.place
        if place.position is not None:
            return self.scope.where(place.op)
        users = [op for op in self.scope.own if place.number in op.operands]
        taken = {self.scope.where(op): op for op in users}
        ends = list(taken.values()) if len(taken) == 1 else []
        if place.op.name == "scf.for":
            start = 3 + place.op.results.index(place.number)
            return self.scope.where_given(place.op, start, *ends)
        return self.scope.where(place.op, *ends)


def _idle(aim: _Aim, numbers: Array) -> bool:
    """Whether the term changes nothing."""
    return bool((numbers == (1 if aim.name in traits.SCALINGS else 0)).all()) if aim.name else False


def _constant(value: float) -> Callable[[Editor, Op, Type], tuple[list[Op], int]]:
    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        made = editor.constant(near, value, type)
        return [made], made.results[0]

    return make


def _applying(place: ValuePlace, aim: _Aim, term: ScopeTerm) -> Edit:
    """The term applied to the value at its place, or put there."""

    def made(editor: Editor, near: Op) -> tuple[list[Op], int]:
        type = editor.type(place.number)
        ops, other = term.make(editor, near, type)
        # What only stands in for the value is copied, so that there is an operation to give it.
        operands = (other, other) if not aim.name else (other, place.number) if aim.first else (place.number, other)
        ops.append(editor.op(near, aim.name or "arith.maxnumf", operands, type))
        return ops, ops[-1].results[0]

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        ops, number = made(editor, op)
        if place.position is not None:
            return [*ops, *with_operand(place.position, number)(editor, op)]
        inner = editor.value(editor.type(place.number))

        def renamed(values: tuple[int, ...], old: int, new: int) -> tuple[int, ...]:
            return tuple(new if one == old else one for one in values)

        ops = [replace(one, operands=renamed(one.operands, place.number, inner)) for one in ops]
        ops[-1] = replace(ops[-1], results=(place.number,))
        return [replace(op, results=renamed(op.results, place.number, inner)), *ops]

    return edit
