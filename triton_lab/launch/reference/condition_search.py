"""Finds a condition on a kernel's values that holds where a result is wrong, from runs with several inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.ir import effects, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR, Compared
from triton_lab.launch.comparison.matching.value_record import StoredBlock, ValueRecord
from triton_lab.launch.comparison.mutations.ir_query import constant, source
from triton_lab.launch.comparison.mutations.value_names import ValueNames
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.launch.comparison.stored_elements import number_last
from triton_lab.launch.recording.progress_callback import within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.changed_inputs import ChangedInputs, some_of
from triton_lab.launch.reference.dependence_search import inputs_of
from triton_lab.launch.reference.wrong_condition import ConditionTerm, LaneCondition, WrongCondition, fitted, of_number
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]
_Held = ConditionTerm | LaneCondition
Judged = Callable[[Array, Array], "tuple[Array, Array]"]
"""Takes elements of the result and what was stored there; gives which are wrong, and which are right."""

SECONDS = 1.0  # for all of it
_PROGRAMS = 32  # programs that are looked at
_INPUTS = 3  # other inputs with which a condition must hold, too
_SLACK = 0.01  # the error of a number that is right, as a part of it
_COMPUTED, _EXPRESSION = 3, 5  # the prices of a value that is not loaded, and of one without a name
_ROUNDINGS = 1024  # of the greatest number: a greater error is one; others of small numbers are not known


@dataclass(frozen=True, eq=False)
class LaneSample:
    """One run of a kernel: ``launch`` in ``memory``, by default its own, and what is wrong in its result ``argument``.

    ``wrong`` are the elements of the launch's own run that are, row-major: of programs that store these some are taken.
    """

    launch: Launch
    argument: str
    wrong: Array
    judged: Judged
    memory: Memory | None = None


def wrong_condition(samples: Iterable[LaneSample]) -> WrongCondition | None:
    """The condition that parts the wrong elements from the right ones in all samples; None if none is found.

    All are runs of one kernel. Takes at most `SECONDS`.
    """
    taken: list[_Lanes] = []
    try:
        with within(SECONDS):
            for sample in samples:
                lanes = _lanes(sample)
                if lanes is not None:
                    taken.append(lanes)
                elif not taken:
                    return None
    except CannotReplay:
        if not taken:
            return None
    terms = [ConditionTerm(one.text, each, one.price) for one, each in _in_all([one.terms for one in taken])]
    others = [LaneCondition(one.text, each, one.price) for one, each in _in_all([one.others for one in taken])]
    wrong = np.concatenate([one.wrong for one in taken]) if taken else np.zeros(0, np.bool_)
    return fitted(taken[0].argument, terms, others, wrong, len(taken)) if taken else None


def _in_all(samples: Sequence[Mapping[str, _Held]]) -> Iterator[tuple[_Held, Array]]:
    """What all samples have, with the values of one sample after the other."""
    for text, one in samples[0].items() if samples else ():
        if all(text in each for each in samples):
            yield one, np.concatenate([_flat(each[text]) for each in samples])


def _flat(one: _Held) -> Array:
    return one.values if isinstance(one, ConditionTerm) else one.holds


def of_comparison(comparison: Comparison) -> WrongCondition | None:
    """The condition of the first wrong result of a comparison; None if none is known.

    If a function gave the expected result, the condition holds for other numbers in the inputs, too.
    """
    first = comparison.first
    if first is None or comparison.verdict in (EQUAL, NEAR):
        return None
    inputs, wanted = inputs_of(comparison) or ([], lambda changed: comparison[first.argument].b)
    plain = tuple(one for one in inputs if one.values.numel() and one.is_plain and one.may_change)
    return wrong_condition(
        samples_of(ChangedInputs(comparison.launch, comparison[first.argument], first, plain, wanted))
    )


def samples_of(sides: ChangedInputs) -> Iterator[LaneSample]:
    """The run that was compared, and runs with other numbers in the inputs. Raises CannotReplay."""
    one = sides.result
    explained = np.asarray(one.explained).reshape(-1)
    yield LaneSample(
        sides.launch, one.name, ~explained, lambda elements, _: (~explained[elements], explained[elements])
    )
    for seed in range(_INPUTS) if sides.inputs else ():
        changed = {each.name: sides.others(seed, each) for each in sides.inputs}
        try:
            wanted = sides.wanted(changed).reshape(-1)
        except Exception:  # a reference may refuse other numbers
            continue
        yield LaneSample(sides.launch, one.name, ~explained, _beside(wanted, one), sides.memory(changed))


def is_close(found: Array, wanted: Array) -> Array:
    """Where two results are nearly the same number, however small it is: near by its size, and not by that of others.

    Both are float64, of the same shape.
    """
    with np.errstate(invalid="ignore"):
        close = np.abs(found - wanted) <= _SLACK * np.abs(wanted)
    return np.asarray(close | (found == wanted) | (np.isnan(found) & np.isnan(wanted)))


def _beside(wanted: Array, one: Compared) -> Judged:
    """Judges by what a reference makes of other inputs."""
    numbers = wide(wanted)
    exact = not is_float(one.a.dtype)
    greatest = float(np.max(np.abs(numbers), initial=0.0, where=np.isfinite(numbers)))
    far = 0.0 if exact else _ROUNDINGS * unit_roundoff(one.a.dtype) * greatest

    def judged(elements: Array, stored: Array) -> tuple[Array, Array]:
        there, found = numbers[elements], wide(stored.astype(one.a.dtype))
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(found - there) <= far)
        right = found == there if exact else is_close(found, there)
        return wrong & ~right, right & ~wrong

    return judged


@dataclass(frozen=True, eq=False)
class _Lanes:
    """Lanes of stores to ``argument``: which are wrong, and by their words the values and conditions there."""

    argument: str
    wrong: Array
    terms: dict[str, ConditionTerm]
    others: dict[str, LaneCondition]


def _lanes(sample: LaneSample) -> _Lanes | None:
    """The lanes of a sample; None if they cannot be known, or if no program stored some wrong element."""
    launch, argument = sample.launch, sample.launch.argument(sample.argument)
    last = number_last(launch, sample.argument, math.prod(argument.shape), programs=True)
    if (last[sample.wrong] < 0).any():
        return None
    chosen = {*some_of(np.unique(last[sample.wrong]), _PROGRAMS // 2), *some_of(np.unique(last[last >= 0]), _PROGRAMS)}
    try:
        record = ValueRecord.replayed(launch, np.array(sorted(chosen), np.int64), sample.memory)
    except KernelError:
        return None
    stored = [one for one in record.stored.values() if one.argument == sample.argument]
    return _Reader(sample, record, stored[0]).lanes() if len(stored) == 1 else None


@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads the values of a kernel at the lanes of its only store to the result."""

    sample: LaneSample
    record: ValueRecord
    stored: StoredBlock

    @cached_property
    def names(self) -> ValueNames:
        return ValueNames(self.sample.launch, (self.sample.argument,))

    def lanes(self) -> _Lanes:
        there = self.stored.elements >= 0
        wrong, right = self.sample.judged(self.stored.elements[there], self.stored.values[there])
        known = wrong | right
        terms, others = dict[str, ConditionTerm](), dict[str, LaneCondition]()
        for text, (number, price) in self.named().items():
            values = self.spread(number, self.record.values.get(number))
            if values is not None:
                terms[text] = ConditionTerm(text, values[there][known], price)
        for number, one in self.folded():
            values = self.spread(number, one.holds)
            if values is not None:
                others[one.text] = LaneCondition(one.text, values[there][known], one.price)
        return _Lanes(self.sample.argument, wrong[known], terms, others)

    def spread(self, number: int, values: Array | None) -> Array | None:
        """The numbers of a value at all lanes of the store; None if it is not known which belongs to which lane."""
        whole, shapes = self.stored.elements.shape, self.shapes(number)
        fitting = {one for one in shapes if len(one) in (0, len(whole) - 1)}
        if values is None or len(fitting) != 1:
            return None
        (shape,) = fitting
        values = values.reshape(len(values), *(shape or (1,) * (len(whole) - 1)))
        if any(one not in (1, other) for one, other in zip(values.shape, whole, strict=True)):
            return None
        return np.broadcast_to(values, whole)

    def shapes(self, number: int) -> set[tuple[int, ...]]:
        """The shapes that the lanes of a value get where it, or what is computed from it by lane, gets more axes."""
        seen, todo, found = {number}, [(number, self.names.type(number).shape)], {self.names.type(number).shape}
        while todo:
            one, shape = todo.pop()
            for op, _unused in self.names.users.get(one, ()):
                kind = traits.of(op.name).kind
                if len(op.results) != 1 or op.results[0] in seen:
                    continue
                given = self.names.type(op.results[0]).shape
                expands = op.name == "tt.expand_dims"
                if expands or (given == shape and kind in (Kind.ELEMENTWISE, Kind.COMPARES, Kind.CASTS)):
                    seen.add(op.results[0])
                    todo.append((op.results[0], given))
                    found.add(given)
        return found

    def named(self) -> dict[str, tuple[int, int]]:
        """The numbers and prices of values, by their words: those that are loaded first, then those with a name."""
        found: dict[tuple[int, str], int] = {}
        for op in self.names.function.walk():
            if len(op.results) != 1 or op.index in self.names.library or traits.of(op.name).kind is Kind.CONTROL:
                continue
            (number,) = op.results
            type, text = self.names.type(number), self.text(number)
            if not text or type.is_opaque or type.is_pointer or constant(self.names.made, number) is not None:
                continue
            key = (self.price(number, text), text)
            if key not in found or len(type.shape) > len(self.names.type(found[key]).shape):
                found[key] = number
        told: dict[str, tuple[int, int]] = {}
        for price, text in sorted(found, key=lambda one: one[0]):
            told.setdefault(text, (found[price, text], price))
        return told

    def text(self, number: int) -> str:
        """What a value is called: as it is written, or by the argument that it is loaded from; "" for neither."""
        behind = self.names.made.get(source(self.names.made, number))
        owners = self.names.owners(behind) if behind is not None and effects.brings_in(behind) else []
        text = self.names.written(number)
        return _("the loaded {name}").format(name=owners[0]) if len(owners) == 1 and text in ("", *owners) else text

    def price(self, number: int, text: str) -> int:
        behind = self.names.made.get(source(self.names.made, number))
        if behind is not None and effects.brings_in(behind):
            return 0
        return _COMPUTED if text.isidentifier() else _EXPRESSION

    def folded(self) -> Iterator[tuple[int, LaneCondition]]:
        """Conditions on all lanes that a reduction combines, or on some of them, beside the number of its result."""
        for op in self.names.function.walk():
            values = self.record.values.get(op.operands[0]) if op.name == "tt.reduce" else None
            text = "" if values is None else self.text(op.operands[0])
            if values is None or not text:
                continue
            axis = 1 + int(op.attributes["axis"])
            load = self.names.made.get(source(self.names.made, op.operands[0]))
            mask = None if load is None or load.name != "tt.load" else effects.operands_of(load).mask
            active = np.ones(1, np.bool_)
            if load is not None and mask is not None:
                active = self.record.values.get(load.operands[mask], active)
            for one in of_number(ConditionTerm(text, values, self.price(op.operands[0], text))):
                every = np.asarray((one.holds | ~active).all(axis=axis))
                some = np.asarray((one.holds & active).any(axis=axis))
                all_of, some_of_them = _("{condition} in all lanes"), _("{condition} in some lanes")
                yield op.results[0], LaneCondition(all_of.format(condition=one.text), every, one.price + 1)
                yield op.results[0], LaneCondition(some_of_them.format(condition=one.text), some, one.price + 1)
