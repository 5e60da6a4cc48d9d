"""What may stand in place of an expression of a kernel's text: other operators, numbers and names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from triton_lab.localization import _

Change = tuple[ast.expr, str]
"""What is written, and what kind of cause that is."""

_SIBLINGS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Div, ast.FloorDiv),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}


def otherwise(node: ast.AST, names: Sequence[str], numbers: bool) -> Iterator[Change]:
    """What may stand in place of a node: one of ``names`` for a name, and other numbers if ``numbers``."""
    if isinstance(node, ast.BinOp):
        for kind in _SIBLINGS.get(type(node.op), ()):
            yield ast.BinOp(node.left, kind(), node.right), _("a wrong operator")
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)):
            yield ast.BinOp(node.right, node.op, node.left), _("the order of operands")
        yield node.left, _("a wrong value")
        yield node.right, _("a wrong value")
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand, _("a wrong operator")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in _COMPARED.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators), _("a condition")
    elif isinstance(node, ast.Constant) and numbers and type(node.value) is int:
        for value in dict.fromkeys((node.value + 1, node.value - 1, 2 * node.value, 0, 1)):
            if value != node.value:
                yield ast.Constant(value), _("a wrong number")
    elif isinstance(node, ast.Name):
        for name in names:
            if name != node.id:
                yield ast.Name(name, ast.Load()), _("a wrong value")


def further_conditions(node: ast.AST, scalars: Sequence[str]) -> Iterator[Change]:
    """A comparison and one more of the same index: with 0, and with each of ``scalars``."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        more = [ast.Compare(node.left, [ast.GtE()], [ast.Constant(0)])]
        more += [ast.Compare(node.left, [ast.Lt()], [ast.Name(name, ast.Load())]) for name in scalars]
        for one in more:
            yield ast.BinOp(node, ast.BitAnd(), one), _("a missing condition")
