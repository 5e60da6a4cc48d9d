"""`loaded`: blocks of an argument's elements that have given numbers, found by a look-up from number to element.

The elements' places are then matched with whole numbers in scope, so that the load can be written: ``bias_ptr`` at
``cols``, or at ``row * n + cols``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Op, Type
from triton_lab.ir.plan_edits import Editor
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.mutations.scope_terms import Term, Terms
from triton_lab.launch.comparison.mutations.value_conversion import converted, may_stand_for
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.recording.replay_error import CannotReplay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

_FOUND = 0.8  # the share of the lanes that must be elements
_MOST, _DISTINCT = 1 << 20, 0.5  # elements of an argument, and the share of them that must differ
_LEAST = 2  # elements that must be met, at least
_LESS, _SIGNED_LEAST = 2, 5
_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True)
class _Index:
    """A whole number in scope for each lane, and how it is made in a type of that many lanes."""

    name: str
    numbers: Array
    parts: tuple[tuple[int, ...], ...]  # a sum of products of values


def loaded(terms: Terms, user: Op, type: Type, aimed: Array, error: Array, lanes: Array) -> Iterator[Term]:
    """The loads for ``user`` whose numbers are ``aimed``, up to ``error``, in the ``lanes`` of a block of ``type``."""
    indices: list[_Index] | None = None
    where = np.isfinite(aimed)
    for argument, sorted_numbers, order in _elements(terms.scope.launch):
        near = np.searchsorted(sorted_numbers, aimed[where])
        best = np.full(len(near), -1)
        left = np.full(len(near), np.inf)
        for candidate in (np.minimum(near, len(order) - 1), np.maximum(near - 1, 0)):
            apart = np.abs(sorted_numbers[candidate] - aimed[where])
            best, left = np.where(apart < left, order[candidate], best), np.minimum(left, apart)
        hit = left <= 1e-4 * np.abs(aimed[where]) + error[where]
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
            yield Term(name, aimed, _making(pointer, index, extent), bare=True)


@lru_cache(maxsize=4)
def _elements(launch: Launch) -> tuple[tuple[str, Array, Array], ...]:
    """The arguments whose elements are told apart by their numbers: these in order, and the elements they belong to."""
    assert launch.snapshot is not None
    memory, found = launch.snapshot.memory(), []
    pointers = {launch.executable.plan.kernel.names[n] for n in launch.executable.plan.kernel.arguments}
    for argument in launch.arguments:
        usual = argument.kind == "tensor" and argument.is_contiguous and argument.name in pointers
        if not usual or not 0 < int(np.prod(argument.shape)) <= _MOST:
            continue
        try:
            held = read(memory, argument).reshape(-1)
        except CannotReplay:
            continue
        numbers = wide(held)
        if not is_float(held.dtype) or not np.isfinite(numbers).all():
            continue
        order = np.argsort(numbers, kind="stable")
        if len(np.unique(numbers)) >= max(_LEAST, _DISTINCT * len(numbers)):
            found.append((argument.name, numbers[order], order))
    return tuple(found)


def _indices(terms: Terms, user: Op, type: Type) -> Iterator[_Index]:
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
        yield _Index(scope.names[number], numbers, ((number,),))
    for k, (one, first, _type) in enumerate(known):
        for two, second, given in known[k:]:
            if not given.shape or not _type.shape:
                name = f"{scope.names[one]} * {scope.names[two]}"
                yield _Index(name, first * second, ((one, two),))


def _sums(indices: list[_Index], wanted: Array, lanes: Array, where: Array, hit: Array) -> Iterator[_Index]:
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
                yield _Index(f"{one.name} + {two.name}", one.numbers + two.numbers, (*one.parts, *two.parts))


def _making(pointer: int, index: _Index, extent: int) -> Any:
    """The operations that load the elements at an index that is inside the argument, and cast them."""

    def make(editor: Editor, near: Op, type: Type) -> tuple[list[Op], int]:
        made: list[Op] = []
        block = replace(type, element="i32")

        def then(name: str, operands: tuple[int, ...], given: Type, attributes: Mapping[str, Any] = _NONE) -> int:
            made.append(editor.op(near, name, operands, given, attributes))
            return made[-1].results[0]

        total = -1
        for part in index.parts:
            product = -1
            for number in part:
                ops, value = converted(editor, near, number, block)
                made.extend(ops)
                product = value if product < 0 else then("arith.muli", (product, value), block)
            total = product if total < 0 else then("arith.addi", (total, product), block)
        given = editor.type(pointer)
        address = then("tt.splat", (pointer,), replace(given, shape=type.shape)) if type.shape else pointer
        address = then("tt.addptr", (address, total), replace(given, shape=type.shape))
        truth = replace(block, element="i1")
        made += [editor.constant(near, 0, block), editor.constant(near, extent, block)]
        zero, end = (one.results[0] for one in made[-2:])
        inside = then("arith.cmpi", (total, zero), truth, {"predicate": _SIGNED_LEAST})
        below = then("arith.cmpi", (total, end), truth, {"predicate": _LESS})
        inside = then("arith.andi", (inside, below), truth)
        assert given.pointee is not None
        held = replace(given.pointee, shape=type.shape)
        made.append(editor.constant(near, 0, held))
        sizes = {"isVolatile": False, "operandSegmentSizes": [1, 1, 1]}
        value = then("tt.load", (address, inside, made[-1].results[0]), held, sizes)
        ops, value = converted(editor, near, value, type)
        return [*made, *ops], value

    return make
