"""What a scop and a schedule are to those who only read them.

`Scop` and `Schedule` offer all that can be asked and done; what answers lies below them, and takes these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from triton_lab.polyhedral.core.access import Access
from triton_lab.polyhedral.core.domain import SetOrMap
from triton_lab.polyhedral.core.loop_tree import Tree
from triton_lab.polyhedral.core.nest import Node
from triton_lab.polyhedral.core.statement import Array, Statement
from triton_lab.polyhedral.core.visits import Visits


class StaticPart(Protocol):
    """Statements in the order of their source, with numbers for parameters: a `Scop`."""

    @property
    def statements(self) -> tuple[Statement, ...]: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...
    @property
    def arrays(self) -> tuple[Array, ...]: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def language(self) -> str: ...
    @property
    def values(self) -> Mapping[str, int]: ...
    @property
    def accesses(self) -> tuple[Access, ...]: ...
    def __getitem__(self, name: str) -> Statement: ...
    def bind(self, **values: int) -> StaticPart: ...
    def fixed(self, object_: SetOrMap) -> SetOrMap: ...


class Ordered(Protocol):
    """An order of all instances of ``scop``: a `Schedule`."""

    @property
    def scop(self) -> StaticPart: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def nodes(self) -> tuple[Node, ...]: ...
    def order(self) -> Visits: ...
