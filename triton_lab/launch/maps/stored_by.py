"""Which lane of a store gave each element of its argument the value that it kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.places import Ints


class StoreLike(Protocol):
    """What is needed of an access; arrays are (programs, *block)."""

    @property
    def iterations(self) -> int: ...
    def element(self, argument: None = None, iteration: int = 0) -> Ints: ...
    def mask(self, iteration: int) -> npt.NDArray[np.bool_]: ...


@dataclass(frozen=True)
class StoredBy:
    """(elements,) each, -1 where the store did not come: of several lanes the last, by iteration, then program.

    ``first`` (programs,) is the first element that a program stored to, lane by lane, -1 for none.
    """

    program: Ints
    lane: Ints
    iteration: Ints
    first: Ints


def stored_by(store: StoreLike, shape: tuple[int, ...], programs: int) -> StoredBy:
    """Ask a store about each element of an argument of this ``shape``."""
    program, lane, iteration = np.full((3, math.prod(shape)), -1, dtype=np.int64)
    first = np.full(programs, -1, dtype=np.int64)
    for turn in range(store.iterations):
        elements = store.element(iteration=turn).reshape(programs, -1)
        there = store.mask(turn).reshape(programs, -1) & (elements >= 0)
        rows, lanes = np.nonzero(there)
        at = elements[rows, lanes]
        # Of several numbers for one place, NumPy keeps the last.
        program[at], lane[at], iteration[at] = rows, lanes, turn
        new = (first < 0) & there.any(axis=1)
        first[new] = elements[new, there[new].argmax(axis=1)]
    return StoredBy(program, lane, iteration, first)
