"""The instances of a scop, in the order in which a schedule visits them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.loop_nest import Node
from triton_lab.polyhedral.core.loop_tree import Tree
from triton_lab.polyhedral.core.static_part import StaticPart


@dataclass(frozen=True)
class Visits:
    """Instances in the order of execution: ``statements[t]`` indexes ``names``, ``points[t]`` is padded with 0.

    >>> order = schedule.order()
    >>> len(order), order.names, order.points.shape
    (6, ('S0',), (6, 2))
    """

    names: tuple[str, ...]
    statements: NDArray[np.int32]
    points: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.statements)

    @cached_property
    def pairs(self) -> list[tuple[str, tuple[int, ...]]]:
        """(statement, instance) for each visit, padding included."""
        return [(self.names[s], tuple(p)) for s, p in zip(self.statements.tolist(), self.points.tolist(), strict=True)]


class Ordered(Protocol):
    """An order of all instances of ``scop``: a `Schedule`."""

    @property
    def scop(self) -> StaticPart: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def nodes(self) -> tuple[Node, ...]: ...
    def order(self) -> Visits: ...
