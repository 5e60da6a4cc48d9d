"""Parses the heads of C's loops: first values, conditions and steps."""

from __future__ import annotations

from typing import Any, NoReturn

from pycparser import c_ast

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.loop_nest import Binary, Expr, Name, Number, Unary
from triton_lab.polyhedral.frontends.c_expressions import ExpressionReader


class LoopHeadReader(ExpressionReader):
    """Reads the three parts of ``for (...; ...; ...)``. Raises `NotAScop`."""

    def starts(self, node: Any) -> dict[str, tuple[Expr, str]]:
        """The first value of each variable, and its type where the loop declares it."""
        match node.init:
            case None:
                return {}
            case c_ast.DeclList(decls=declarations) if all(d.init is not None for d in declarations):
                found = {}
                for one in declarations:
                    kind = self.element_type(one)
                    if "int" not in kind:
                        self.refuse(_("the iterator {name} must be an integer").format(name=one.name), one)
                    found[one.name] = (self.expression(one.init), kind)
                return found
            case c_ast.Assignment() | c_ast.ExprList():
                parts = node.init.exprs if isinstance(node.init, c_ast.ExprList) else [node.init]
                if all(
                    isinstance(p, c_ast.Assignment) and p.op == "=" and isinstance(p.lvalue, c_ast.ID) for p in parts
                ):
                    return {p.lvalue.name: (self.expression(p.rvalue), "") for p in parts}
        self.refuse(_("a loop must start by assigning its first value to one iterator"), node.init or node)

    def conditions(self, node: Any) -> list[Expr]:
        """The conditions that all must hold."""
        if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
            return self.conditions(node.left) + self.conditions(node.right)
        condition = self.expression(node)
        return [] if isinstance(condition, Number) and condition.value else [condition]

    def steps(self, node: Any, iterator: str) -> dict[str, int]:
        """The step of each variable that the loop advances."""
        found: dict[str, int] = {}
        parts = node.next.exprs if isinstance(node.next, c_ast.ExprList) else [node.next]
        for part in parts:
            match part:
                case c_ast.UnaryOp(op=("p++" | "++"), expr=c_ast.ID(name=name)):
                    step = 1
                case c_ast.UnaryOp(op=("p--" | "--"), expr=c_ast.ID(name=name)):
                    step = -1
                case c_ast.Assignment(op=("+=" | "-="), lvalue=c_ast.ID(name=name)):
                    step = self.integer(part.rvalue) * (1 if part.op == "+=" else -1)
                case c_ast.Assignment(
                    op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.BinaryOp(op=("+" | "-"), left=c_ast.ID(name=again))
                ) if name == again:
                    step = self.integer(part.rvalue.right) * (1 if part.rvalue.op == "+" else -1)
                case _:
                    self.refuse_step(iterator, part or node)
            if step == 0:
                self.refuse(_("a loop with step 0 never ends"), part)
            if name in found:
                self.refuse_step(name, part)
            found[name] = step
        return found

    def refuse_step(self, iterator: str, node: Any) -> NoReturn:
        """Raise `NotAScop` at a step that is no constant."""
        self.refuse(
            _("the loop must advance its own iterator {iterator} by a constant").format(iterator=iterator), node
        )

    def integer(self, node: Any) -> int:
        """The constant ``node``; sums in which names cancel out are constant, too."""
        value = _folded(self.expression(node))
        if value is None or not value.is_constant:
            self.refuse(_("a step must be an integer constant"), node)
        return value.constant


def _folded(value: Expr) -> AffineExpr | None:
    """Sums and differences of integers and names; None for all else."""
    match value:
        case Number(value=int() as number):
            return AffineExpr((), number)
        case Name(id=name):
            return AffineExpr.of(name)
        case Unary(op="-", operand=operand):
            inner = _folded(operand)
            return None if inner is None else AffineExpr() - inner
        case Binary(op=("+" | "-") as op, left=one, right=other):
            left, right = _folded(one), _folded(other)
            if left is None or right is None:
                return None
            return left + right if op == "+" else left - right
    return None


def along(iterator: str, start: Expr, step: int, first: Expr, other: int) -> Expr:
    """A second iterator as a function of the loop's: both count the same iterations."""
    away = Binary("-", Name(iterator, start.span), start, start.span)
    count: Expr = away if step > 0 else Unary("-", away, start.span)
    count = count if abs(step) == 1 else Binary("//", count, Number(abs(step), start.span), start.span)
    return Binary("+", first, Binary("*", Number(other, start.span), count, start.span), start.span)
