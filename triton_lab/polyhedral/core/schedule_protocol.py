"""What a schedule is to those who only read it.

`Schedule` offers all that can be asked and done; what answers lies below it, and takes this.
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
