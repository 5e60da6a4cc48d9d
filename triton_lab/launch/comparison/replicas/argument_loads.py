"""`argument_loads`: elements of tensors that the kernel was given and does not load, as what may stand at a place.

An argument that is not used is what a slip has left behind: the start state, the table of positions, the bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import Op, Type
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.matching.element_lookup import ElementIndex, loading
from triton_lab.launch.comparison.mutations.added_operations import may_stand_for
from triton_lab.launch.comparison.mutations.ir_query import constant, unused
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.comparison.replicas.expression import EditSteps, Expression, Numbers
from triton_lab.launch.recording.replay_error import CannotReplay

Array = NDArray[Any]

_BLOCKS, _SCALARS = 4, 5  # whole numbers in scope of which an address is made: in lanes, and of each program


@dataclass(frozen=True)
class ArgumentLoads:
    """The elements of the ``unused`` arguments of a launch, by the number of the pointer."""

    scope: KernelScope
    held: Mapping[int, Array]

    @classmethod
    def of(cls, scope: KernelScope) -> ArgumentLoads:
        """None of a launch without its data, or of tensors with gaps."""
        launch, held = scope.launch, {}
        pointers = {scope.function.names[number]: number for number in scope.function.arguments}
        snapshot = launch.snapshot
        for name in unused(launch) if snapshot is not None and not snapshot.missing else ():
            argument = launch.argument(name)
            if snapshot is not None and argument.kind == "tensor" and argument.is_contiguous:
                try:
                    held[pointers[name]] = read(snapshot.memory(), argument).reshape(-1)
                except CannotReplay:
                    continue
        return cls(scope, {number: elements for number, elements in held.items() if len(elements)})

    def at(self, op: Op, type: Type) -> Iterator[Expression]:
        """The elements that ``op`` may take in lanes of ``type``."""
        lanes = Type("i32", type.shape)
        for pointer, elements in self.held.items():
            if type.bits == 1 or (is_float(elements.dtype) and not type.is_float):
                continue
            for index in self._indices(op, lanes):
                yield _loaded(f"tl.load({self.scope.names[pointer]} + {index.name})", pointer, elements, index)

    def _indices(self, op: Op, lanes: Type) -> Iterator[ElementIndex]:
        """The whole numbers in scope, and sums with a product of two, of which one was passed or is a constant."""
        scope, names = self.scope, set()
        blocks: list[int] = []
        scalars: list[int] = []
        passed: list[int] = []
        for number in scope.scope.get(op.index, ()):
            given, name = scope.type(number), scope.names[number]
            if name in names or not given.is_integer or given.bits == 1 or not may_stand_for(given, lanes):
                continue
            names.add(name)
            is_passed = number in scope.function.arguments or constant(scope.made, number) is not None
            (blocks if given.shape else passed if is_passed else scalars).append(number)
        firsts = blocks[:_BLOCKS] if lanes.shape else []
        for number in (*firsts, *scalars[:_SCALARS]):
            yield ElementIndex(scope.names[number], _NONE, ((number,),))
        for one in scalars[:_SCALARS]:
            for two in passed:
                for last in firsts or [other for other in scalars[:_SCALARS] if other != one]:
                    name = f"{scope.names[one]} * {scope.names[two]} + {scope.names[last]}"
                    yield ElementIndex(name, _NONE, ((one, two), (last,)))


_NONE = np.zeros(0)


def _loaded(name: str, pointer: int, elements: Array, index: ElementIndex) -> Expression:
    """The elements at an index; zero outside of the tensor."""
    known = wide(elements) if is_float(elements.dtype) else elements.astype(np.int64)

    def numbers(given: Numbers) -> Array:
        total: Any = 0
        for part in index.parts:
            product: Any = 1
            for number in part:
                product = product * given((number, None))
            total = total + product
        at = np.asarray(total).astype(np.int64)
        inside = (at >= 0) & (at < len(known))
        return np.where(inside, known[np.where(inside, at, 0)], 0)

    def make(steps: EditSteps, type: Type) -> int:
        ops, number = loading(pointer, index, len(known))(steps.editor, steps.near, type)
        steps.made += ops
        return number

    return Expression(name, numbers, make)
