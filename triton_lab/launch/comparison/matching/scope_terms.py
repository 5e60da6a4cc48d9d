"""`ScopeTerms`: what a line could have used: values in scope, functions of them, and their products, sums and folds.

Each has its numbers in the recorded programs, and operations that compute it in the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Op, Type, traits
from triton_lab.ir.plan_edits import Editor
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.matching.value_record import ValueRecord
from triton_lab.launch.comparison.mutations.added_operations import converted, may_stand_for, spread_reduction
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.recording.replay_error import CannotReplay

Array = NDArray[Any]
# Gives the operations that compute a term in a type, and the number of the value.
Making = Callable[[Editor, Op, Type], tuple[list[Op], int]]

_VALUES = 24  # values in scope, the newest ones
_MOST, _DISTINCT = 1 << 20, 0.5  # elements of an argument, and the share of them that must differ


@dataclass(frozen=True)
class ScopeTerm:
    """Something that could be written: its ``name``, its ``numbers`` in all lanes of a block, and how it is made."""

    name: str
    numbers: Array
    make: Making
    telling: bool = True  # whether it is a likely one, even if it is one number in all lanes
    bare: bool = False  # whether its name needs no parentheses
    cost: float = 1  # how much of it there is


# What may be made of one value: the words, the numbers, and the operations with a number before or behind.
FUNCTIONS: Sequence[tuple[str, Callable[[Array], Array], tuple[tuple[str, float | None, bool], ...]]] = (
    ("1 - {}", lambda x: 1 - x, (("arith.subf", 1.0, True),)),
    ("1 + {}", lambda x: 1 + x, (("arith.addf", 1.0, False),)),
    ("1 / {}", lambda x: 1 / x, (("arith.divf", 1.0, True),)),
    ("1 / (1 - {})", lambda x: 1 / (1 - x), (("arith.subf", 1.0, True), ("arith.divf", 1.0, True))),
    ("tl.sqrt({})", np.sqrt, (("math.sqrt", None, False),)),
    ("1 / tl.sqrt({})", lambda x: 1 / np.sqrt(x), (("math.sqrt", None, False), ("arith.divf", 1.0, True))),
    ("tl.exp({})", np.exp, (("math.exp", None, False),)),
    ("tl.exp2({})", np.exp2, (("math.exp2", None, False),)),
    ("tl.log({})", np.log, (("math.log", None, False),)),
    ("tl.log2({})", np.log2, (("math.log2", None, False),)),
    ("tl.log(1 + {})", np.log1p, (("arith.addf", 1.0, False), ("math.log", None, False))),
    ("tl.abs({})", np.abs, (("math.absf", None, False),)),
    ("tl.sin({})", np.sin, (("math.sin", None, False),)),
    ("tl.cos({})", np.cos, (("math.cos", None, False),)),
    ("tl.floor({})", np.floor, (("math.floor", None, False),)),
    ("2 * {} - 1", lambda x: 2 * x - 1, (("arith.mulf", 2.0, False), ("arith.subf", 1.0, False))),
    ("({} + 1) / 2", lambda x: (x + 1) / 2, (("arith.addf", 1.0, False), ("arith.divf", 2.0, False))),
    ("tl.floor({} + 0.5)", lambda x: np.floor(x + 0.5), (("arith.addf", 0.5, False), ("math.floor", None, False))),
    ("tl.exp(-{})", lambda x: np.exp(-x), (("arith.negf", None, False), ("math.exp", None, False))),
    (
        "tl.log(1 + tl.exp({}))",
        lambda x: np.log1p(np.exp(x)),
        (("math.exp", None, False), ("arith.addf", 1.0, False), ("math.log", None, False)),
    ),
    ("tl.maximum({}, 0)", lambda x: np.maximum(x, 0), (("arith.maxnumf", 0.0, False),)),
    (
        "tl.sigmoid({})",
        lambda x: 1 / (1 + np.exp(-x)),
        (("arith.negf", None, False), ("math.exp", None, False), ("arith.addf", 1.0, False), ("arith.divf", 1.0, True)),
    ),
)
_LIKELY = 6  # so many of them are likely of one number
_PAIRS: Sequence[tuple[str, Callable[[Array, Array], Array], str]] = (
    ("{} * {}", np.multiply, "arith.mulf"),
    ("{} / {}", np.divide, "arith.divf"),
    ("({} - {})", np.subtract, "arith.subf"),
    ("({} + {})", np.add, "arith.addf"),
)


def functions(term: ScopeTerm, of_one_number: bool = False) -> Iterator[ScopeTerm]:
    """Functions of a term; ``of_one_number``: only those that are likely even then."""
    for k, (told, function, steps) in enumerate(FUNCTIONS):
        if k < _LIKELY or not of_one_number:
            with np.errstate(all="ignore"):
                yield ScopeTerm(
                    told.format(term.name),
                    function(term.numbers),
                    _applied(term, steps),
                    k < _LIKELY,
                    cost=term.cost + 1,
                )


def _applied(term: ScopeTerm, steps: Sequence[tuple[str, float | None, bool]]) -> Making:
    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        ops, number = term.make(editor, near, type)
        for name, other, first in steps:
            if other is None:
                ops.append(editor.op(near, name, (number,), type))
            else:
                ops.append(editor.constant(near, other, type))
                (held,) = ops[-1].results
                ops.append(editor.op(near, name, (held, number) if first else (number, held), type))
            (number,) = ops[-1].results
        return ops, number

    return make


def pairs(terms: Sequence[ScopeTerm]) -> Iterator[ScopeTerm]:
    """Products, quotients, differences and sums of two terms."""
    for k, one in enumerate(terms):
        for m, two in enumerate(terms):
            for told, function, name in _PAIRS:
                turned = not traits.of(name).commutative
                if (m >= k or turned) and (one is not two or (traits.of(name).symbol == "*")):
                    with np.errstate(all="ignore"):
                        numbers = function(one.numbers, two.numbers)
                    yield ScopeTerm(
                        told.format(one.name, two.name),
                        numbers,
                        _combined(one, two, name),
                        False,
                        cost=one.cost + two.cost,
                    )


def _combined(one: ScopeTerm, two: ScopeTerm, name: str) -> Making:
    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        first, a = one.make(editor, near, type)
        second, b = two.make(editor, near, type)
        both = editor.op(near, name, (a, b), type)
        return [*first, *second, both], both.results[0]

    return make


@dataclass
class ScopeTerms:
    """The values that an operation may use, as terms of floats of one type."""

    scope: KernelScope
    record: ValueRecord

    def held(self, number: int) -> Array | None:
        """What a value of the kernel is in the recorded programs; of an argument, what was passed."""
        found = self.record.values.get(number)
        if found is None and number in self.scope.function.arguments:
            known = {one.name: one.value for one in self.scope.launch.arguments if one.kind == "scalar"}
            value = known.get(self.scope.names.get(number, ""))
            if isinstance(value, (int, float)):
                found = np.full(len(self.record.programs), value)
        return found

    def values(self, op: Op, without: int) -> Iterator[tuple[int, Array]]:
        """The named numbers that ``op`` may use, and what they are; of those with one name the newest."""
        names = set()
        for number in self.scope.scope.get(op.index, ()):
            type, name = self.scope.type(number), self.scope.names[number]
            if name in names:
                continue
            names.add(name)
            if number == without or type.is_pointer or type.is_opaque or type.bits == 1:
                continue
            held = self.held(number)
            if held is not None:
                yield number, held

    def floats(self, op: Op, without: int, type: Type) -> list[ScopeTerm]:
        """The values as floats of ``type``, and the sums and greatest numbers of blocks."""
        found = []
        for number, held in self.values(op, without):
            given, name = self.scope.type(number), self.scope.names[number]
            if may_stand_for(given, type, rows=True):
                found.append(ScopeTerm(name, _spread(wide(held), type.shape), _converted(number)))
            if len(found) == _VALUES:
                break
        return found

    def folds(self, op: Op, own: tuple[int, Array], type: Type) -> Iterator[ScopeTerm]:
        """Sums and greatest numbers of blocks of floats in scope, and of the value itself, for all lanes of ``type``.

        A block of the same shape is reduced along each of its axes.
        """
        for number, held in [own, *list(self.values(op, own[0]))[:_VALUES]]:
            given, name = self.scope.type(number), self.scope.called(number)
            if not given.is_float or not given.shape or given.element != type.element:
                continue
            known = wide(held)
            axes = range(len(given.shape)) if given.shape == type.shape else (0,) if len(given.shape) == 1 else ()
            for axis in axes:
                for told, fold in (("tl.sum({name})", "arith.addf"), ("tl.max({name})", "arith.maxnumf")):
                    numbers = (np.sum if fold == "arith.addf" else np.max)(known, axis=axis + 1)
                    of = name if len(given.shape) == 1 else f"{name}, axis={axis}"
                    if given.shape == type.shape:
                        numbers = np.broadcast_to(np.expand_dims(numbers, axis + 1), known.shape)
                        make = _spread_fold(number, fold, axis)
                    else:
                        numbers, make = _spread(numbers, type.shape), _folded(number, fold)
                    yield ScopeTerm(told.format(name=of), numbers, make, bare=True, cost=2)

    @cached_property
    def elements(self) -> Sequence[tuple[str, Array, Array]]:
        """The arguments whose elements have different numbers: these in order, and the elements that they belong to."""
        launch, found = self.scope.launch, []
        memory = launch.snapshot.memory() if launch.snapshot is not None else None
        pointers = {self.scope.function.names[number] for number in self.scope.function.arguments}
        for argument in launch.arguments if memory is not None else ():
            usual = argument.kind == "tensor" and argument.is_contiguous and argument.name in pointers
            if memory is None or not usual or not 0 < int(np.prod(argument.shape)) <= _MOST:
                continue
            try:
                held = read(memory, argument).reshape(-1)
            except CannotReplay:
                continue
            numbers = wide(held)
            if is_float(held.dtype) and are_distinct(numbers):
                order = np.argsort(numbers, kind="stable")
                found.append((argument.name, numbers[order], order))
        return found


def are_distinct(numbers: Array) -> bool:
    """Whether an element can be told by its number."""
    distinct = len(np.unique(numbers))
    return bool(np.isfinite(numbers).all()) and distinct >= max(2, _DISTINCT * len(numbers))


def _spread(numbers: Array, shape: tuple[int, ...]) -> Array:
    """Numbers by program and lane, for the lanes of a block: one number for each row, as `converted` spreads them."""
    if numbers.ndim == 2 and len(shape) == 2 and numbers.shape[1:] == shape[:1]:
        numbers = numbers[:, :, None]
    elif numbers.ndim == 2 and len(shape) == 2:
        numbers = numbers[:, None, :]
    elif numbers.ndim == 1:
        numbers = numbers.reshape(-1, *(1,) * len(shape))
    return np.broadcast_to(numbers, (len(numbers), *shape))


def _converted(number: int) -> Making:
    return lambda editor, near, type: converted(editor, near, number, type)


def _spread_fold(number: int, fold: str, axis: int) -> Making:
    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        made = spread_reduction(editor, near, number, fold, axis)
        return made, made[-1].results[0]

    return make


def _folded(number: int, fold: str) -> Making:
    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        # A reduction that is not spread again: one number for each program.
        made = spread_reduction(editor, near, number, fold)[:1]
        ops, all_lanes = converted(editor, near, made[-1].results[0], type)
        return [*made, *ops], all_lanes

    return make
