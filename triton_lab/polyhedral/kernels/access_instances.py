"""The numeric instances of a kernel's accesses for some programs, with their addresses and masks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import lane, program
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicCase, SymbolicNumber, holds

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Ints = NDArray[np.int64]

# How many lanes are evaluated at once.
_LANES = 1 << 20


@dataclass(frozen=True)
class AccessInstances:
    """Executions of an access: the program (a linear number) and the iteration of each loop.

    ``number`` counts a program's executions from 0. They are sorted by program, then by order of execution.
    """

    touch: SymbolicAccess
    programs: Ints
    number: Ints
    values: Mapping[str, Ints]

    def __len__(self) -> int:
        return len(self.programs)

    def take(self, chosen: Any) -> AccessInstances:
        values = {name: array[chosen] for name, array in self.values.items()}
        return AccessInstances(self.touch, self.programs[chosen], self.number[chosen], values)

    def parts(self) -> Iterator[AccessInstances]:
        """The executions in parts that are not too large."""
        size = max(1, _LANES // max(1, prod(self.touch.shape)))
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))

    def _symbols(self) -> dict[str, Any]:
        rank = len(self.touch.shape)
        scalars = {name: array.reshape(-1, *(1,) * rank) for name, array in self.values.items()}
        lanes = {
            lane(axis): np.arange(extent, dtype=np.int64).reshape(-1, *(1,) * (rank - 1 - axis))
            for axis, extent in enumerate(self.touch.shape)
        }
        return {**scalars, **lanes}

    def evaluate(self, number: SymbolicNumber) -> Ints:
        """``number`` for every lane: (instances, *block)."""
        return np.broadcast_to(number.evaluate(self._symbols()), (len(self), *self.touch.shape))

    def into(self, roots: Collection[int]) -> NDArray[np.bool_]:
        """Which lanes' pointers come from one of these kernel arguments: (instances, *block)."""
        assert isinstance(self.touch.pointer, SymbolicNumber)
        cases = tuple(piece.when for piece in self.touch.pointer.pieces if piece.root in roots)
        return np.broadcast_to(holds(cases, self._symbols()), (len(self), *self.touch.shape))

    def active(self) -> NDArray[np.bool_]:
        """Which lanes access memory, as far as the model knows: (instances, *block)."""
        return np.broadcast_to(holds(self.touch.mask.cases, self._symbols()), (len(self), *self.touch.shape))


def instances(touch: SymbolicAccess, grid: tuple[int, int, int], programs: Ints) -> AccessInstances:
    """The executions of ``touch`` by ``programs``; all parameters must have numbers."""
    assert touch.path is not None
    rounds = touch.path.rounds
    counts = [int(max(0, r.most)) for r in rounds]
    shape = (len(programs), *counts)
    values: dict[str, Any] = {}
    below = 1
    for axis, extent in enumerate(grid):
        values[program(axis)] = ((programs // below) % extent).reshape(-1, *(1,) * len(rounds))
        below *= extent
    for depth, round_ in enumerate(rounds):
        values[round_.symbol] = np.arange(counts[depth]).reshape(-1, *(1,) * (len(rounds) - 1 - depth))
    run = np.broadcast_to(holds(touch.path.formula, values), shape)
    for round_ in rounds:
        run = run & holds(round_.going, values)
    places = np.nonzero(run)
    done = run.reshape(len(programs), -1).cumsum(axis=1).reshape(shape)
    flat = {name: np.broadcast_to(array, shape)[places].astype(np.int64) for name, array in values.items()}
    return AccessInstances(touch, programs[places[0]], done[places].astype(np.int64) - 1, flat)


def absolute(pointer: SymbolicNumber, launch: Launch) -> SymbolicNumber:
    """The pointer as an address in memory."""
    pieces = []
    for piece in pointer.pieces:
        assert piece.root is not None
        address = AffineExpr((), launch.plan_arguments[piece.root].address)
        pieces.append(SymbolicCase(piece.when, piece.value + address, piece.root))
    return SymbolicNumber(tuple(pieces))
