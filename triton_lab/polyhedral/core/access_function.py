"""Access functions: which array element an instance of a statement reads or writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import islpy as isl

from triton_lab.localization import N_, _
from triton_lab.polyhedral.core.affine_conditions import Formula, Value, compare, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name, latex_name
from triton_lab.polyhedral.core.integer_matrix import AffineMatrix
from triton_lab.polyhedral.core.isl_effort import answered
from triton_lab.polyhedral.core.iteration_domain import Domain, formula_text, space_text
from triton_lab.polyhedral.core.source_text import Span

KINDS = {"read": N_("read"), "write": N_("write")}  # in words


@dataclass(frozen=True)
class Access:
    """``array[subscripts]``, read or written by each instance in ``domain``.

    ``may``: whether it happens depends on data. Dependences count it; but such a write ends no value's life.
    """

    kind: Literal["read", "write"]
    array: str
    subscripts: tuple[Value, ...]
    domain: Domain
    text: str = ""
    span: Span = field(default=Span(0, 0, 0), compare=False)
    may: bool = False

    @property
    def is_affine(self) -> bool:
        """Whether the access function is one matrix: no min, max or choice in a subscript."""
        return all(isinstance(s, AffineExpr) for s in self.subscripts)

    @property
    def expressions(self) -> tuple[AffineExpr, ...]:
        """The subscripts of an affine access."""
        found = tuple(s for s in self.subscripts if isinstance(s, AffineExpr))
        if len(found) != len(self.subscripts):
            raise ValueError(
                _("{text} has min, max or a choice in a subscript: its access function is not one matrix").format(
                    text=self.text
                )
            )
        return found

    @property
    def matrix(self) -> AffineMatrix:
        """One row per subscript; columns: iterators, quotients, parameters, 1."""
        return AffineMatrix.of(self.expressions, self.domain.iterators, self.domain.parameters)

    @property
    def latex(self) -> str:
        """``f(i, j) = M x = (i, j)``, in the notation of Triton's related-work page."""
        iterators = ", ".join(latex_name(i) for i in self.domain.iterators)
        head = rf"f_{{{latex_name(self.array)}}}({iterators}) = "
        if not self.subscripts:
            return f"{head}()"
        if not self.is_affine:
            return rf"{head}\text{{{self.text}}}"
        values = ", ".join(e.latex for e in self.expressions)
        return f"{head}{self.matrix.latex(self.domain.iterators)} = ({values})"

    @cached_property
    def relation(self) -> isl.Map:
        """The isl map from the instances in the domain to array elements."""
        outputs = [f"o{k}_" for k in range(len(self.subscripts))]
        equal: list[Formula] = [
            compare("==", AffineExpr.of(name), s) for name, s in zip(outputs, self.subscripts, strict=True)
        ]
        source = f"{self.domain.statement}[{', '.join(isl_name(i) for i in self.domain.iterators)}]"
        text = f"{source} -> {isl_name(self.array)}[{', '.join(outputs)}] : {formula_text(conjunction(*equal))}"
        whole, domain = f"{space_text(self.domain.parameters)}{{ {text} }}", self.domain.set
        question = _("the elements that {statement} touches by {text}").format(
            statement=self.domain.statement, text=self.text
        )
        return answered(question, lambda: isl.Map(whole).intersect_domain(domain))
