"""`Fixed`: which names and expressions of a kernel's text are known when it is compiled; and its name of Triton."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_UNROLLED = "static_range"


def is_unrolled(node: ast.AST) -> bool:
    """Whether it is a loop that the front end unrolls."""
    call = node.iter if isinstance(node, ast.For) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == _UNROLLED


# Functions whose arguments are shapes: another one is another program.
_SHAPES = frozenset({"arange", "zeros", "full", "reshape", "view", "broadcast_to", "static_assert"})


@dataclass(frozen=True)
class Fixed:
    """The ``names`` of constexprs, of variables that are made of them alone, and of counters of unrolled loops."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, tree: ast.Module) -> Fixed:
        """The names in a function's tree."""
        arguments = [each for node in ast.walk(tree) if isinstance(node, ast.arguments) for each in node.args]
        found = cls(tuple(each.arg for each in arguments if "constexpr" in ast.unparse(each.annotation or each)))
        loops = [node.target for node in ast.walk(tree) if isinstance(node, ast.For) and is_unrolled(node)]
        found = cls((*found.names, *(each.id for each in loops if isinstance(each, ast.Name))))
        assigned = [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))]
        for node in assigned:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and found.knows(node.value):
                name = node.targets[0].id
                if all(other is node or name not in _targets(other) for other in assigned):
                    found = cls((*found.names, name))
        return found

    def knows(self, node: ast.AST) -> bool:
        """Whether an expression is made of numbers and these names alone."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float))
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp)):
            return all(self.knows(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        return False

    def outermost(self, node: ast.AST, around: Sequence[ast.AST]) -> ast.AST | None:
        """The largest part of an expression that is known and contains the node; None for shapes, and if it is not."""
        if not isinstance(node, ast.expr) or not self.knows(node):
            return None
        outer: ast.AST = node
        for each in reversed(around):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _SHAPES:
                return None
            if outer is not None and isinstance(each, ast.expr) and self.knows(each):
                outer = each
            elif isinstance(each, (ast.FunctionDef, ast.arg)) or (isinstance(each, ast.For) and each.target is outer):
                break
        return None if any(isinstance(each, (ast.arguments, ast.arg)) for each in around) else outer


def _targets(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def triton_language(function: Any) -> str:
    """What the function's module calls `triton.language`."""
    import triton.language

    return next((name for name, value in function.__globals__.items() if value is triton.language), "tl")
