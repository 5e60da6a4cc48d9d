"""The protocol of a schedule, for code that only reads one.

`Schedule` has all queries and transformations; the code below it takes an `Ordered`.
"""

from __future__ import annotations

from typing import Protocol

from triton_lab.polyhedral.core.loop_nest import Node
from triton_lab.polyhedral.core.loop_tree import Tree
from triton_lab.polyhedral.core.schedule_visits import Visits
from triton_lab.polyhedral.core.static_part import StaticPart


class Ordered(Protocol):
    """An order of all instances of ``scop``: a `Schedule`."""

    @property
    def scop(self) -> StaticPart: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def nodes(self) -> tuple[Node, ...]: ...
    def order(self) -> Visits: ...
