"""isl's code generation: turns a schedule map into loops, as our own nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import source_name
from triton_lab.polyhedral.core.isl_effort import OPERATIONS, answered, effort
from triton_lab.polyhedral.core.loop_nest import (
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    For,
    If,
    Logic,
    Name,
    Node,
    Number,
    Unary,
    Visit,
    rebuild,
)

# islpy's stubs lack the enumerations' members and their comparisons.
_isl: Any = isl
_OP = _isl.ast_expr_op_type
_BINARY = {
    _OP.add: "+", _OP.sub: "-", _OP.mul: "*", _OP.div: "//", _OP.fdiv_q: "//", _OP.pdiv_q: "//", _OP.pdiv_r: "%",
    _OP.zdiv_r: "%",
}  # fmt: skip
_COMPARE = {_OP.eq: "==", _OP.le: "<=", _OP.lt: "<", _OP.ge: ">=", _OP.gt: ">"}
_LOGIC = {_OP.and_: "and", _OP.and_then: "and", _OP.or_: "or", _OP.or_else: "or"}

# (depth, names of the statements inside, names of the loops around) -> (loop's name, mark). Depths beyond the time
# dimensions are the iterators.
Describe = Callable[[int, frozenset[str], frozenset[str]], tuple[str, str]]


def loops(
    schedule: isl.UnionMap,
    depth: int,
    describe: Describe,
    context: isl.Set | None = None,
    unrolled: isl.UnionMap | None = None,
) -> tuple[Node, ...]:
    """The program that visits the domain of ``schedule`` in the order of its ``depth`` time dimensions.

    ``context`` holds facts about the parameters; ``unrolled`` has isl's options for loops to unroll.
    """
    ask = partial(_generated, schedule, depth, describe, context, unrolled)
    # Long programs, above all unrolled ones, take many operations, but none of them is hard.
    return answered(_("the loops of this order"), ask, (5 if unrolled is None else 20) * OPERATIONS)


def _generated(
    schedule: isl.UnionMap, depth: int, describe: Describe, context: isl.Set | None, unrolled: isl.UnionMap | None
) -> tuple[Node, ...]:
    build = isl.AstBuild.from_context(context if context is not None else isl.Set("{ : }"))
    names = isl.IdList.alloc(isl.DEFAULT_CONTEXT, depth)
    for k in range(depth):
        names = names.add(isl.Id(f"t{k}_"))
    build = build.set_iterators(names)
    if unrolled is not None:
        build = build.set_options(unrolled)
    return _Reader(describe).block(build.node_from_schedule_map(schedule), {})


def expression_of(value: isl.PwAff, context: isl.Set) -> Expr:
    """``value`` as an expression in its parameters, for those in ``context``."""
    build = isl.AstBuild.from_context(context)
    with effort(_("the bounds of a loop")):
        return _Reader(lambda *_: ("", "")).expression(build.expr_from_pw_aff(value), {})


def condition_of(domain: isl.Set, context: isl.Set) -> Expr | None:
    """The condition under which the named dimensions of ``domain`` are in it; None if they always are.

    The parameters are assumed to be in ``context``.
    """
    build = isl.AstBuild.from_context(context)
    count = domain.dim(isl.dim_type.set)
    moved = domain.move_dims(isl.dim_type.param, domain.dim(isl.dim_type.param), isl.dim_type.set, 0, count)
    with effort(_("the conditions of a block")):
        found = _Reader(lambda *_: ("", "")).expression(build.expr_from_set(moved.params()), {})
    return None if found == Number(1) else rebuild(found, _turned)


def _turned(expression: Expr) -> Expr:
    """Rewrites ``n >= y + 1`` as ``y < n``."""
    match expression:
        case Compare(op=">=", left=Name() as bound, right=Binary(op="+", left=least, right=Number(value=1))):
            return Compare("<", least, bound)
        case Compare(op=">=", left=Name() as bound, right=Name() as least):
            return Compare("<=", least, bound)
    return expression


class _Reader:
    def __init__(self, describe: Describe) -> None:
        self.describe = describe

    def block(self, node: Any, names: dict[str, Expr]) -> tuple[Node, ...]:
        """``node`` as our nodes; ``names``: isl's iterators -> expressions in the names that we print."""
        kind = node.get_type()
        if kind == _isl.ast_node_type.block:
            children = node.block_get_children()
            every = (children.get_at(k) for k in range(children.n_ast_node()))
            return tuple(out for child in every for out in self.block(child, names))
        if kind == _isl.ast_node_type.for_:
            return self._for(node, names)
        if kind == _isl.ast_node_type.if_:
            orelse = self.block(node.if_get_else_node(), names) if node.if_has_else_node() else ()
            condition = self.expression(node.if_get_cond(), names)
            return (If(condition, self.block(node.if_get_then_node(), names), orelse),)
        call = node.user_get_expr()
        arguments = tuple(self.expression(call.get_op_arg(k), names) for k in range(1, call.get_op_n_arg()))
        return (Visit(call.get_op_arg(0).get_id().get_name(), arguments),)

    def _for(self, node: Any, names: dict[str, Expr]) -> tuple[Node, ...]:
        iterator = node.for_get_iterator().get_id().get_name()
        start = self.expression(node.for_get_init(), names)
        if node.for_is_degenerate():  # one iteration: its value replaces the iterator
            return self.block(node.for_get_body(), {**names, iterator: start})
        inside = frozenset(_statements(node))
        # Where instances have equal times, isl adds loops ("c4") over the iterators behind the time dimensions.
        taken = frozenset(e.id for e in names.values() if isinstance(e, Name))
        name, mark = self.describe(int(iterator.strip("tc_")), inside, taken)
        while name in taken:
            name += "_"
        names = {**names, iterator: Name(name)}
        condition = self.expression(node.for_get_cond(), names)
        step = node.for_get_inc().get_val().to_python()
        return (For(name, start, _conditions(condition), step, self.block(node.for_get_body(), names), mark=mark),)

    def expression(self, node: Any, names: dict[str, Expr]) -> Expr:
        kind = node.get_type()
        if kind == _isl.ast_expr_type.int:
            return Number(node.get_val().to_python())
        if kind == _isl.ast_expr_type.id:
            name = node.get_id().get_name()
            return names.get(name, Name(source_name(name)))
        op = node.get_op_type()
        arguments = tuple(self.expression(node.get_op_arg(k), names) for k in range(node.get_op_n_arg()))
        if op in _BINARY:
            return _tidy(Binary(_BINARY[op], arguments[0], arguments[1]))
        if op in _COMPARE:
            return Compare(_COMPARE[op], arguments[0], arguments[1])
        if op in _LOGIC:
            return Logic(_LOGIC[op], arguments)
        if op == _OP.minus:
            return Unary("-", arguments[0])
        if op in (_OP.min, _OP.max):
            return Call("min" if op == _OP.min else "max", arguments)
        if op in (_OP.cond, _OP.select):
            return Choose(arguments[0], arguments[1], arguments[2])
        raise NotImplementedError(_("isl's operation {op}").format(op=op))


def _conditions(condition: Expr) -> tuple[Compare, ...]:
    """The conjuncts; ``i < min(a, b)`` stays one."""
    parts = condition.operands if isinstance(condition, Logic) and condition.op == "and" else (condition,)
    return tuple(part for part in parts if isinstance(part, Compare))


def _statements(node: Any) -> list[str]:
    kind = node.get_type()
    if kind == _isl.ast_node_type.block:
        children = node.block_get_children()
        return [name for k in range(children.n_ast_node()) for name in _statements(children.get_at(k))]
    if kind == _isl.ast_node_type.for_:
        return _statements(node.for_get_body())
    if kind == _isl.ast_node_type.if_:
        orelse = _statements(node.if_get_else_node()) if node.if_has_else_node() else []
        return _statements(node.if_get_then_node()) + orelse
    return [node.user_get_expr().get_op_arg(0).get_id().get_name()]


def _tidy(expression: Binary) -> Expr:
    """Write a sum with a negated right side as a difference."""
    if expression.op == "+" and isinstance(expression.right, Unary) and expression.right.op == "-":
        return Binary("-", expression.left, expression.right.operand)
    if expression.op == "+" and isinstance(expression.left, Unary) and expression.left.op == "-":
        return Binary("-", expression.right, expression.left.operand)
    return expression
