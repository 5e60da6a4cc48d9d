"""The static control part: statements with their domains and accesses, in an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.access import Access
from triton_lab.polyhedral.core.domain import Domain, SetOrMap, fix_parameters
from triton_lab.polyhedral.core.loop_tree import Tree
from triton_lab.polyhedral.core.ordered import Ordered
from triton_lab.polyhedral.core.points import more_than
from triton_lab.polyhedral.core.source import SourceText
from triton_lab.polyhedral.core.statement import Array, Statement
from triton_lab.polyhedral.dependence import Dependence, memory_dependences, value_dependences
from triton_lab.polyhedral.pictured import Pictured

if TYPE_CHECKING:
    from triton_lab.polyhedral.legality import Legality
    from triton_lab.polyhedral.schedule import Schedule
    from triton_lab.views.polyhedral.iteration import IterationView

MOST_DRAWN = 1 << 17  # instances of a statement that are drawn without being asked for


@dataclass(frozen=True, repr=False)
class Scop(Pictured):
    """A static control part. The last value of a cell, it is drawn, where its parameters have values.

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
        from triton_lab.polyhedral.schedule import Schedule

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

    def is_legal(self, schedule: Ordered) -> bool:
        """Whether ``schedule`` keeps every dependence.

        >>> scop.is_legal(schedule.reverse("i"))
        True
        """
        return self.legality(schedule).is_legal

    def legality(self, schedule: Ordered) -> Legality:
        """Whether ``schedule`` keeps every dependence, and if not, which pairs it breaks.

        >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];")
        >>> print(nest.legality(nest.schedule.reverse("i")))
        illegal:
          flow S0 → S0 on A, distance (1): the target runs first
        """
        from triton_lab.polyhedral.legality import legality

        return legality(self, self.dependences, schedule.tree)

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

    def plot(
        self,
        dims: Sequence[str] | None = None,
        at: Mapping[str, int] | None = None,
        *,
        dependences: str | None = None,
        order: bool = False,
        instance: Sequence[int] | None = None,
        title: str | None = None,
        time: bool | None = None,
    ) -> IterationView:
        """The instances as points in the order of the source: `Schedule.plot`.

        >>> from triton_lab.polyhedral import scop
        >>> from triton_lab.polyhedral.page import examples
        >>> scop(examples.WAVEFRONT, n=6).plot(dependences="value").title()
        '25 instances at n = 6'
        """
        return self.schedule.plot(
            dims, at, dependences=dependences, order=order, instance=instance, title=title, time=time
        )

    def _refuse_many(self) -> None:
        for statement in self.statements:
            if more_than(statement.domain.fixed(self.values), MOST_DRAWN):
                many = f"{statement.name} has more than {MOST_DRAWN:,} instances"
                raise ValueError(f"{many}: bind smaller values, or ask for .plot()")

    def _in_words(self) -> dict[str, Any]:
        return {"text/plain": str(self), "text/latex": self.latex}

    @property
    def latex(self) -> str:
        """Domain, accesses and schedule of each statement as formulas, between dollar signs."""
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
