"""`loaded`: blocks of an argument's elements that have given numbers, found by a look-up from number to element.

The elements' places are then matched with whole numbers in scope, so that the load can be written: ``bias_ptr`` at
``cols``, or at ``row * n + cols``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Op, Type, effects
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.launch.comparison.matching.scope_terms import Making, ScopeTerm, ScopeTerms, are_distinct
from triton_lab.launch.comparison.mutations.added_operations import AddedSteps, may_stand_for
from triton_lab.launch.comparison.mutations.kernel_scope import switch_of
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.localization import _

Array = NDArray[Any]

_FOUND = 0.8  # the share of the lanes that must be elements
_LEAST = 2  # elements that must be met, at least
_CLOSE = 1e-4  # how far numbers may be apart
_EACH = 4  # addresses that are tried for one store
_FACTORS = 3  # of a product
_SAMPLES, _TELLING = 8, 5  # lanes of which sums are looked up; so many different elements tell a sum of three
_LESS, _SIGNED_LEAST = 2, 5


@dataclass(frozen=True)
class ElementIndex:
    """A whole number in scope for each lane, and how it is made in a type of that many lanes."""

    name: str
    numbers: Array
    parts: tuple[tuple[int, ...], ...]  # a sum of products of values


def loaded(terms: ScopeTerms, user: Op, type: Type, aimed: Array, error: Array, lanes: Array) -> Iterator[ScopeTerm]:
    """The loads for ``user`` whose numbers are ``aimed``, up to ``error``, in the ``lanes`` of a block of ``type``."""
    indices: list[ElementIndex] | None = None
    where = np.isfinite(aimed)
    for argument, sorted_numbers, order in terms.elements:
        best, hit = _nearest(sorted_numbers, order, aimed[where], error[where])
        if np.mean(hit) < _FOUND or len(np.unique(best[hit])) < _LEAST:
            continue
        if indices is None:
            indices = list(_indices(terms, user, type))
        wanted = best[hit]
        for index in _sums(indices, wanted, lanes, where, hit):
            name = f"tl.load({argument} + {index.name})"
            pointer = next(n for n in terms.scope.function.arguments if terms.scope.names.get(n) == argument)
            size = terms.scope.launch.argument(argument)
            extent = int(np.prod(size.shape))
            yield ScopeTerm(name, aimed, loading(pointer, index, extent), bare=True, cost=2)


def _nearest(sorted_numbers: Array, order: Array, aimed: Array, error: Array | float) -> tuple[Array, Array]:
    """The element with the nearest number to each of ``aimed``, and whether it is near enough."""
    near = np.searchsorted(sorted_numbers, aimed)
    best, left = np.full(len(near), -1), np.full(len(near), np.inf)
    for candidate in (np.minimum(near, len(order) - 1), np.maximum(near - 1, 0)):
        apart = np.abs(sorted_numbers[candidate] - aimed)
        best, left = np.where(apart < left, order[candidate], best), np.minimum(left, apart)
    return best, left <= _CLOSE * np.abs(aimed) + error


def moved_stores(terms: ScopeTerms, probe: Probe) -> Iterator[Switch]:
    """Stores to other elements: to those for which the stored numbers were expected."""
    scope = terms.scope
    for op in scope.stores:
        stored = terms.record.stored.get(op.index)
        if stored is None or stored.argument not in probe.side.against:
            continue
        argument = scope.launch.argument(stored.argument)
        expected = wide(probe.side.against[stored.argument].reshape(-1))
        lanes = (stored.elements >= 0) & np.isfinite(stored.values)
        usual = argument.is_contiguous and are_distinct(expected)
        if not usual or lanes.sum() < _LEAST:
            continue
        order = np.argsort(expected, kind="stable")
        aimed = stored.values[lanes]
        best, hit = _nearest(expected[order], order, aimed, 0.0)
        if np.mean(hit) < _FOUND or np.mean(best == stored.elements[lanes]) > 1 - _FOUND:
            continue
        at = effects.operands_of(op).address
        type = replace(scope.type(op.operands[at]), element="i32", pointee=None)
        every = np.ones(len(aimed), np.bool_)
        pointer = next(n for n in scope.function.arguments if scope.names.get(n) == stored.argument)
        for index in islice(_sums(list(_indices(terms, op, type)), best[hit], lanes, every, hit), _EACH):
            title = _("{name} + {index} as the address{lines_of}").format(
                name=stored.argument, index=index.name, lines_of=scope.where(op)
            )
            yield switch_of(title, _("where a store goes"), op, _stored_at(at, pointer, index), cost=3)


def _indices(terms: ScopeTerms, user: Op, type: Type) -> Iterator[ElementIndex]:
    """The whole numbers in scope, and their products of up to three, of which at most one is a block."""
    scope, known = terms.scope, []
    block = replace(type, element="i32")
    for number, held in terms.values(user, -1):
        given = scope.type(number)
        if given.is_integer and may_stand_for(given, block):
            numbers = held.astype(np.int64)
            spread = numbers.reshape(-1, *(1,) * len(type.shape)) if numbers.ndim == 1 else numbers
            known.append((number, np.broadcast_to(spread, (len(held), *type.shape)), given))
    scalars = [(number, numbers) for number, numbers, given in known if not given.shape]
    factors = [
        (tuple(number for number, _numbers in few), reduce(np.multiply, (numbers for _number, numbers in few)))
        for count in range(1, _FACTORS + 1)
        for few in combinations(scalars, count)
    ]
    for number, numbers, given in known:
        yield ElementIndex(scope.names[number], numbers, ((number,),))
        for parts, factor in factors if given.shape else ():
            if len(parts) == _FACTORS:
                continue
            name = " * ".join(scope.names[each] for each in (number, *parts))
            yield ElementIndex(name, numbers * factor, ((number, *parts),))
    for parts, factor in factors:
        if len(parts) > 1:
            yield ElementIndex(" * ".join(scope.names[each] for each in parts), factor, (parts,))


def _sums(indices: list[ElementIndex], wanted: Array, lanes: Array, where: Array, hit: Array) -> Iterator[ElementIndex]:
    """The whole numbers, or sums of up to three of them, that are ``wanted``: those of few first."""
    picked = np.stack([np.asarray(one.numbers[lanes][where][hit]) for one in indices])
    sampled = np.linspace(0, len(wanted) - 1, min(_SAMPLES, len(wanted))).astype(np.int64)
    some, aim = picked[:, sampled], wanted[sampled]
    # What a sum of one or two of them still needs is looked up among the others.
    whole: dict[bytes, list[int]] = {}
    for k, numbers in enumerate(some):
        whole.setdefault(numbers.tobytes(), []).append(k)
    first, second = (each.tolist() for each in np.triu_indices(len(indices)))
    groups: list[list[tuple[int, ...]]] = [
        [(k,) for k in whole.get(aim.tobytes(), ())],
        [(k, other) for k, left in enumerate(aim - some) for other in whole.get(left.tobytes(), ()) if other <= k],
        [
            (j, k, other)
            for j, k, left in zip(first, second, aim - some[first] - some[second], strict=True)
            for other in whole.get(left.tobytes(), ())
            if j <= k <= other
        ]
        if len(np.unique(aim)) >= _TELLING
        else [],
    ]
    for chosen in chain.from_iterable(groups):
        parts = [indices[k] for k in chosen]
        if np.mean(picked[list(chosen)].sum(axis=0) != wanted) <= 1 - _FOUND:
            numbers = sum((one.numbers for one in parts[1:]), parts[0].numbers)
            yield ElementIndex(
                " + ".join(one.name for one in parts), numbers, tuple(part for one in parts for part in one.parts)
            )


class _Steps(AddedSteps):
    """Those that compute an address."""

    def address(self, pointer: int, index: ElementIndex, shape: tuple[int, ...]) -> tuple[int, int]:
        """The index, and the addresses of the elements of the argument there."""
        block, total = Type("i32", shape), -1
        for part in index.parts:
            product = -1
            for number in part:
                value = self.spread(number, block)
                product = value if product < 0 else self.then("arith.muli", (product, value), block)
            total = product if total < 0 else self.then("arith.addi", (total, product), block)
        given = replace(self.editor.type(pointer), shape=shape)
        start = self.then("tt.splat", (pointer,), given) if shape else pointer
        return total, self.then("tt.addptr", (start, total), given)


def _stored_at(position: int, pointer: int, index: ElementIndex) -> Edit:
    def edit(editor: Editor, op: Op) -> list[Op]:
        steps = _Steps(editor, op)
        _total, address = steps.address(pointer, index, editor.type(op.operands[position]).shape)
        return [*steps.made, *with_operand(position, address)(editor, op)]

    return edit


def loading(pointer: int, index: ElementIndex, extent: int) -> Making:
    """The operations that load the elements at an index that is inside the argument, and cast them."""

    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        steps = _Steps(editor, near)
        total, address = steps.address(pointer, index, type.shape)
        block, truth = Type("i32", type.shape), Type("i1", type.shape)
        after = steps.then("arith.cmpi", (total, steps.constant(0, block)), truth, {"predicate": _SIGNED_LEAST})
        before = steps.then("arith.cmpi", (total, steps.constant(extent, block)), truth, {"predicate": _LESS})
        inside = steps.then("arith.andi", (after, before), truth)
        pointee = editor.type(pointer).pointee
        assert pointee is not None
        held = replace(pointee, shape=type.shape)
        sizes = {"isVolatile": False, "operandSegmentSizes": [1, 1, 1]}
        value = steps.then("tt.load", (address, inside, steps.constant(0, held)), held, sizes)
        value = steps.spread(value, type)
        return steps.made, value

    return make
