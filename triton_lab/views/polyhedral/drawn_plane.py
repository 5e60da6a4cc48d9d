"""The plane (or space) in which a schedule's instances are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.core.affine_expr import AffineExpr

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Plane:
    """The plane in which ``schedule`` is drawn, along ``dims``; others are fixed by ``at`` or projected out."""

    schedule: Schedule
    dims: tuple[str, ...]
    at: Mapping[str, int]

    def holds(self, iterators: Sequence[str], instances: Ints) -> NDArray[np.bool_]:
        """Whether each instance (count,) lies in the plane."""
        inside = np.ones(len(instances), dtype=bool)
        for name, value in self.at.items():
            if name in iterators:
                inside &= instances[:, iterators.index(name)] == value
        return inside

    def seen(self, iterators: Sequence[str], instances: Ints) -> Ints:
        """The points (count, dims) at which instances are drawn."""
        return instances[:, [iterators.index(name) for name in self.dims]]

    def projects(self, iterators: Sequence[str]) -> bool:
        """Whether several instances may be drawn at one point."""
        return set(self.dims) | set(self.at) < set(iterators)

    @property
    def values(self) -> dict[str, AffineExpr]:
        """The numbers of parameters and of fixed iterators."""
        scop = self.schedule.scop
        numbers = {**{name: scop.values[name] for name in scop.parameters}, **self.at}
        return {name: AffineExpr.of(int(value)) for name, value in numbers.items()}
