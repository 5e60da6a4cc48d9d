"""The bounds of a loop: its iterations as a formula, and the conditions that only end it early."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula, Value, add, scale
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_effort import answered
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text
from triton_lab.polyhedral.core.loop_nest import Compare, For, If, Name, leave_unless
from triton_lab.polyhedral.core.source_text import NotAScop
from triton_lab.polyhedral.frontends.c_types import limits
from triton_lab.polyhedral.nest_scope import NestNames, NestScope, Stop


@dataclass(frozen=True)
class LoopBounds:
    """The iterations of a loop in ``inner``, the scope of its body; at the conditions ``leave`` it ends early.

    ``bounded``: the conditions alone end it.
    """

    inner: NestScope
    leave: tuple[If, ...]
    bounded: bool


def bounds_of(node: For, scope: NestScope, names: NestNames) -> LoopBounds:
    """The bounds of the loop ``node``, which stands in ``scope``. Raises `NotAScop`."""
    name = node.iterator
    start = names.affine(node.start, scope, _("a bound of {name}").format(name=name))
    kind = node.type or names.types.get(name, "")
    inner = replace(
        scope,
        iterators=(*scope.iterators, name),
        aliases={k: v for k, v in scope.aliases.items() if k != name},
        types={**scope.types, name: kind},
    )
    reader = names.reader(scope)
    one_by_one = Compare(">=" if node.step > 0 else "<=", Name(name), node.start, node.start.span)
    text = f"{name} {one_by_one.op} {reader.text(node.start)}"
    formula = affine_conditions.compare(one_by_one.op, AffineExpr.of(name), start, text, node.start.span)
    began = replace(inner, formula=affine_conditions.conjunction(scope.formula, formula))
    leave: list[If] = []
    refused: NotAScop | None = None
    ends = False
    for condition in node.conditions:
        try:
            bound = _bound(condition, node, began, names, start)
        except NotAScop as why:
            if not names.reads_memory(condition, inner):
                raise
            refused = refused or why
            bound = None
        if bound is None:
            leave.append(leave_unless(condition))
        else:
            ends = True
            formula = affine_conditions.conjunction(formula, bound)
    if refused is not None and not ends:
        raise refused
    if abs(node.step) > 1:
        offset = add(AffineExpr.of(name), scale(start, -1))
        whole = scale(affine_conditions.floor_divide(offset, abs(node.step)), abs(node.step))
        text = _("{name} advances by {step}").format(name=name, step=node.step)
        formula = affine_conditions.conjunction(
            formula, affine_conditions.compare("==", offset, whole, text, node.span)
        )
    inner = replace(inner, formula=affine_conditions.conjunction(scope.formula, formula))
    if limits(kind) is not None and kind not in ("int32", "int64"):
        _refuse_wrap(node, inner, kind, names)
    return LoopBounds(inner, tuple(leave), ends)


def _bound(condition: Compare, node: For, scope: NestScope, names: NestNames, start: Value) -> Formula | None:
    """The iterations that ``condition`` allows, if it lets the loop run up to some iteration; None for another one."""
    role = _("a bound of {iterator}").format(iterator=node.iterator)
    left, right = (names.affine(e, scope, role) for e in (condition.left, condition.right))
    if any(kind.startswith("u") for kind in {**names.types, **scope.types}.values()):
        names.condition(condition, scope)  # refuses what may wrap around
    text = names.reader(scope).text(condition)
    if not text or node.iterator not in text:  # Python's range gives only the stop
        text = f"{node.iterator} {condition.op} {names.reader(scope).text(condition.right)}"
    op = condition.op
    if op == "!=":
        # The loop must end: it counts towards the value that ends it, and does not step over it.
        grows = _slope(add(left, scale(right, -1)), node.iterator) * node.step
        if grows == 0:
            return None
        op = "<" if grows > 0 else ">"
        first = affine_conditions.compare(">" if grows > 0 else "<", start, right)
        if scope.types[node.iterator].startswith("u") and not names.reader(scope).never(first, text):
            names.refuse(_("the loop may wrap around before it ends: write {op} for !=").format(op=op), condition.span)
    formula = affine_conditions.compare(op, left, right, text, condition.span)
    return formula if formula and all(_ends(case, node) for case in formula) else None


def _ends(case: tuple[Constraint, ...], node: For) -> bool:
    """Whether these constraints hold up to some iteration, and for none after it."""
    slopes = [c.slope(node.iterator) * node.step for c in case if node.iterator in c.expression.names]
    return bool(slopes) and all(slope < 0 for slope in slopes) and not any(c.equality for c in case)


def _slope(value: Value, iterator: str) -> int:
    return Constraint(value).slope(iterator) if isinstance(value, AffineExpr) else 0


def _refuse_wrap(node: For, inner: NestScope, kind: str, names: NestNames) -> None:
    """Refuse a loop whose iterator leaves the range of its type, where it wraps around."""
    following = AffineExpr.of(node.iterator) + node.step
    if not names.reader(inner).stays(following, kind, Name(node.iterator, node.span)):
        names.refuse(
            _("{iterator} may wrap around: it is {kind}; use int, or a bound that it cannot pass").format(
                iterator=node.iterator, kind=kind
            ),
            node.span,
        )


def iteration_set(formula: Formula, iterators: tuple[str, ...], parameters: tuple[str, ...]) -> isl.Set:
    """The points of ``formula``, without a name."""
    head = f"[{', '.join(isl_name(i) for i in iterators)}]"
    text = f"{space_text(parameters)}{{ {head} : {formula_text(formula)} }}"
    return answered(_("the iterations of a loop"), lambda: isl.Set(text))


def before_stops(
    points: isl.Set, iterators: tuple[str, ...], stops: tuple[Stop, ...], parameters: tuple[str, ...]
) -> isl.Set:
    """``points`` without those that come after a loop was left."""

    def ask(stop: Stop, left: isl.Set) -> isl.Set:
        depth = stop.depth
        own = iterators[: depth + 1]
        met = iteration_set(stop.formula, own, parameters)
        around = ", ".join(f"x{k}" for k in range(depth))
        sep = ", " if depth else ""
        later = isl.Map(f"{{ [{around}{sep}k] -> [{around}{sep}i] : {'k < i' if stop.forwards else 'k > i'} }}")
        dead = met.apply(later).add_dims(isl.dim_type.set, len(iterators) - depth - 1)
        return left.subtract(dead.align_params(left.get_space())).coalesce()

    for stop in stops:
        points = answered(_("the iterations before a break"), lambda stop=stop, left=points: ask(stop, left))  # type: ignore[misc]
    return points


def is_bounded(points: isl.Set, depth: int, forwards: bool) -> bool:
    """Whether the loop at ``depth`` ends for all values of what is around it."""
    if forwards:
        return bool(points.is_empty() or points.dim_has_upper_bound(isl.dim_type.set, depth))
    return bool(points.is_empty() or points.dim_has_lower_bound(isl.dim_type.set, depth))
