"""What each program touches, and what programs share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.access import elements_at

from .effort import effort
from .kernel_points import absolute, instances
from .kernel_values import Number

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument

    from .kernel_scop import KernelScop, KernelStatement

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Footprint:
    """The elements of ``argument`` that each program touches (loads, stores or changes atomically, by ``kind``).

    ``programs`` and ``elements`` are parallel: each pair once, by program, then element (row-major over the tensor's
    shape; -1 for addresses outside it). ``at_most``: something is not affine, and programs may touch less.
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
        """How many elements each program touches, by its linear number."""
        return np.asarray(np.bincount(self.programs, minlength=int(np.prod(self.grid))), np.int64)

    def of(self, number: int) -> Ints:
        """The elements that program ``number`` touches."""
        mine: Ints = self.elements[self.programs == number]
        return mine

    @cached_property
    def relation(self) -> isl.UnionMap:
        """From programs to elements, as isl has it."""
        total = isl.UnionMap("{ }")
        for relation in self.relations:
            total = total.union(isl.UnionMap.from_map(relation))
        with effort(f"the footprint of {self.argument}"):
            return total.coalesce()


@dataclass(frozen=True)
class Reuse:
    """Elements of ``argument`` that several programs touch.

    ``sharing[k]``: how many elements are touched by exactly ``k`` programs. ``touches`` counts the pairs of program
    and element, ``distinct`` the elements: their ratio says how often an element is wanted.
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
        """How many programs want an element, on average."""
        return self.touches / self.distinct if self.distinct else 0.0

    def shared(self, first: int, second: int) -> int:
        """How many elements two programs share."""
        return len(np.intersect1d(self.footprint.of(first), self.footprint.of(second), assume_unique=True))

    @cached_property
    def matrix(self) -> Ints:
        """``matrix[p, q]``: how many elements programs ``p`` and ``q`` share; on the diagonal what each touches."""
        count = int(np.prod(self.footprint.grid))
        if count > _MOST_PROGRAMS:
            raise ValueError(f"{count} programs: a matrix of all pairs is for {_MOST_PROGRAMS} at most; use shared()")
        _, column = np.unique(self.footprint.elements, return_inverse=True)
        result = np.zeros((count, count), np.int64)
        order = np.argsort(column, kind="stable")
        borders = np.flatnonzero(np.diff(column[order])) + 1
        # Elements that the same programs share come in droves.
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


def footprint(scop: KernelScop, name: str, kind: str) -> Footprint:
    """See `Footprint`. Raises LookupError for a name that is no argument's."""
    launch = scop.launch
    assert launch is not None
    if scop.parameters:
        raise ValueError("a footprint has numbers: take that of the launch's scop")
    argument = launch.argument(name)
    chosen = [s for s in scop.kernel_statements if kind in ("any", s.kind)]
    pairs = [pair for s in chosen for pair in _touched(s, scop, argument)]
    size = int(np.prod(argument.shape)) + 1
    keys = _distinct(np.concatenate([p * size + e + 1 for p, e in pairs])) if pairs else np.zeros(0, np.int64)
    mine = [s for s in chosen if any(a.array == name for a in s.accesses)]
    relations = [_by_program(a.relation, scop) for s in mine for a in s.accesses if a.array == name]
    missing = tuple(
        str(g) for g in scop.gaps if g.what == "address" and g.argument in (name, None) and kind in ("any", g.kind)
    )
    at_most = any(not s.exact for s in mine)
    programs, elements = keys // size, keys % size - 1
    return Footprint(name, kind, launch.grid, argument.shape, programs, elements, at_most, tuple(relations), missing)


def _distinct(keys: Ints) -> Ints:
    """Each key once, in order. (NumPy's own `unique` hashes, which for such keys takes ten times as long.)"""
    ordered = np.sort(keys)
    first: Ints = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    return first


def _by_program(relation: isl.Map, scop: KernelScop) -> isl.Map:
    count = len(scop.programs)
    relation = relation.project_out(isl.dim_type.in_, count, relation.dim(isl.dim_type.in_) - count)
    return relation.set_tuple_name(isl.dim_type.in_, "program")


def _touched(statement: KernelStatement, scop: KernelScop, argument: Argument) -> Iterator[tuple[Ints, Ints]]:
    """Programs and elements, in parts; pairs may come more than once."""
    touch, launch = statement.touch, scop.launch
    assert touch is not None and launch is not None and isinstance(touch.pointer, Number)
    roots = {k for k, a in enumerate(launch.plan_arguments) if a.name == argument.name}
    if not roots & {piece.root for piece in touch.pointer.pieces}:
        return
    pointer = absolute(touch.pointer, launch)
    every = np.arange(launch.programs, dtype=np.int64)
    step = max(1, _PROGRAMS // max(1, *(int(r.most) for r in touch.path.rounds), 1)) if touch.path else _PROGRAMS
    for start in range(0, len(every), step):
        for part in instances(touch, launch.grid, every[start : start + step]).parts():
            active = part.active() & part.into(roots)
            elements = elements_at(part.evaluate(pointer)[active] - argument.address, argument).astype(np.int64)
            lanes = active.reshape(len(part), -1).sum(axis=1)
            size = int(np.prod(argument.shape)) + 1
            keys = _distinct(np.repeat(part.programs, lanes) * size + elements + 1)
            yield keys // size, keys % size - 1


_PROGRAMS = 1 << 16


def reuse(found: Footprint) -> Reuse:
    """See `Reuse`."""
    inside = found.elements[found.elements >= 0]
    sharers = np.bincount(inside) if len(inside) else np.zeros(0, np.int64)
    return Reuse(found.argument, np.bincount(sharers[sharers > 0]).astype(np.int64), found)
