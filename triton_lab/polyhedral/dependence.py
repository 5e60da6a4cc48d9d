"""Dependences: pairs of instances that access the same element, at least one of them with a write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Literal, TypeAlias

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import N_, _, translated
from triton_lab.polyhedral.core.integer_points import relation_points, set_points
from triton_lab.polyhedral.core.isl_effort import OPERATIONS, TooHard, answered, effort, series
from triton_lab.polyhedral.core.loop_tree import path, time_text
from triton_lab.polyhedral.core.static_part import StaticPart

Kind: TypeAlias = Literal["flow", "anti", "output"]
_KINDS: dict[tuple[str, str], Kind] = {
    ("write", "read"): "flow",
    ("read", "write"): "anti",
    ("write", "write"): "output",
}
KINDS: dict[Kind, str] = {"flow": N_("flow"), "anti": N_("anti"), "output": N_("output")}  # in words


@dataclass(frozen=True, repr=False)
class Dependence:
    """``relation`` maps each instance of ``source`` to the later instances of ``target`` that depend on it.

    flow: the target reads what the source wrote; anti: it overwrites what the source read; output: it overwrites what
    the source wrote. ``may``: whether one of the two happens depends on data.

    >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];")
    >>> (dependence,) = nest.dependences
    >>> print(dependence)
    flow S0 → S0 on A, distance (1)
    >>> dependence.vector
    (1,)
    >>> dependence.relation
    Map("[n] -> { S0[i] -> S0[i' = 1 + i] : 0 < i <= -2 + n }")
    """

    kind: Kind
    array: str
    source: str
    target: str
    relation: isl.Map
    common: int  # how many loops enclose both statements
    may: bool = False  # whether data decides if one of the accesses happens

    @cached_property
    def deltas(self) -> isl.Set:
        """All distances (target minus source) over the common loops, as an isl set."""
        relation = self.relation
        with effort(_("the distances from {source} to {target}").format(source=self.source, target=self.target)):
            return self._deltas(relation)

    def _deltas(self, relation: isl.Map) -> isl.Set:
        for side in (isl.dim_type.in_, isl.dim_type.out):
            relation = relation.project_out(side, self.common, relation.dim(side) - self.common)
        plain = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        return plain.deltas().coalesce()

    @cached_property
    def vector(self) -> tuple[int | str, ...]:
        """Per common loop the distance, where all pairs have the same, else its sign: ``+``, ``-``, ``0+`` (not
        negative), ``0-`` (not positive) or ``*`` (either, or too hard for isl)."""
        with series(_("the distance from {source} to {target}").format(source=self.source, target=self.target)):
            return tuple(self._component(k) for k in range(self.common))

    def _component(self, position: int) -> int | str:
        try:
            with effort(_("the distance from {source} to {target}").format(source=self.source, target=self.target)):
                return _distance(self.deltas, position)
        except TooHard:
            return "*"

    def pairs(self, scop: StaticPart) -> NDArray[np.int64]:
        """All pairs at the scop's values, (count, source dimensions + target dimensions).

        >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];", n=4)
        >>> nest.dependences[0].pairs(nest)
        array([[1, 2],
               [2, 3]])
        """
        return relation_points(scop.fixed(self.relation))

    def distances(self, scop: StaticPart) -> tuple[tuple[int, ...], ...]:
        """All distances at the scop's values.

        >>> nest = lab.polyhedral.scop("for (int i = 1; i < n; i++) A[i] = A[i - 1];", n=4)
        >>> nest.dependences[0].distances(nest)
        ((1,),)
        """
        return tuple(map(tuple, set_points(scop.fixed(self.deltas)).tolist()))

    def __str__(self) -> str:
        vector = ", ".join(str(c) for c in self.vector)
        apart = _("distance ({vector})").format(vector=vector) if self.common else _("no loop in common")
        return f"{self._what}, {apart}"

    def __repr__(self) -> str:
        try:
            return f"<{self}>"
        except TooHard:  # isl must compute the distance
            return f"<{self._what}>"

    @property
    def _what(self) -> str:
        return _("{kind} {source} → {target} on {array}").format(
            kind=translated(KINDS[self.kind]), source=self.source, target=self.target, array=self.array
        )


def _distance(deltas: isl.Set, position: int) -> int | str:
    line = deltas.project_out(isl.dim_type.set, position + 1, deltas.dim(isl.dim_type.set) - position - 1)
    line = line.project_out(isl.dim_type.set, 0, position)
    line = line.project_out(isl.dim_type.param, 0, line.dim(isl.dim_type.param))
    low, high = line.dim_min_val(0), line.dim_max_val(0)
    if low.is_int() and high.is_int() and low.eq(high):
        return int(low.to_python())
    if low.is_pos() or low.is_nonneg():
        return "+" if low.is_pos() else "0+"
    if high.is_neg() or high.is_nonpos():
        return "-" if high.is_neg() else "0-"
    return "*"


def order_map(scop: StaticPart, statement: str) -> isl.Map:
    """When each instance of ``statement`` runs in the order of the source."""
    with effort(_("when {statement} runs").format(statement=statement)):
        return isl.Map(time_text(scop.tree, statement, scop[statement].iterators, scop.parameters))


def common_loops(scop: StaticPart, first: str, second: str) -> int:
    """How many loops of the source enclose both statements."""
    pairs = zip(path(scop.tree, first), path(scop.tree, second), strict=False)
    count = 0
    for one, other in pairs:
        if one.loop is None and one.expression != other.expression:
            break
        count += one.loop is not None and one.loop is other.loop
    return count


def memory_dependences(scop: StaticPart) -> tuple[Dependence, ...]:
    """Every pair of accesses to one array with a write, in the order of the source; empty relations are left out.

    Raises `TooHard` where isl needs too long for one pair, or for all of them.
    """
    with series(_("the dependences of this nest")):
        return tuple(_memory_dependences(scop))


def _memory_dependences(scop: StaticPart) -> Iterator[Dependence]:
    order = {s.name: order_map(scop, s.name) for s in scop.statements}
    before: dict[tuple[str, str], isl.Map] = {}
    for source, target in product(scop.statements, repeat=2):
        for first, second in product(source.accesses, target.accesses):
            if first.array != second.array or (first.kind, second.kind) not in _KINDS:
                continue
            names = (source.name, target.name)
            if names not in before:
                with effort(_("when {source} runs before {target}").format(source=source.name, target=target.name)):
                    before[names] = order[source.name].lex_lt_map(order[target.name])
            relation = answered(
                _("the accesses of {target} to {element} after those of {source} to {other}").format(
                    target=target.name, element=second.text, source=source.name, other=first.text
                ),
                partial(_pairs, first.relation, second.relation, before[names]),
            )
            if relation is not None:
                may = first.may or second.may
                yield _dependence(scop, _KINDS[first.kind, second.kind], first.array, *names, relation, may)


def _pairs(first: isl.Map, second: isl.Map, before: isl.Map) -> isl.Map | None:
    relation = first.apply_range(second.reverse()).intersect(before)
    return None if relation.is_empty() else relation.coalesce()


def value_dependences(scop: StaticPart) -> tuple[Dependence, ...]:
    """From each read to the last write before it (isl's dataflow analysis); reads of initial values have none.

    Raises `TooHard` where isl needs too long for one read, or for all of them.
    """
    with series(_("the dependences of values in this nest")):
        return tuple(_value_dependences(scop))


def _value_dependences(scop: StaticPart) -> Iterator[Dependence]:
    order = _union([order_map(scop, s.name) for s in scop.statements])
    sure, unsure = (
        _union([a.relation for s in scop.statements for a in s.writes if a.may == may]) for may in (False, True)
    )
    for target in scop.statements:
        for read in target.reads:
            question = _("the last write before {name} reads {text}").format(name=target.name, text=read.text)
            ask = partial(_last_writes, read.relation, sure, unsure, order)
            for relation in answered(question, ask, 5 * OPERATIONS):  # among all writes
                source = _source(relation)
                may = read.may or any(w.may for w in scop[source].writes)
                yield _dependence(scop, "flow", read.array, source, target.name, relation, may)


def _last_writes(read: isl.Map, sure: isl.UnionMap, unsure: isl.UnionMap, order: isl.UnionMap) -> list[isl.Map]:
    """The last write before ``read`` that surely happens, and those after it that may."""
    info = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(read)).set_must_source(sure).set_schedule_map(order)
    if not unsure.is_empty():
        info = info.set_may_source(unsure)
    return [relation.coalesce() for relation in _maps(info.compute_flow().get_may_dependence())]


def _dependence(
    scop: StaticPart, kind: Kind, array: str, source: str, target: str, relation: isl.Map, may: bool
) -> Dependence:
    return Dependence(kind, array, source, target, relation, common_loops(scop, source, target), may)


def _source(relation: isl.Map) -> str:
    return str(relation.get_tuple_name(isl.dim_type.in_))


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    maps = union.get_map_list()
    return [maps.get_at(k) for k in range(maps.n_map())]


def _union(maps: list[isl.Map]) -> isl.UnionMap:
    total = isl.UnionMap("{ }")
    for relation in maps:
        total = total.union(isl.UnionMap.from_map(relation))
    return total
