"""Runs isl's own scheduler and turns its result into our loop tree."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr, source_name
from triton_lab.polyhedral.core.axis_names import named_by_axes
from triton_lab.polyhedral.core.isl_effort import NoAnswer, TooHard, answered, series
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Mark, Tree, sequence

if TYPE_CHECKING:
    from triton_lab.polyhedral.dependence import Dependence
    from triton_lab.polyhedral.instances import Instances


# islpy's stubs lack the enumerations' members and their comparisons.
_isl: Any = isl


def automatic_tree(scop: Instances) -> Tree:
    """The tree of a schedule that keeps all dependences and shortens value dependences (isl's Pluto-like algorithm).

    The outermost loops without dependences are marked parallel. Statements that never run come last. Where isl cannot
    find the write that a read depends on, it shortens all dependences.
    """
    with series(_("a schedule for this nest")):
        return _automatic(scop)


def _automatic(scop: Instances) -> Tree:
    never = tuple(
        s.name
        for s in scop.statements
        if answered(_("whether {name} ever runs").format(name=s.name), s.domain.set.is_empty)
    )
    run = tuple(s.name for s in scop.statements if s.name not in never)
    if not run:
        return scop.tree
    validity = _relations(scop.dependences)
    try:
        proximity = _relations(scop.value_dependences)
    except TooHard:
        proximity = validity
    question = _("a schedule for this nest")
    try:
        tree = answered(question, partial(_found, scop, run, validity, proximity))
    except NoAnswer:
        # By default isl avoids schedules that fold a loop into another, and may then find none (red and black
        # points).
        tree = answered(question, partial(_found, scop, run, validity, proximity, False))
    tree = named_by_axes(tree, {s.name: s.iterators for s in scop.statements})
    return sequence((tree, Leaf(never))) if never else tree


def _relations(dependences: Iterable[Dependence]) -> isl.UnionMap:
    total = isl.UnionMap("{}")
    for dependence in dependences:
        total = total.union(isl.UnionMap.from_map(dependence.relation))
    return total


def _found(
    scop: Instances, names: tuple[str, ...], validity: isl.UnionMap, proximity: isl.UnionMap, unfolded: bool = True
) -> Tree:
    domain = _union_set([scop[name].domain.set for name in names])
    constraints = isl.ScheduleConstraints.on_domain(domain).set_validity(validity).set_coincidence(validity)
    context = isl.DEFAULT_CONTEXT
    usual = context.get_schedule_treat_coalescing()
    context.set_schedule_treat_coalescing(int(unfolded))
    try:
        found = constraints.set_proximity(proximity).compute_schedule()
    finally:
        context.set_schedule_treat_coalescing(usual)
    return _Reader(scop).tree(found.get_root(), names, 0, False)


class _Reader:
    def __init__(self, scop: Instances) -> None:
        self.scop = scop

    def tree(self, node: Any, names: tuple[str, ...], depth: int, parallel: bool) -> Tree:
        kind = node.get_type()
        kinds = _isl.schedule_node_type
        if kind == kinds.leaf:
            return Leaf(names)
        if kind in (kinds.sequence, kinds.set):
            children = (node.get_child(k) for k in range(node.n_children()))
            return sequence(tuple(self.tree(child, names, depth, parallel) for child in children))
        if kind == kinds.filter:
            inside = _names(node.filter_get_filter())
            return self.tree(node.get_child(0), tuple(n for n in names if n in inside), depth, parallel)
        if kind == kinds.band:
            return self._band(node, names, depth, parallel)
        return self.tree(node.get_child(0), names, depth, parallel)

    def _band(self, node: Any, names: tuple[str, ...], depth: int, parallel: bool) -> Tree:
        partial = node.band_get_partial_schedule()
        size = node.band_n_member()
        rows: list[dict[str, AffineExpr]] = []
        for k in range(size):
            pieces = partial.get_at(k).get_pw_aff_list()
            every = (pieces.get_at(m) for m in range(pieces.n_pw_aff()))
            rows.append({_statement_name(p): self._affine(p) for p in every})
        free = [bool(node.band_member_get_coincident(k)) for k in range(size)]
        first = next((k for k in range(size) if free[k]), None) if not parallel else None
        tree = self.tree(node.get_child(0), names, depth + size, parallel or first is not None)
        for k in reversed(range(size)):
            mark: Mark = "parallel" if k == first else ""
            tree = Loop(f"t{depth + k}", {name: rows[k][name] for name in names}, tree, mark)
        return tree

    def _affine(self, piecewise: Any) -> AffineExpr:
        found: list[Any] = []
        piecewise.foreach_piece(lambda _, expression: found.append(expression))
        if len(found) != 1:
            raise ValueError(
                _("isl's schedule for this nest is different in different cases: it cannot be shown as loops")
            )
        return _quasi_affine(found[0], self.scop[_statement_name(piecewise)].iterators)


def _quasi_affine(expression: Any, iterators: tuple[str, ...]) -> AffineExpr:
    """isl's affine expression as ours, with the quotients that congruences in a domain cause."""
    total = AffineExpr((), _whole(expression.get_constant_val()))
    for k in range(expression.dim(_isl.dim_type.in_)):
        total += AffineExpr.of(iterators[k]) * _whole(expression.get_coefficient_val(_isl.dim_type.in_, k))
    for k in range(expression.dim(_isl.dim_type.param)):
        name = source_name(expression.get_dim_name(_isl.dim_type.param, k))
        total += AffineExpr.of(name) * _whole(expression.get_coefficient_val(_isl.dim_type.param, k))
    for k in range(expression.dim(_isl.dim_type.div)):
        factor = _whole(expression.get_coefficient_val(_isl.dim_type.div, k))
        if factor:
            inside = expression.get_div(k)
            divisor = _whole(inside.get_denominator_val())
            total += (_quasi_affine(inside.scale_val(isl.Val(divisor)), iterators) // divisor) * factor
    return total


def _whole(value: Any) -> int:
    if not value.is_int():
        raise ValueError(
            _("isl's schedule for this nest has the coefficient {value}: it cannot be shown as loops").format(
                value=value
            )
        )
    return int(value.to_python())


def _names(union: isl.UnionSet) -> set[str]:
    sets = union.get_set_list()
    return {str(sets.get_at(k).get_tuple_name()) for k in range(sets.n_set())}


def _union_set(sets: list[isl.Set]) -> isl.UnionSet:
    total = isl.UnionSet.from_set(sets[0])
    for one in sets[1:]:
        total = total.union(isl.UnionSet.from_set(one))
    return total


def _statement_name(piecewise: isl.PwAff) -> str:
    return str(piecewise.get_tuple_id(isl.dim_type.in_).get_name())
