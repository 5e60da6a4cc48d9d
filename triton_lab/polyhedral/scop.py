"""The static control part: statements with their domains and accesses, in an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .access import Access
from .dependence import Dependence, memory_dependences, value_dependences
from .domain import Domain, SetOrMap, fix_parameters
from .loop_tree import Tree
from .nest import Assign, Load
from .source import SourceText, Span

if TYPE_CHECKING:
    from .legality import Legality
    from .schedule import Schedule


@dataclass(frozen=True)
class Array:
    """An array (or, without dimensions, a scalar) that the program uses.

    ``local``: declared inside the nest, so that every iteration around the declaration has an element of its own.
    """

    name: str
    ndim: int
    dtype: str | None = None
    local: bool = False


@dataclass(frozen=True)
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
    part_of: str = field(default="", compare=False)  # after a cut: the statement of the source

    @property
    def whole(self) -> str:
        """The statement of the source that this one is, or is a part of."""
        return self.part_of or self.name

    @property
    def iterators(self) -> tuple[str, ...]:
        """The loops around it, outermost first."""
        return self.domain.iterators

    @property
    def writes(self) -> tuple[Access, ...]:
        """What each instance writes."""
        return tuple(a for a in self.accesses if a.kind == "write")

    @property
    def reads(self) -> tuple[Access, ...]:
        """What each instance reads, from left to right."""
        return tuple(a for a in self.accesses if a.kind == "read")

    def access(self, load: Load) -> Access:
        """The access that ``load``, a part of the body, stands for.

        >>> statement = scop["S0"]
        >>> statement.access(statement.body.value.left).kind
        'read'
        """
        return next(a for a in self.accesses if a.span == load.span)


@dataclass(frozen=True, repr=False)
class Scop:
    """A static control part.

    ``parameters`` are the names that the nest reads but never changes, and that bounds or subscripts use; ``values``
    holds numbers for (some of) them, for whatever has to count or draw. Dependences and legality are symbolic: they
    hold for all values.
    """

    statements: tuple[Statement, ...]
    parameters: tuple[str, ...]
    arrays: tuple[Array, ...]
    tree: Tree
    source: SourceText
    language: str = "c"
    values: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Statement:
        for statement in self.statements:
            if statement.name == name:
                return statement
        raise KeyError(f"no statement {name}: there is {', '.join(s.name for s in self.statements)}")

    @property
    def _only(self) -> Statement:
        if len(self.statements) != 1:
            names = ", ".join(s.name for s in self.statements)
            raise ValueError(f"the scop has several statements ({names}): say which, as in scop['S0'].domain")
        return self.statements[0]

    @property
    def domain(self) -> Domain:
        """The iteration domain of the only statement."""
        return self._only.domain

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The accesses of all statements, in the order of the source; of each statement reads before its write."""
        return tuple(access for statement in self.statements for access in statement.accesses)

    def bind(self, **values: int) -> Scop:
        """The same scop with numbers for parameters.

        >>> scop.bind(n=100).count()
        4950
        >>> scop.bind(m=100)
        Traceback (most recent call last):
            ...
        ValueError: m is no parameter of the nest (parameters: n)
        """
        unknown = sorted(set(values) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise ValueError(f"{', '.join(unknown)} is no parameter of the nest (parameters: {known})")
        return replace(self, values={**self.values, **{k: int(v) for k, v in values.items()}})

    @cached_property
    def schedule(self) -> Schedule:
        """The order of the source."""
        from .schedule import Schedule

        return Schedule(self, self.tree)

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """Memory-based dependences: every pair of instances that touch one element, one of them writing it.

        These decide legality: an order that keeps them all gives every read the value it had, without renaming.
        """
        return memory_dependences(self)

    @cached_property
    def value_dependences(self) -> tuple[Dependence, ...]:
        """Value-based flow dependences: from each read to the write whose value it sees (the last one before it)."""
        return value_dependences(self)

    def is_legal(self, schedule: Schedule) -> bool:
        """Whether ``schedule`` keeps every dependence.

        >>> scop.is_legal(schedule.reverse("i"))
        True
        """
        return self.legality(schedule).is_legal

    def legality(self, schedule: Schedule) -> Legality:
        """Whether ``schedule`` keeps every dependence, and if not, which pairs it breaks.

        >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];")
        >>> print(nest.legality(nest.schedule.reverse("i")))
        illegal:
          flow S0 → S0 on A, distance (1): the target runs first
        """
        from .legality import legality

        return legality(self, schedule)

    def fixed(self, object_: SetOrMap) -> SetOrMap:
        """An isl set or map of this scop with the parameters set to ``values``.

        >>> scop.fixed(scop.domain.set)
        Set("{ S0[i, j] : 0 <= i <= 3 and 0 <= j < i }")
        """
        return fix_parameters(object_, self.parameters, self.values)

    def count(self) -> int:
        """How many instances there are, all statements together.

        >>> scop.count()
        6
        """
        return sum(s.domain.count(self.values) for s in self.statements)

    def points(self, statement: str | None = None) -> NDArray[np.int64]:
        """The instances of ``statement`` (or of the only one), (count, dimensions), in lexicographic order.

        >>> scop.points().tolist()
        [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]]
        """
        chosen = self[statement] if statement is not None else self._only
        return chosen.domain.points(self.values)

    def _repr_latex_(self) -> str:
        lines: list[str] = []
        for statement in self.statements:
            lines.append(rf"\mathtt{{{statement.name}}}:\quad {statement.domain.latex}")
            lines += [rf"\qquad {access.latex}" for access in statement.accesses]
            lines.append(rf"\qquad {self.schedule.latex(statement.name)}")
        body = " \\\\\n".join(f"&{line}" for line in lines)
        return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parameters = f"parameters {', '.join(self.parameters)}\n" if self.parameters else ""
        parts = []
        for statement in self.statements:
            lines = [f"{statement.name}: {statement.text}", f"  domain    {statement.domain.set}"]
            lines += [f"  {a.kind:<9} {a.text}" for a in statement.accesses]
            lines.append(f"  schedule  {self.schedule.time_text(statement.name)}")
            parts.append("\n".join(lines))
        return parameters + "\n".join(parts)
