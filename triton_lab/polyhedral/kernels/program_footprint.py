"""The elements that each program accesses, and those that programs share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.isl_effort import effort

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Footprint:
    """The elements of ``argument`` that each program accesses (loads, stores or changes atomically, by ``kind``).

    ``programs`` and ``elements`` are parallel arrays: each pair once, by program, then element (row-major over the
    tensor's shape; -1 for addresses outside it). ``at_most``: a part is not affine, and programs may access less.
    """

    argument: str
    kind: str
    grid: tuple[int, int, int]
    shape: tuple[int, ...]
    programs: Ints = field(repr=False)
    elements: Ints = field(repr=False)
    at_most: bool
    relations: tuple[isl.Map, ...] = field(repr=False)
    incomplete: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> Ints:
        """How many elements each program accesses, by its linear number."""
        return np.asarray(np.bincount(self.programs, minlength=int(np.prod(self.grid))), np.int64)

    def of(self, number: int) -> Ints:
        """The elements that program ``number`` accesses."""
        mine: Ints = self.elements[self.programs == number]
        return mine

    @cached_property
    def relation(self) -> isl.UnionMap:
        """The map from programs to elements, for isl."""
        total = isl.UnionMap("{ }")
        for relation in self.relations:
            total = total.union(isl.UnionMap.from_map(relation))
        with effort(_("the footprint of {argument}").format(argument=self.argument)):
            return total.coalesce()


@dataclass(frozen=True)
class Reuse:
    """Elements of ``argument`` that several programs access.

    ``sharing[k]``: how many elements exactly ``k`` programs access. ``touches`` counts the pairs of program and
    element, ``distinct`` the elements: their ratio is the reuse factor.
    """

    argument: str
    sharing: Ints
    footprint: Footprint = field(repr=False)

    @property
    def touches(self) -> int:
        return len(self.footprint.elements)

    @property
    def distinct(self) -> int:
        return int(self.sharing.sum())

    @property
    def factor(self) -> float:
        """How many programs access an element, on average."""
        return self.touches / self.distinct if self.distinct else 0.0

    def shared(self, first: int, second: int) -> int:
        """How many elements two programs share."""
        return len(np.intersect1d(self.footprint.of(first), self.footprint.of(second), assume_unique=True))

    @cached_property
    def matrix(self) -> Ints:
        """``matrix[p, q]``: how many elements programs ``p`` and ``q`` share; the diagonal counts each one's own."""
        count = int(np.prod(self.footprint.grid))
        if count > _MOST_PROGRAMS:
            raise ValueError(
                _(
                    "a matrix of all pairs is limited to {most_programs} programs, but there are {programs}; "
                    "use shared()"
                ).format(most_programs=_MOST_PROGRAMS, programs=counted(count, "program"))
            )
        _unused, column = np.unique(self.footprint.elements, return_inverse=True)
        result = np.zeros((count, count), np.int64)
        order = np.argsort(column, kind="stable")
        borders = np.flatnonzero(np.diff(column[order])) + 1
        # Many elements are shared by the same set of programs.
        for group, times in _groups(np.split(self.footprint.programs[order], borders)):
            result[np.ix_(group, group)] += times
        return result


_MOST_PROGRAMS = 4096


def _groups(groups: list[Ints]) -> Iterator[tuple[Ints, int]]:
    found: dict[bytes, int] = {}
    for group in groups:
        key = np.sort(group).tobytes()
        found[key] = found.get(key, 0) + 1
    for key, times in found.items():
        yield np.frombuffer(key, np.int64), times


def reuse(found: Footprint) -> Reuse:
    """Compute a `Reuse`."""
    inside = found.elements[found.elements >= 0]
    sharers = np.bincount(inside) if len(inside) else np.zeros(0, np.int64)
    return Reuse(found.argument, np.bincount(sharers[sharers > 0]).astype(np.int64), found)
