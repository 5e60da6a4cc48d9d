"""Slips planted in kernels' sources by rules of their own: each mutates one node of the kernel's syntax tree.

They know nothing of the experiments of `lab.compare`. `mutated_kernels` plants them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.launch.comparison.judgement import compiled

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
_CALLED = {
    "max": "sum", "sum": "max", "min": "max", "maximum": "minimum", "minimum": "maximum", "exp": "exp2",
    "exp2": "exp", "sqrt": "rsqrt", "rsqrt": "sqrt", "log": "log2", "sin": "cos", "cos": "sin",
}  # fmt: skip


# The kind of a mutation, with the fields of the node that it changes, or what it puts in the node's place.
_Way = tuple[str, dict[str, Any] | ast.AST]
_Ways = Iterator[_Way]


@dataclass(frozen=True)
class Mutation:
    """What is done in the function of ``text``: ``way``, at the node of its tree with this ``number``."""

    text: str
    number: int
    way: _Way

    @property
    def kind(self) -> str:
        return self.way[0]

    @cached_property
    def tree(self) -> ast.Module:
        """The mutated tree."""
        tree = ast.parse(self.text)
        place, other = list(ast.walk(tree))[self.number], copy.deepcopy(self.way[1])
        if isinstance(other, ast.AST):
            _exchange(tree, place, other)
        else:
            for field, value in other.items():
                setattr(place, field, value)
        return ast.fix_missing_locations(tree)

    @property
    def gone(self) -> str:
        """The name of what a statement that was left out would have changed; "" if none was."""
        place = list(ast.walk(ast.parse(self.text)))[self.number]
        if (
            isinstance(self.way[1], ast.Pass)
            and isinstance(place, ast.AugAssign)
            and isinstance(place.target, ast.Name)
        ):
            return place.target.id
        return ""


def mutations(text: str) -> Iterator[Mutation]:
    """All mutations of the function in ``text``, by kind and place."""
    nodes = list(ast.walk(ast.parse(text)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    looped = {inner for node in nodes if isinstance(node, (ast.For, ast.While)) for inner in ast.walk(node)}
    for number, node in enumerate(nodes):
        for way in [*_of_expression(node, names), *_of_call(node), *(_of_loop(node) if node in looped else ())]:
            yield Mutation(text, number, way)


def _exchange(tree: ast.AST, place: ast.AST, other: ast.AST) -> None:
    """Put ``other`` in the place of a node of ``tree``."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is place:
                setattr(parent, field, other)
            elif isinstance(value, list) and any(one is place for one in value):
                value[:] = [other if one is place else one for one in value]


def _of_expression(node: ast.AST, names: set[str]) -> _Ways:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        yield "operator", {"op": _OPERATORS[type(node.op)]()}
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd)):
            yield "operands exchanged", {"left": node.right, "right": node.left}
        left_out = "condition left out" if isinstance(node.op, ast.BitAnd) else "term or factor left out"
        for side in (node.left, node.right) if isinstance(node.op, (ast.BitAnd, ast.Add)) else (node.left,):
            yield left_out, side
    elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        yield "operator", {"op": _OPERATORS[type(node.op)]()}
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        yield "comparison", {"ops": [_COMPARED[type(node.ops[0])]()]}
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", {"operand": ast.UnaryOp(ast.USub(), node.operand)}
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", {"value": node.value + 1 if isinstance(node.value, int) else node.value * 2}
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for other in sorted(names - {node.id}):
            yield "variable", {"id": other}


def _of_call(node: ast.AST) -> _Ways:
    if not isinstance(node, ast.Call):
        return
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute) and called in _CALLED:
        yield "function", {"func": ast.Attribute(node.func.value, _CALLED[called], ast.Load())}
    if called == "where":
        yield "operands exchanged", {"args": [node.args[0], node.args[2], node.args[1]]}
        yield "clamp or choice left out", node.args[1]
    if called in ("maximum", "minimum"):
        yield "clamp or choice left out", node.args[0]
    if called == "to" and isinstance(node.func, ast.Attribute):
        yield "cast left out", node.func.value
    if called in ("exp", "exp2", "sqrt", "rsqrt", "log", "log2", "abs", "sigmoid") and node.args:
        yield "function left out", node.args[0]
    if called == "cdiv":
        yield "tail dropped", ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
    if called == "zeros" and len(node.args) + len(node.keywords) > 1:
        narrow = ast.parse("tl.float16", mode="eval").body
        given = [*node.args[:1], narrow] if node.args else []
        if given and "float32" in ast.unparse(node):
            yield "narrow accumulator", {"args": given, "keywords": []}
    for keyword in node.keywords if called == "load" else ():
        if keyword.arg == "other":
            fill = 1.0 if ast.unparse(keyword.value) in ("0", "0.0") else 0.0
            others = [one for one in node.keywords if one is not keyword]
            yield "fill", {"keywords": [*others, ast.keyword("other", ast.Constant(fill))]}


def _of_loop(node: ast.AST) -> _Ways:
    """Mutations of loops, and of what loops carry."""
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
        called = ast.unparse(node.iter.func)
        bounds = node.iter.args
        if called.endswith("range") and len(bounds) == 3:
            short = ast.BinOp(bounds[1], ast.Sub(), bounds[2])
            yield "tail dropped", {"iter": ast.Call(node.iter.func, [bounds[0], short, bounds[2]], node.iter.keywords)}
        elif called.endswith("range") and bounds:
            short = ast.BinOp(bounds[-1], ast.Sub(), ast.Constant(1))
            yield "tail dropped", {"iter": ast.Call(node.iter.func, [*bounds[:-1], short], node.iter.keywords)}
    elif isinstance(node, ast.AugAssign):
        yield "update left out", ast.Pass()
        if isinstance(node.op, ast.Add):
            yield "overwritten", ast.Assign([node.target], node.value)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.BinOp):
        name, value = node.targets[0].id, node.value
        if isinstance(value.op, ast.Add) and isinstance(value.left, ast.BinOp) and _is_of(value.left, name):
            unscaled = value.left.left if _is_name(value.left.left, name) else value.left.right
            yield "rescale left out", {"value": ast.BinOp(unscaled, value.op, value.right)}
        elif isinstance(value.op, ast.Mult) and _is_of(value, name):
            yield "rescale left out", {"value": ast.Name(name, ast.Load())}
        elif isinstance(value.op, ast.Add) and (_is_name(value.left, name) or _is_name(value.right, name)):
            yield "overwritten", {"value": value.right if _is_name(value.left, name) else value.left}


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_of(product: ast.BinOp, name: str) -> bool:
    return isinstance(product.op, ast.Mult) and (_is_name(product.left, name) or _is_name(product.right, name))


def applied(kernel: Any, mutation: Mutation) -> Any:
    """The mutated kernel; its lines are those of its own text."""
    return compiled(kernel, ast.unparse(mutation.tree))


def lines_of(mutation: Mutation, source: str) -> set[int]:
    """The lines of the unparsed text that differ from the original's.

    Of a statement that was left out also those that use what it would have changed, as it may stand there.
    """
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutation.tree))
    found = {k + 1 for k, (one, other) in enumerate(zip(before, after, strict=True)) if one != other}
    named = [node for node in ast.walk(ast.parse("\n".join(after))) if isinstance(node, ast.Name)]
    return found | {node.lineno for node in named if mutation.gone and node.id == mutation.gone}
