"""The kinds of a function's expressions, as far as its text shows them: numbers or truth values."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

Kind = Literal["number", "truth"]

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Div, ast.LShift, ast.RShift)
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_NUMBERS = {"arange", "program_id", "num_programs", "cdiv"}  # calls that return integers, whatever their arguments


class Kinds:
    """For each expression its kind, None if it is not sure, and whether it is known at compile time."""

    def __init__(self, tree: ast.AST) -> None:
        # What is assigned to each name; None for a value that cannot be examined.
        self._given: dict[str, list[ast.expr | None]] = {}
        self._constants: set[str] = set()
        self._known: dict[str, Kind | None] = {}
        self._asked: set[str] = set()
        for node in ast.walk(tree):
            match node:
                case ast.arg(arg=name, annotation=annotation):
                    self._give(name, None, annotation)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(target, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=value, annotation=annotation):
                    self._give(name, value, annotation)
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    self._give(name, value)
                case ast.For(target=target) | ast.comprehension(target=target) | ast.NamedExpr(target=target):
                    self._assign(target, None)

    def _assign(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._give(target.id, value)
            return
        for one in ast.walk(target):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                self._give(one.id, None)

    def _give(self, name: str, value: ast.expr | None, annotation: ast.expr | None = None) -> None:
        self._given.setdefault(name, []).append(value)
        if annotation is not None and "constexpr" in ast.unparse(annotation):
            self._constants.add(name)

    def of(self, node: ast.expr | None) -> Kind | None:
        """The kind of ``node``. For a name, the kind that all values assigned to it share."""
        match node:
            case ast.Constant(value=bool()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return "truth"
            case ast.Constant(value=int() | float()):
                return "number"
            case ast.Call(func=ast.Attribute(attr=name)) if name in _NUMBERS:
                return "number"
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
                return self.of(inner)
            case ast.BoolOp(values=values):
                return self._all(values)
            case ast.BinOp(left=left, op=op, right=right):
                return self._joined(op, self._kinds((left, right)))
            case ast.Name(id=name):
                return self._named(name)
        return None

    def _joined(self, op: ast.operator, kinds: set[Kind | None]) -> Kind | None:
        if isinstance(op, _BITS) and kinds == {"truth"}:
            return "truth"
        # What is added to a number is no truth value.
        known = isinstance(op, _ARITHMETIC) or (isinstance(op, _BITS) and "number" in kinds)
        return "number" if known and "truth" not in kinds else None

    def _named(self, name: str) -> Kind | None:
        if name not in self._known:
            self._asked.add(name)
            self._known[name] = self._all(self._given.get(name, ()))
            self._asked.remove(name)
        return self._known[name]

    def _all(self, values: Iterable[ast.expr | None]) -> Kind | None:
        kinds = self._kinds(values)
        return kinds.pop() if len(kinds) == 1 else None

    def _kinds(self, values: Iterable[ast.expr | None]) -> set[Kind | None]:
        """The kinds of ``values``. In ``mask = mask & (o < n)`` the name's earlier value does not count."""
        return {self.of(one) for one in values if not (isinstance(one, ast.Name) and one.id in self._asked)}

    def is_constant(self, node: ast.expr) -> bool:
        """Whether ``node`` has only literals, constexprs and globals, and no calls."""
        inner = list(ast.walk(node))
        if any(isinstance(one, ast.Call) for one in inner):
            return False
        names = {one.id for one in inner if isinstance(one, ast.Name)}
        return all(name in self._constants or name not in self._given for name in names)
