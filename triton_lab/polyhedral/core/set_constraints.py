"""An isl set as a formula: the constraints of its parts, in our names."""

from __future__ import annotations

from typing import Any

import islpy as isl

from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient, source_name

# islpy's stubs lack the members of its enumerations.
_isl: Any = isl


def formula_of(found: isl.Set, iterators: tuple[str, ...]) -> Formula:
    """The integer points of ``found`` as a formula; ``iterators`` name its dimensions.

    What isl writes with "exists" becomes quotients.
    """
    parts = found.compute_divs().coalesce().make_disjoint().get_basic_set_list()
    return tuple(_conjunction(parts.get_at(k), iterators) for k in range(parts.n_basic_set()))


def _conjunction(part: isl.BasicSet, iterators: tuple[str, ...]) -> tuple[Constraint, ...]:
    constraints = part.get_constraints()
    return tuple(Constraint(_affine(c.get_aff(), iterators), c.is_equality()) for c in constraints)


def _affine(found: isl.Aff, iterators: tuple[str, ...]) -> AffineExpr:
    """``found`` without its denominator, which is positive: only its sign counts."""
    scaled = found.scale_val(found.get_denominator_val())
    total = AffineExpr.of(int(scaled.get_constant_val().to_python()))
    dim = _isl.dim_type
    for k, name in enumerate(iterators):
        total += AffineExpr.of(name) * _coefficient(scaled, dim.in_, k)
    for k in range(scaled.dim(dim.param)):
        name = source_name(str(scaled.get_dim_name(dim.param, k)))
        total += AffineExpr.of(name) * _coefficient(scaled, dim.param, k)
    for k in range(scaled.dim(dim.div)):
        times = _coefficient(scaled, dim.div, k)
        if times:
            inner = scaled.get_div(k)
            below = int(inner.get_denominator_val().to_python())
            quotient = Quotient(_affine(inner, iterators), below)
            total += AffineExpr.of(quotient) * times
    return total


def _coefficient(found: isl.Aff, kind: Any, position: int) -> int:
    return int(found.get_coefficient_val(kind, position).to_python())
