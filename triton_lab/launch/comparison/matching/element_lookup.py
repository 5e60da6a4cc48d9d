"""`loaded`: blocks of an argument's elements that have given numbers, found by a look-up from number to element.

The elements' places are then matched with whole numbers in scope, so that the load can be written: ``bias_ptr`` at
``cols``, or at ``row * n + cols``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    pass

Array = NDArray[Any]

_FOUND = 0.8  # the share of the lanes that must be elements
_LEAST = 2  # elements that must be met, at least
_CLOSE = 1e-4  # how far numbers may be apart
_EACH = 4  # addresses that are tried for one store
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
    """The whole numbers in scope, and products of two of them of which one is a scalar."""
    scope, known = terms.scope, []
    block = replace(type, element="i32")
    for number, held in terms.values(user, -1):
        given = scope.type(number)
        if given.is_integer and may_stand_for(given, block):
            numbers = held.astype(np.int64)
            spread = numbers.reshape(-1, *(1,) * len(type.shape)) if numbers.ndim == 1 else numbers
            known.append((number, np.broadcast_to(spread, (len(held), *type.shape)), given))
    for number, numbers, _type in known:
        yield ElementIndex(scope.names[number], numbers, ((number,),))
    for k, (one, first, _type) in enumerate(known):
        for two, second, given in known[k:]:
            if not given.shape or not _type.shape:
                name = f"{scope.names[one]} * {scope.names[two]}"
                yield ElementIndex(name, first * second, ((one, two),))


def _sums(indices: list[ElementIndex], wanted: Array, lanes: Array, where: Array, hit: Array) -> Iterator[ElementIndex]:
    """The whole numbers, or sums of two of them, that are ``wanted``."""
    picked = [np.asarray(one.numbers[lanes][where][hit]) for one in indices]
    tolerated = 1 - _FOUND
    for index, numbers in zip(indices, picked, strict=True):
        if np.mean(numbers != wanted) <= tolerated:
            yield index
    sampled = np.linspace(0, len(wanted) - 1, min(8, len(wanted))).astype(np.int64)
    table: dict[tuple[int, ...], list[int]] = {}
    for k, numbers in enumerate(picked):
        table.setdefault(tuple(numbers[sampled].tolist()), []).append(k)
    for k, numbers in enumerate(picked):
        for other in table.get(tuple((wanted - numbers)[sampled].tolist()), ()):
            if other <= k and np.mean(numbers + picked[other] != wanted) <= tolerated:
                one, two = indices[k], indices[other]
                yield ElementIndex(f"{one.name} + {two.name}", one.numbers + two.numbers, (*one.parts, *two.parts))


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
