"""Parses a Python function with loops over arrays into a loop nest."""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterable
from typing import NoReturn

from triton_lab.localization import N_, _, translated
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.loop_nest import (
    BITWISE,
    MATHEMATICS,
    Assign,
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    For,
    If,
    Jump,
    Load,
    Logic,
    Name,
    Nest,
    Node,
    Number,
    Opaque,
    Unary,
    walk,
)
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span
from triton_lab.polyhedral.frontends.python_text import python_tree

_FUNCTIONS = {
    "min": "min", "max": "max", "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max", "abs": "abs",
    "absolute": "abs", "fabs": "abs", "float": "float64", "int": "int64",
    **{name: name for name in ("float32", "float64", "int32", "int64", *MATHEMATICS)},
    "power": "pow", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_LARGEST = sys.float_info.max
_REFUSED: dict[type[ast.stmt], str] = {
    ast.Return: N_("return leaves the nest early, so the bounds would not give the iterations"),
    ast.While: N_("the bounds of while are not known before it runs: write a for over a range"),
}


def nest_from_python(source: SourceText, lenient: bool = False) -> Nest:
    """The loops of the function (or the bare loops) in ``source``. Raises `NotAScop`; where ``lenient``, only for what
    is no Python, and what it refuses otherwise is an `Opaque` node."""
    lines = source.lines
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    try:
        tree = python_tree(textwrap.dedent(source.text))
    except SyntaxError as error:
        line, column = error.lineno or 1, (error.offset or 1) + indent
        end = (error.end_offset or 0) + indent if error.end_lineno == error.lineno else 0
        span = Span(line + source.first_line - 1, column, max(end, column + 1))
        raise NotAScop(error.msg, source, span) from None
    return _Reader(source, indent, lenient).nest(tree)


class _Reader:
    def __init__(self, source: SourceText, indent: int, lenient: bool) -> None:
        self.source = source
        self.lenient = lenient
        self.indent = indent
        self.lines = textwrap.dedent(source.text).split("\n")
        self.sizes: dict[str, None] = {}  # the parameters that stand for sizes of arrays

    def nest(self, tree: ast.Module) -> Nest:
        match tree.body:
            case [ast.FunctionDef(body=body)]:
                # A trailing `return C` returns the result: it is no early exit.
                if body and isinstance(body[-1], ast.Return):
                    body = body[:-1]
            case _:
                body = tree.body
        nodes = self._block(body)
        return Nest(nodes, "python", parameters=tuple(self.sizes))

    def _block(self, body: list[ast.stmt]) -> tuple[Node, ...]:
        return tuple(out for statement in body for out in self._item(statement))

    def _item(self, node: ast.stmt) -> tuple[Node, ...]:
        try:
            return self._statement(node)
        except NotAScop as refused:
            if not self.lenient:
                raise
            inside: list[ast.stmt] = [*getattr(node, "body", ()), *getattr(node, "orelse", ())]
            target = getattr(node, "target", None)
            iterators = (target.id,) if isinstance(node, ast.For) and isinstance(target, ast.Name) else ()
            return (Opaque(refused, self._block(inside), iterators, self._span(node)),)

    def _statement(self, node: ast.stmt) -> tuple[Node, ...]:
        match node:
            case ast.For():
                return (self._for(node),)
            case ast.If():
                condition = self._expression(node.test)
                return (If(condition, self._block(node.body), self._block(node.orelse), self._span(node)),)
            case ast.Assign(
                targets=[ast.Tuple() as names], value=ast.Attribute(attr="shape", value=ast.Name(id=array))
            ):
                return tuple(
                    Assign(self._target(name), self._size(array, k, name), "", self._span(node))
                    for k, name in enumerate(names.elts)
                )
            case ast.Assign(targets=targets):
                return self._assignments(targets, node)
            case ast.AnnAssign(value=ast.expr() as value):
                return (Assign(self._target(node.target), self._expression(value), "", self._span(node)),)
            case ast.AugAssign():
                op = _BINARY.get(type(node.op), "")
                if op not in BITWISE and op not in ("+", "-", "*", "/", "%"):
                    self._refuse(_("this assignment is not supported: write it with ="), node)
                return (Assign(self._target(node.target), self._expression(node.value), op, self._span(node)),)
            case ast.Break() | ast.Continue():
                return (Jump(type(node).__name__.lower(), self._span(node)),)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return ()
            case ast.Expr(value=ast.Call()):
                self._refuse(_("a call may change anything: write an assignment"), node)
        reason = translated(_REFUSED.get(type(node), "")) or _(
            "{type}: a statement must be a loop, an if or an assignment"
        ).format(type=type(node).__name__)
        self._refuse(reason, node)

    def _assignments(self, targets: list[ast.expr], node: ast.Assign) -> tuple[Assign, ...]:
        """``a = b = c`` computes ``c`` once and assigns from the left."""
        value, span = self._expression(node.value), self._span(node)
        found = [self._target(target) for target in targets]
        changed = {target.array for target in found[:-1]}
        later = (value, *(index for target in found[1:] for index in target.indices))
        if changed & _read(later):
            self._refuse(_("this assignment reads a value that it changes: write one assignment per line"), node)
        return tuple(Assign(target, value, "", span) for target in found)

    def _for(self, node: ast.For) -> For:
        if not isinstance(node.target, ast.Name):
            self._refuse(_("a loop must have one iterator"), node.target)
        if node.orelse:
            self._refuse(_("else of a loop is not allowed in a loop nest"), node.orelse[0])
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=arguments) if 1 <= len(arguments) <= 3:
                pass
            case _:
                self._refuse(_("a loop must run over a range(...)"), node.iter)
        span = self._span(node.iter)
        start: Expr = Number(0, span) if len(arguments) == 1 else self._expression(arguments[0])
        stop = self._expression(arguments[0] if len(arguments) == 1 else arguments[1])
        step = self._step(arguments[2]) if len(arguments) == 3 else 1
        condition = Compare("<" if step > 0 else ">", Name(node.target.id, span), stop, stop.span)
        return For(node.target.id, start, (condition,), step, self._block(node.body), self._span(node))

    def _step(self, node: ast.expr) -> int:
        value = self._expression(node)
        if isinstance(value, Unary) and isinstance(value.operand, Number):
            value = Number(-value.operand.value)
        if not isinstance(value, Number) or not isinstance(value.value, int):
            self._refuse(_("a step must be an integer constant"), node)
        if value.value == 0:
            self._refuse(_("a loop with step 0 never ends"), node)
        return value.value

    def _target(self, node: ast.expr) -> Load:
        if isinstance(node, ast.Name):
            return Load(node.id, (), self._span(node))
        target = self._expression(node) if isinstance(node, ast.Subscript) else None
        if not isinstance(target, Load):
            self._refuse(_("only array elements and scalars can be assigned"), node)
        return target

    def _expression(self, node: ast.expr) -> Expr:
        span = self._span(node)
        match node:
            case ast.Constant(value=bool() as value):
                return Number(int(value), span)
            case ast.Constant(value=(int() | float()) as value):
                if abs(value) > _LARGEST:
                    self._refuse(_("this number is greater than the greatest float"), node)
                return Number(value, span)
            case ast.Name():
                return Name(node.id, span)
            case ast.Subscript(
                value=ast.Attribute(attr="shape", value=ast.Name(id=array)), slice=ast.Constant(value=int() as axis)
            ):
                return self._size(array, axis, node)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)]):
                return self._size(array, 0, node)
            case ast.Subscript():
                return self._load(node)
            case ast.UnaryOp(op=ast.USub()):
                return Unary("-", self._expression(node.operand), span)
            case ast.UnaryOp(op=ast.UAdd()):
                return self._expression(node.operand)
            case ast.UnaryOp(op=(ast.Not() | ast.Invert()) as sign):
                return Unary("not" if isinstance(sign, ast.Not) else "~", self._expression(node.operand), span)
            case ast.BinOp() if type(node.op) in _BINARY:
                return self._operations(node)
            case ast.BoolOp():
                op = "and" if isinstance(node.op, ast.And) else "or"
                return Logic(op, tuple(self._expression(e) for e in node.values), span)
            case ast.Compare() if all(type(op) in _COMPARE for op in node.ops):
                return self._comparison(node, span)
            case ast.IfExp():
                condition, yes, no = (self._expression(e) for e in (node.test, node.body, node.orelse))
                return Choose(condition, yes, no, span)
            case ast.Call():
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name not in _FUNCTIONS or node.keywords:
                    self._refuse(_("a call of an unknown function may change anything"), node)
                return self._call(name, node, span)
            case ast.Slice():
                self._refuse(_("a slice is many elements at once: write the loop over them"), node)
        self._refuse(_("this expression is not allowed in a loop nest"), node)

    def _operations(self, node: ast.expr) -> Expr:
        """A chain of operations of any length: ``a + b + c``."""
        chain: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            chain.append(node)
            node = node.left
        value = self._expression(node)
        for part in reversed(chain):
            value = Binary(_BINARY[type(part.op)], value, self._expression(part.right), self._span(part))
        return value

    def _call(self, name: str, node: ast.Call, span: Span) -> Expr:
        function, arguments = _FUNCTIONS[name], tuple(self._expression(e) for e in node.args)
        wanted = MATHEMATICS.get(function, len(arguments))
        if len(arguments) != wanted or not arguments:
            takes = counted(wanted, "argument") if wanted else "some arguments"
            self._refuse(f"{name} takes {takes}", node)
        in_math = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "math"
        if function == "pow" and not in_math:  # Python's and NumPy's pow keep integers integral, as ** does
            return Binary("**", arguments[0], arguments[1], span)
        return Call(function, arguments, span)

    def _size(self, array: str, axis: int, node: ast.expr) -> Name:
        name = shape_parameter(array, axis)
        self.sizes.setdefault(name)
        return Name(name, self._span(node))

    def _comparison(self, node: ast.Compare, span: Span) -> Expr:
        values = [self._expression(e) for e in (node.left, *node.comparators)]
        pairs = tuple(
            Compare(_COMPARE[type(op)], left, right, span)
            for op, left, right in zip(node.ops, values, values[1:], strict=False)
        )
        return pairs[0] if len(pairs) == 1 else Logic("and", pairs, span)

    def _load(self, node: ast.Subscript) -> Load:
        indices: list[Expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            subscripts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            indices = [self._expression(e) for e in subscripts] + indices
            base = base.value
        if not isinstance(base, ast.Name):
            self._refuse(_("subscript an array by its name"), node)
        return Load(base.id, tuple(indices), self._span(node))

    def _span(self, node: ast.AST) -> Span:
        line: int = node.lineno  # type: ignore[attr-defined]
        text = self.lines[line - 1].encode()

        def column(byte: int) -> int:  # ast counts columns in bytes of UTF-8
            return len(text[:byte].decode()) + self.indent + 1

        start = column(node.col_offset)  # type: ignore[attr-defined]
        same_line = node.end_lineno == line  # type: ignore[attr-defined]
        end = column(node.end_col_offset) if same_line else len(self.lines[line - 1]) + self.indent + 1  # type: ignore[attr-defined]
        return Span(line + self.source.first_line - 1, start, end)

    def _refuse(self, reason: str, node: ast.AST) -> NoReturn:
        raise NotAScop(reason, self.source, self._span(node))


def _read(expressions: Iterable[Expr]) -> set[str]:
    """The arrays and scalars in ``expressions``."""
    every = [part for expression in expressions for part in walk(expression)]
    return {part.array for part in every if isinstance(part, Load)} | {p.id for p in every if isinstance(p, Name)}


def shape_parameter(array: str, axis: int) -> str:
    """The parameter that represents ``array.shape[axis]``."""
    return f"{array}_shape_{axis}"
