"""Iteration domains: the instances of one statement, as constraints and as an isl set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name, latex_name
from triton_lab.polyhedral.core.integer_matrix import AffineMatrix, latex_matrix
from triton_lab.polyhedral.core.integer_points import count_points, set_points
from triton_lab.polyhedral.core.isl_effort import TooHard, answered, check_time, effort
from triton_lab.polyhedral.core.polyhedron_corners import HalfSpace, corners, half_spaces

SetOrMap = TypeVar("SetOrMap", isl.Set, isl.Map)


def space_text(parameters: Sequence[str]) -> str:
    """The parameters of a set, in isl's language."""
    return f"[{', '.join(isl_name(p) for p in parameters)}] -> "


def formula_text(formula: Formula) -> str:
    """``formula`` in isl's language."""
    if not formula:
        return "1 = 0"
    cases = [" and ".join(c.isl for c in case) or "0 = 0" for case in formula]
    return cases[0] if len(cases) == 1 else " or ".join(f"({case})" for case in cases)


@dataclass(frozen=True)
class Domain:
    """The instances of ``statement``: the integer points of a union of polyhedra (``pieces``, usually one).

    The constraints of a piece are in the order of the source: outer loops first; for each loop its lower bound, then
    its upper bound; conditions where they occur.

    >>> scop.domain.set
    Set("[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < i }")
    >>> scop.domain.iterators, scop.domain.parameters
    (('i', 'j'), ('n',))
    """

    statement: str
    iterators: tuple[str, ...]
    parameters: tuple[str, ...]
    pieces: Formula

    @cached_property
    def set(self) -> isl.Set:
        """The isl set."""
        head = f"{self.statement}[{', '.join(isl_name(i) for i in self.iterators)}]"
        text = f"{space_text(self.parameters)}{{ {head} : {formula_text(self.pieces)} }}"
        return answered(_("the domain of {statement}").format(statement=self.statement), lambda: isl.Set(text))

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints of the only piece."""
        if len(self.pieces) != 1:
            raise ValueError(
                _("the domain of {statement} is a union of {pieces} polyhedra: see .pieces").format(
                    statement=self.statement, pieces=len(self.pieces)
                )
            )
        return self.pieces[0]

    @property
    def matrix(self) -> AffineMatrix:
        """The constraint matrix of the only piece, one row per constraint, in the order of the source."""
        return AffineMatrix.of([c.expression for c in self.constraints], self.iterators, self.parameters)

    def piece_matrix(self, piece: int) -> AffineMatrix:
        """A piece as a matrix: a row per constraint (>= 0, or = 0); columns: iterators, quotients, parameters, 1.

        >>> scop.domain.piece_matrix(0).array
        array([[ 1,  0,  0,  0],
               [-1,  0,  1, -1],
               [ 0,  1,  0,  0],
               [ 1, -1,  0, -1]])
        """
        return AffineMatrix.of([c.expression for c in self.pieces[piece]], self.iterators, self.parameters)

    @property
    def latex(self) -> str:
        r"""The domain in the notation of Triton's related-work page: ``{ i, j \in Z^2 | M x + b >= 0 }``."""
        names = ", ".join(latex_name(i) for i in self.iterators)
        body = r" \;\lor\; ".join(self._piece_latex(k) for k in range(len(self.pieces))) or r"\bot"
        dimension = f"^{len(self.iterators)}" if len(self.iterators) != 1 else ""
        return rf"\mathcal{{P}} = \{{ {names} \in \mathbb{{Z}}{dimension} ~|~ {body} \}}"

    def _piece_latex(self, piece: int) -> str:
        matrix = self.piece_matrix(piece)
        if not matrix.rows:
            return r"\top"
        signs = ["=" if c.equality else r"\geq" for c in self.pieces[piece]]
        if len(set(signs)) == 1:
            return f"{matrix.latex(self.iterators)} {signs[0]} 0"
        return rf"{matrix.latex(self.iterators)} \;{latex_matrix([[s] for s in signs])}\; 0"

    def fixed(self, values: Mapping[str, int]) -> isl.Set:
        """The set with its parameters set to ``values``.

        >>> scop.domain.fixed({"n": 3})
        Set("{ S0[i, j] : 0 <= i <= 2 and 0 <= j < i }")
        """
        return fix_parameters(self.set, self.parameters, values)

    def count(self, values: Mapping[str, int]) -> int:
        """The number of instances for these values of the parameters. Raises ValueError if it is infinite.

        >>> scop.domain.count({"n": 100})
        4950
        """
        return count_points(self.fixed(values))

    def points(self, values: Mapping[str, int]) -> NDArray[np.int64]:
        """All instances, (count, dimensions), in lexicographic order.

        >>> scop.domain.points({"n": 3}).tolist()
        [[1, 0], [2, 0], [2, 1]]
        """
        return set_points(self.fixed(values))

    def vertices(self, values: Mapping[str, int]) -> tuple[tuple[Fraction, ...], ...]:
        """The corners of the rational polyhedra, sorted; a corner need not be an instance.

        >>> [tuple(map(int, corner)) for corner in scop.domain.vertices({"n": 4})]
        [(1, 0), (3, 0), (3, 2)]
        """
        pieces = range(len(self.pieces))
        return tuple(sorted({corner for k in pieces for corner in corners(self.half_spaces(k, values))}))

    def half_spaces(self, piece: int, values: Mapping[str, int]) -> tuple[HalfSpace, ...]:
        """A piece with its parameters fixed: rows (coefficients..., constant) >= 0, see `half_space`.

        >>> scop.domain.half_spaces(0, {"n": 4})
        ((1, 0, 0), (-1, 0, 3), (0, 1, 0), (1, -1, -1))
        """
        fixed = {p: AffineExpr.of(int(values[p])) for p in self.parameters}
        rows = half_spaces(self.pieces[piece], fixed, self.iterators)
        return tuple(row for row in rows if any(row[:-1]) or row[-1] < 0)


def fix_parameters(object_: SetOrMap, parameters: Sequence[str], values: Mapping[str, int]) -> SetOrMap:
    """``object_`` (a set or map) with every parameter fixed and removed. Raises ValueError for one without a value."""
    missing = [p for p in parameters if p not in values]
    if missing:
        raise ValueError(
            _("give a value for {missing}: scop(..., {missing2}=8) or .bind({missing2}=8)").format(
                missing=", ".join(missing), missing2=missing[0]
            )
        )
    for parameter in parameters:
        position = object_.find_dim_by_name(isl.dim_type.param, isl_name(parameter))
        if position >= 0:
            object_ = object_.fix_val(isl.dim_type.param, position, isl.Val(int(values[parameter])))
    return object_.project_out(isl.dim_type.param, 0, object_.dim(isl.dim_type.param))


def without_empty(formula: Formula, iterators: tuple[str, ...], parameters: tuple[str, ...]) -> Formula:
    """The cases that hold somewhere, without those that another one covers.

    One that isl cannot tell of stays. Raises `TooHard` where the time of the `series` around is over.
    """
    head = f"{space_text(parameters)}{{ [{', '.join(isl_name(i) for i in iterators)}] : "
    if len(formula) == 1:
        return formula
    kept: list[tuple[tuple[Constraint, ...], isl.Set]] = []
    for case in dict.fromkeys(formula):
        check_time("which cases hold")
        with effort(_("where a case holds")):
            piece = isl.Set(f"{head}{formula_text((case,))} }}")
        try:
            with effort(_("where a case holds")):
                if piece.is_empty() or any(piece.is_subset(other) for _case, other in kept):
                    continue
                kept = [(c, other) for c, other in kept if not other.is_subset(piece)]
        except TooHard:  # then it is one case more
            pass
        kept.append((case, piece))
    return tuple(case for case, _piece in kept)
