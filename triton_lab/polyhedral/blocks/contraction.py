"""Tiled sums of products as one kernel: an accumulator, a loop over blocks of the summed iterator, one store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.kernel_shape import BlockAxis, axes
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.isl_effort import effort
from triton_lab.polyhedral.core.loop_nest import Binary, Expr, Load, Number, Unary

if TYPE_CHECKING:
    from triton_lab.polyhedral.core.statement import Statement
    from triton_lab.polyhedral.instances import Instances
    from triton_lab.polyhedral.schedule import Schedule

# tl.dot needs at least this many rows, columns and products.
SMALLEST_DOT = 16


@dataclass(frozen=True)
class Contraction:
    """``target += left * right`` over ``iterator``; before that, ``start`` sets the target to ``first``."""

    update: Statement
    iterator: str
    left: Access
    right: Access
    start: Statement | None
    first: int | float | None

    @property
    def target(self) -> Access:
        return self.update.writes[0]

    @property
    def elements(self) -> isl.Set:
        """The iterations whose elements the kernel stores, without the summed iterator."""
        if self.start is None:
            return _without(self.update.domain.set, self.update.iterators, {self.iterator}).reset_tuple_id()
        order = [i for i in self.update.iterators if i != self.iterator]
        return _arranged(self.start.domain.set, self.start.iterators, order)

    def factor_domain(self, factor: Access) -> isl.Set:
        """The iterations of the update, without the iterators that ``factor`` does not use."""
        unused = set(self.update.iterators) - _names(factor) - {self.iterator}
        return _without(self.update.domain.set, self.update.iterators, unused).reset_tuple_id()

    def factor_iterators(self, factor: Access) -> tuple[str, ...]:
        return tuple(i for i in self.update.iterators if i in _names(factor) or i == self.iterator)

    @property
    def masks_say_all(self) -> bool:
        """Whether each stored element sums over exactly the iterations in which either factor is loaded."""
        iterators = self.update.iterators
        products = self.update.domain.set.reset_tuple_id()
        stored = _widened(self.elements, [i for i in iterators if i != self.iterator], iterators)
        with effort(_("whether the masks of the factors are sufficient")):
            return all(
                _widened(self.factor_domain(f), self.factor_iterators(f), iterators)
                .intersect(stored)
                .is_equal(products)
                for f in (self.left, self.right)
            )


def contraction_of(schedule: Schedule) -> tuple[Contraction, tuple[BlockAxis, ...]] | None:
    """The sum of products that ``schedule`` computes in tiles, with its axes; None for any other nest.

    A nest that only looks like one (a guard on the statement that sets the target, a factor that changes) gives None.
    """
    found = _shape_of(schedule.scop)
    if found is None or not _is_one(schedule.scop, found):
        return None
    try:
        shape = axes(schedule, found.update.name)
    except NotABlockProgram:
        return None
    tiled = any(axis.block > 1 for axis in shape)
    fits = {a.iterator for a in shape} == set(found.update.iterators)
    if not tiled or not fits or any(a.in_grid == (a.iterator == found.iterator) for a in shape):
        return None
    return found, shape


def _shape_of(scop: Instances) -> Contraction | None:
    """The parts of a nest with the shape of a sum of products; None for others."""
    update = scop.statements[-1]
    body = update.body
    if (
        body is None
        or body.guard is not None
        or body.op != "+"
        or not isinstance(body.value, Binary)
        or body.value.op != "*"
    ):
        return None
    left, right = body.value.left, body.value.right
    if not all(access.is_affine for access in update.accesses):
        return None
    summed = [i for i in update.iterators if i not in _names(update.writes[0])]
    if not isinstance(left, Load) or not isinstance(right, Load) or len(summed) != 1:
        return None
    factors = update.access(left), update.access(right)
    if len(scop.statements) == 1:
        return Contraction(update, summed[0], *factors, None, None)
    start = scop.statements[0]
    first = _constant(start.body.value) if start.body and not start.body.op and not start.body.guard else None
    if len(scop.statements) == 2 and first is not None:
        return Contraction(update, summed[0], *factors, start, first)
    return None


def _is_one(scop: Instances, c: Contraction) -> bool:
    """Whether a kernel that sums in a register and stores once computes the same as the nest."""
    target = c.target
    if target.array in (c.left.array, c.right.array):
        return False
    if any(e.quotients for a in (target, c.left, c.right) for e in a.expressions):
        return False
    every = [c.update, *([c.start] if c.start else [])]
    with effort(_("whether the nest is one sum of products")):
        if any(_reaches_below_zero(s) for s in every):
            return False
        if c.start is None:
            return True
        kept = [i for i in c.update.iterators if i != c.iterator]
        if sorted(c.start.iterators) != sorted(kept) or c.start.writes[0].subscripts != target.subscripts:
            return False
        added = _without(c.update.domain.set, c.update.iterators, {c.iterator}).reset_tuple_id()
        late = any(d.source == c.update.name and d.target == c.start.name for d in scop.dependences)
        return not late and added.is_subset(c.elements)


def _reaches_below_zero(statement: Statement) -> bool:
    domain = statement.domain.set
    for k in range(len(statement.iterators)):
        if not domain.lower_bound_val(isl.dim_type.set, k, isl.Val(0)).is_equal(domain):
            return True
    return False


def _without(domain: isl.Set, iterators: tuple[str, ...], unused: set[str]) -> isl.Set:
    for k in reversed(range(len(iterators))):
        if iterators[k] in unused:
            domain = domain.project_out(isl.dim_type.set, k, 1)
    return domain


def _widened(domain: isl.Set, own: list[str] | tuple[str, ...], iterators: tuple[str, ...]) -> isl.Set:
    """``domain`` over its ``own`` iterators as a set over all ``iterators``."""
    text = f"{{ [{', '.join(map(isl_name, own))}] -> [{', '.join(map(isl_name, iterators))}] }}"
    return domain.apply(isl.Map(text))


def _arranged(domain: isl.Set, own: tuple[str, ...], order: list[str]) -> isl.Set:
    return _widened(domain.reset_tuple_id(), own, tuple(order))


def _names(access: Access) -> frozenset[str]:
    return frozenset(name for e in access.expressions for name in e.names)


def _constant(value: Expr) -> int | float | None:
    match value:
        case Number():
            return value.value
        case Unary(op="-", operand=Number(value=number)):
            return -number
    return None
