"""The statements of a static control part, and the arrays that they use."""

from __future__ import annotations

from dataclasses import dataclass, field

from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.iteration_domain import Domain
from triton_lab.polyhedral.core.loop_nest import Assign, Load
from triton_lab.polyhedral.core.source_text import Span


@dataclass(frozen=True)
class Array:
    """An array (or, without dimensions, a scalar) that the program uses.

    ``local``: declared inside the nest, so that every iteration around the declaration has an element of its own.
    """

    name: str
    ndim: int
    dtype: str | None = None
    local: bool = False


@dataclass(frozen=True, repr=False)
class Statement:
    """One assignment of the source and all its instances (or, after a cut, those on one side of it).

    >>> statement = scop["S0"]
    >>> statement.text, statement.iterators, [access.text for access in statement.reads]
    ('A[i][j] = A[i][j] + 1', ('i', 'j'), ['A[i][j]'])
    """

    name: str
    domain: Domain
    accesses: tuple[Access, ...]
    text: str
    span: Span = field(default=Span(0, 0, 0), compare=False)
    body: Assign | None = field(default=None, compare=False)
    part_of: str = field(default="", compare=False)  # after a cut: the original statement

    def __repr__(self) -> str:
        loops = f" in {', '.join(self.iterators)}" if self.iterators else ""
        return f"<{self.name}: {self.text}{loops}>"

    @property
    def whole(self) -> str:
        """The source's statement that this is, or is a part of."""
        return self.part_of or self.name

    @property
    def iterators(self) -> tuple[str, ...]:
        """The iterators of the loops around it, outermost first."""
        return self.domain.iterators

    @property
    def writes(self) -> tuple[Access, ...]:
        """The writes of each instance."""
        return tuple(a for a in self.accesses if a.kind == "write")

    @property
    def reads(self) -> tuple[Access, ...]:
        """The reads of each instance, from left to right."""
        return tuple(a for a in self.accesses if a.kind == "read")

    def access(self, load: Load) -> Access:
        """The access of ``load``, a part of the body.

        >>> statement = scop["S0"]
        >>> statement.access(statement.body.value.left).kind
        'read'
        """
        return next(a for a in self.accesses if a.span == load.span)
