"""isl's own scheduler, as a tree of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import islpy as isl

from .affine import Affine, source_name
from .effort import effort
from .loop_tree import Leaf, Loop, Mark, Tree, sequence

if TYPE_CHECKING:
    from .scop import Scop


# islpy's stubs know neither the enumerations' members nor what they are compared with.
_isl: Any = isl


def automatic_tree(scop: Scop) -> Tree:
    """The tree of a schedule that keeps all dependences and makes those of values short (isl's Pluto-like algorithm).

    Loops that isl finds free of dependences, with no such loop around them, are marked parallel.
    """
    domain = _union_set([s.domain.set for s in scop.statements])
    empty = isl.UnionMap("{}")
    validity, proximity = empty, empty
    for dependence in scop.dependences:
        validity = validity.union(isl.UnionMap.from_map(dependence.relation))
    for dependence in scop.value_dependences:
        proximity = proximity.union(isl.UnionMap.from_map(dependence.relation))
    constraints = isl.ScheduleConstraints.on_domain(domain).set_validity(validity).set_coincidence(validity)
    with effort("a schedule for this nest"):
        found = constraints.set_proximity(proximity).compute_schedule()
    names = tuple(s.name for s in scop.statements)
    return _Reader(scop).tree(found.get_root(), names, 0, False)


class _Reader:
    def __init__(self, scop: Scop) -> None:
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
        rows: list[dict[str, Affine]] = []
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

    def _affine(self, piecewise: Any) -> Affine:
        """isl's schedules are affine: one piece, whole coefficients, no quotients."""
        found: list[Any] = []
        piecewise.foreach_piece(lambda _, expression: found.append(expression))
        (expression,) = found
        total = Affine((), expression.get_constant_val().to_python())
        statement = self.scop[_statement_name(piecewise)]
        for kind, own in ((isl.dim_type.in_, True), (isl.dim_type.param, False)):
            for k in range(expression.dim(kind)):
                name = statement.iterators[k] if own else source_name(expression.get_dim_name(kind, k))
                total += Affine.of(name) * expression.get_coefficient_val(kind, k).to_python()
        return total


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
