"""The data of a scop: statements with their domains and accesses, in the order of the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.iteration_domain import Domain, SetOrMap, fix_parameters
from triton_lab.polyhedral.core.loop_tree import Tree
from triton_lab.polyhedral.core.source_text import SourceText
from triton_lab.polyhedral.core.statement import Array, Statement

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, repr=False)
class StaticPart:
    """Statements in the order of their source, with numbers for parameters.

    Code that only reads a `Scop` takes this; `Scop` describes the fields.
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
        raise KeyError(
            _("no statement {name}: there is {statements}").format(
                name=name, statements=", ".join(s.name for s in self.statements)
            )
        )

    @property
    def _only(self) -> Statement:
        if len(self.statements) != 1:
            names = ", ".join(s.name for s in self.statements)
            raise ValueError(
                _("the scop has several statements ({names}): say which, as in scop['S0'].domain").format(names=names)
            )
        return self.statements[0]

    @property
    def domain(self) -> Domain:
        """The iteration domain of the only statement."""
        return self._only.domain

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The accesses of all statements, in the order of the source; each statement's reads come before its write."""
        return tuple(access for statement in self.statements for access in statement.accesses)

    def bind(self, **values: int) -> Self:
        """A copy with numbers for the parameters.

        >>> scop.bind(n=100).count()
        4950
        >>> scop.bind(m=100)
        Traceback (most recent call last):
            ...
        ValueError: m is not a parameter of the nest (parameters: n)
        """
        unknown = sorted(set(values) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise ValueError(
                _("{unknown} is not a parameter of the nest (parameters: {known})").format(
                    unknown=", ".join(unknown), known=known
                )
            )
        return replace(self, values={**self.values, **{k: int(v) for k, v in values.items()}})

    def fixed(self, object_: SetOrMap) -> SetOrMap:
        """An isl set or map of this scop with the parameters set to ``values``.

        >>> scop.fixed(scop.domain.set)
        Set("{ S0[i, j] : 0 <= i <= 3 and 0 <= j < i }")
        """
        return fix_parameters(object_, self.parameters, self.values)

    def count(self) -> int:
        """The number of instances of all statements.

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
